//! Looks for sets of faults that nothing seen so far rules out.
//!
//! Owns a bounded depth-first search. It branches on a clause that is not hit
//! yet, the one with the fewest ways to hit it, so every set that meets all
//! clauses is reached through the ways it hits them; elements tried in one
//! branch are left out of the later ones. Clauses that bind only sets with
//! certain faults join in when these are there.

use murphy_hitting::Set;

use super::elements::Elements;
use super::evidence::Clause;

/// Nodes after which a search gives up proving that there is nothing more.
const MOST_NODES: usize = 3_000_000;

/// What to look for.
pub(super) struct Finder<'f> {
    pub(super) elements: &'f Elements,
    pub(super) clauses: &'f [Clause],
    /// No set that holds one of these.
    pub(super) avoid: &'f [Set],
    /// Of each of these labels a spot must be left to go well.
    pub(super) alive: Option<&'f Set>,
    pub(super) most_faults: usize,
}

pub(super) struct Found {
    pub(super) sets: Vec<Set>,
    /// Whether there are no others.
    pub(super) is_all: bool,
}

/// A search under way.
struct Search<'s, 'f> {
    finder: &'s Finder<'f>,
    /// The clauses without conditions, and those with.
    always: Vec<&'f Set>,
    bound: Vec<&'f Clause>,
    /// For each element the clauses, without conditions, that it hits.
    hits: Vec<Set>,
    /// For each element the sets to avoid that hold it.
    holders: Vec<Vec<usize>>,
    /// How many elements of each set to avoid are not chosen.
    missing: Vec<usize>,
    chosen: Set,
    /// How many more spots of each label may be chosen.
    label_room: Vec<usize>,
    label_ways: Vec<Set>,
    rng: Option<fastrand::Rng>,
    found: Vec<Set>,
    most_found: usize,
    nodes: usize,
}

impl Finder<'_> {
    /// Up to `most` sets, in a fixed order.
    pub(super) fn find(&self, most: usize) -> Found {
        self.search(most, None)
    }

    /// Up to `most` sets, spread by chance: several searches that try elements
    /// in different orders. `is_all` holds if the first of them saw everything.
    pub(super) fn sample(&self, most: usize, rng: &mut fastrand::Rng) -> Found {
        const SPREAD: usize = 16;
        let mut found = self.search(most, Some(rng.fork()));
        if found.is_all || found.sets.is_empty() {
            return found;
        }
        let each = most.div_ceil(SPREAD);
        found.sets.truncate(each);
        for _ in 1..SPREAD {
            let more = self.search(each, Some(rng.fork()));
            found.sets.extend(more.sets);
        }
        found.sets.sort();
        found.sets.dedup();
        found
    }

    fn search(&self, most_found: usize, rng: Option<fastrand::Rng>) -> Found {
        let mut search = Search::new(self, most_found, rng);
        let unhit = (0..search.always.len()).collect();
        let free = search.free_at_first();
        let is_all = search.visit(&unhit, &free);
        Found {
            sets: search.found,
            is_all,
        }
    }

    /// Whether nothing rules out a set, nor shows it to fail.
    pub(super) fn is_open(&self, set: &Set) -> bool {
        !self.avoid.iter().any(|avoid| avoid.is_subset(set)) && self.satisfies(set)
    }

    /// Whether a set meets every clause that binds it.
    fn satisfies(&self, set: &Set) -> bool {
        self.clauses.iter().all(|clause| clause.is_met_by(set))
    }

    /// The set without what it does not need.
    fn minimised(&self, mut set: Set) -> Set {
        let mut elements: Vec<usize> = set.iter().collect();
        elements.reverse();
        for element in elements {
            set.remove(element);
            if !self.satisfies(&set) {
                set.insert(element);
            }
        }
        set
    }
}

impl<'s, 'f> Search<'s, 'f> {
    fn new(finder: &'s Finder<'f>, most_found: usize, rng: Option<fastrand::Rng>) -> Self {
        let elements = finder.elements;
        let clauses = finder.clauses.iter();
        let (always, bound): (Vec<_>, Vec<_>) = clauses.partition(|c| c.given.is_empty());
        let always: Vec<&Set> = always.into_iter().map(|clause| &clause.any_of).collect();
        let mut hits = vec![Set::new(); elements.len()];
        for (at, any_of) in always.iter().enumerate() {
            for element in any_of.iter() {
                hits[element].insert(at);
            }
        }
        let mut holders = vec![Vec::new(); elements.len()];
        for (at, avoid) in finder.avoid.iter().enumerate() {
            for element in avoid.iter() {
                holders[element].push(at);
            }
        }
        let room = |label: usize| match finder.alive {
            Some(alive) if alive.contains(label) => elements.members(label).len() - 1,
            _ => usize::MAX,
        };
        let ways_of = |label: usize| {
            let members = elements.members(label).iter();
            members.fold(Set::new(), |mut all, spot| {
                all.add(elements.ways(*spot));
                all
            })
        };
        Search {
            finder,
            always,
            bound,
            hits,
            holders,
            missing: finder.avoid.iter().map(Set::len).collect(),
            chosen: Set::new(),
            label_room: elements.labels().map(room).collect(),
            label_ways: elements.labels().map(ways_of).collect(),
            rng,
            found: Vec::new(),
            most_found,
            nodes: 0,
        }
    }

    /// What may be chosen when nothing is yet.
    fn free_at_first(&self) -> Set {
        let mut free: Set = (0..self.hits.len()).collect();
        for (label, room) in self.label_room.iter().enumerate() {
            if *room == 0 {
                free.subtract(&self.label_ways[label]);
            }
        }
        for avoid in self.finder.avoid {
            if avoid.len() == 1 {
                free.subtract(avoid);
            }
        }
        free
    }

    /// Looks for sets that hold what is chosen and more of what is free. Says
    /// whether it saw all of them.
    fn visit(&mut self, unhit: &Set, free: &Set) -> bool {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return false;
        }
        let Some(narrowest) = self.narrowest(unhit, free) else {
            let set = self.finder.minimised(self.chosen.clone());
            if !self.found.contains(&set) {
                self.found.push(set);
            }
            return self.found.len() < self.most_found;
        };
        let room = self.finder.most_faults - self.chosen.len();
        if room == 0 || !self.can_hit(unhit, free, room) {
            return true;
        }
        let mut free = free.clone();
        for element in self.ordered(narrowest, &free, unhit) {
            free.remove(element);
            let mut rest = unhit.clone();
            rest.subtract(&self.hits[element]);
            let left = self.choose(element, &free);
            let all = self.visit(&rest, &left);
            self.take_back(element);
            if !all {
                return false;
            }
        }
        true
    }

    /// The clause that leaves the fewest ways to hit it; `None` if none is left
    /// to hit.
    fn narrowest(&self, unhit: &Set, free: &Set) -> Option<&'f Set> {
        let unhit = unhit.iter().map(|at| self.always[at]);
        let binds = |clause: &&&Clause| {
            clause.given.is_subset(&self.chosen) && !clause.any_of.meets(&self.chosen)
        };
        let bound = self.bound.iter().filter(binds).map(|clause| &clause.any_of);
        unhit.chain(bound).min_by_key(|any_of| any_of.shared(free))
    }

    /// Whether `room` more elements could hit all that is unhit, each hitting
    /// as much as the best ones do.
    fn can_hit(&self, unhit: &Set, free: &Set, room: usize) -> bool {
        let needed = unhit.len();
        if needed <= room {
            return true;
        }
        let mut best: Vec<usize> = free.iter().map(|e| self.hits[e].shared(unhit)).collect();
        if best.len() > room {
            best.select_nth_unstable_by(room, |a, b| b.cmp(a));
        }
        best.iter().take(room).sum::<usize>() >= needed
    }

    /// The ways to hit a clause: those that hit most first, or by chance.
    fn ordered(&mut self, any_of: &Set, free: &Set, unhit: &Set) -> Vec<usize> {
        let mut ways: Vec<usize> = any_of.iter().filter(|e| free.contains(*e)).collect();
        match &mut self.rng {
            Some(rng) => rng.shuffle(&mut ways),
            None => ways.sort_by_key(|e| std::cmp::Reverse(self.hits[*e].shared(unhit))),
        }
        ways
    }

    /// Chooses an element; gives what may still be chosen beside it.
    fn choose(&mut self, element: usize, free: &Set) -> Set {
        let elements = self.finder.elements;
        let spot = elements.spot_of(element);
        let label = elements.label(spot);
        let mut free = free.clone();
        free.subtract(elements.ways(spot));
        self.chosen.insert(element);
        self.label_room[label] -= 1;
        if self.label_room[label] == 0 {
            free.subtract(&self.label_ways[label]);
        }
        for at in &self.holders[element] {
            self.missing[*at] -= 1;
            if self.missing[*at] == 1 {
                let last = self.finder.avoid[*at].iter();
                let last = last.filter(|element| !self.chosen.contains(*element));
                for element in last {
                    free.remove(element);
                }
            }
        }
        free
    }

    fn take_back(&mut self, element: usize) {
        let elements = self.finder.elements;
        self.chosen.remove(element);
        self.label_room[elements.label(elements.spot_of(element))] += 1;
        for at in &self.holders[element] {
            self.missing[*at] += 1;
        }
    }
}
