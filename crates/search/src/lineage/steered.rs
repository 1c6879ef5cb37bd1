//! Which probe comes next: one such that whatever survives rules out as many
//! candidates as possible; sizes grow only when needed.
//!
//! Owns the order of probes.
//!
//! 1. Faults are injected everywhere but for one spot of every set that is known
//!    to fail. If that succeeds, it did so by calls not seen before; if it
//!    fails, what was injected is as a rule a minimal set, which had to be run
//!    anyway.
//! 2. Size by size: a candidate that leaves of every needed label a spot alive
//!    is expected to succeed, and is ruled out by a *row* ([`super::steer`],
//!    [`super::plan`]) together with as many others as one row can. The rest
//!    is expected to fail and is run as it is.

use murphy_hitting::Set;

use super::Decision;
use super::evidence::{Clause, Evidence};
use super::find::{Finder, Found};
use super::plan::Planner;
use super::steer;

/// Candidates looked at when a row is chosen.
pub(super) const SAMPLE: usize = 512;

/// Sets expected to fail that are looked for at once.
const AHEAD: usize = 512;

/// How many of them may be run ahead of their turn.
const LIKELY: usize = 32;

/// Ways to succeed that are tried for a row.
const MOST_WAYS: usize = 8;

pub(super) struct Steered {
    most_faults: usize,
    /// The size that is being settled.
    size: usize,
    /// Whether making everything fail still tells something.
    is_discovering: bool,
    /// The spots and exhausted labels known when that was last tried.
    discovered: Option<(usize, usize)>,
    rng: fastrand::Rng,
    plan: Option<Plan>,
    /// Sets expected to fail, the next one last, and the spots known when
    /// they were found.
    expected: Vec<Set>,
    spots_then: usize,
    /// Whether a proof was given up for its size.
    gave_up: bool,
}

/// Rows that together rule out every candidate, as long as all goes as
/// expected.
struct Plan {
    rows: Vec<Set>,
    /// The spots known when it was made.
    spots: usize,
    alive: Set,
    failures: usize,
}

/// What is known when a probe is chosen.
struct Known<'k> {
    evidence: &'k Evidence,
    clauses: &'k [Clause],
    avoid: Vec<Set>,
}

impl Known<'_> {
    fn finder<'f>(&'f self, alive: Option<&'f Set>, most_faults: usize) -> Finder<'f> {
        Finder {
            elements: &self.evidence.elements,
            clauses: self.clauses,
            avoid: &self.avoid,
            alive,
            most_faults,
        }
    }

    /// Everything failing in its first way, except what is spared, a spot of
    /// every set known to fail, and what leads there.
    fn all_but(&self, mut spared: Set) -> Set {
        self.spare_failures(&mut spared);
        self.spare_callers(&mut spared);
        let elements = &self.evidence.elements;
        let failing = elements.spots().filter(|spot| !spared.contains(*spot));
        failing.map(|spot| elements.first_way(spot)).collect()
    }

    /// Spares a spot of every set known to fail that has none spared.
    fn spare_failures(&self, spared: &mut Set) {
        for fails in &self.avoid {
            let spots = self.evidence.elements.spots_of(fails);
            if !spots.meets(spared) {
                spared.extend(spots.first());
            }
        }
    }

    /// Spares what leads to what is spared.
    fn spare_callers(&self, spared: &mut Set) {
        let (elements, catalogue) = (&self.evidence.elements, &self.evidence.catalogue);
        let above = |spot: usize| catalogue.entry(elements.point(spot)).ancestors.iter();
        let callers = spared.iter().flat_map(above);
        let callers: Set = callers.filter_map(|point| elements.spot(*point)).collect();
        spared.add(&callers);
    }

    fn spots_of(&self, found: &Found) -> Vec<Set> {
        let elements = &self.evidence.elements;
        let sets = found.sets.iter();
        sets.map(|set| elements.spots_of(set)).collect()
    }
}

impl Steered {
    pub(super) fn new(most_faults: Option<usize>) -> Self {
        Steered {
            most_faults: most_faults.unwrap_or(usize::MAX),
            size: 1,
            is_discovering: true,
            discovered: None,
            // The choice of probes changes how many are needed, not what is
            // found: it need not be the user's to choose.
            rng: fastrand::Rng::with_seed(1),
            plan: None,
            expected: Vec::new(),
            spots_then: 0,
            gave_up: false,
        }
    }

    /// A probe that leaves of some labels no spot known: it succeeds by spots
    /// not seen before, or shows that a label has no others.
    fn discover(&mut self, known: &Known) -> Option<Set> {
        let evidence = known.evidence;
        let seen = (evidence.elements.spots().len(), evidence.exhausted().len());
        let is_news = self.discovered.replace(seen) != Some(seen);
        if !self.is_discovering || !is_news || evidence.contradictions() > 0 {
            self.is_discovering = false;
            return None;
        }
        let alive = evidence.alive().into_iter().next()?;
        let mut settled = alive.clone();
        settled.subtract(&self.open(evidence, alive));
        let mut spared = Set::new();
        if settled != *alive && !settled.is_empty() {
            let finder = known.finder(Some(alive), self.most_faults);
            let candidates = known.spots_of(&finder.sample(SAMPLE, &mut self.rng));
            let row = steer::row(&evidence.elements, &settled, &candidates, &mut self.rng);
            spared = row.unwrap_or_default();
        }
        let probe = known.all_but(spared);
        self.is_discovering = settled != *alive && !evidence.was_run(&probe);
        self.is_discovering.then_some(probe)
    }

    /// The labels that may have more spots than are known: replicas come in
    /// equal numbers as a rule.
    fn open(&self, evidence: &Evidence, alive: &Set) -> Set {
        let elements = &evidence.elements;
        let size = |label: usize| elements.members(label).len();
        let exhausted = evidence.exhausted();
        let usual = exhausted.iter().map(size).max();
        let is_open = |label: &usize| {
            !exhausted.contains(*label) && usual.is_none_or(|usual| size(*label) < usual)
        };
        alive.iter().filter(is_open).collect()
    }

    /// A probe expected to succeed, for candidates of the present size.
    fn steer(&mut self, known: &Known) -> Option<Set> {
        for alive in known.evidence.alive().into_iter().take(MOST_WAYS) {
            let finder = known.finder(Some(alive), self.size);
            let mut found = finder.sample(SAMPLE, &mut self.rng);
            if found.sets.is_empty() {
                continue;
            }
            if self.size < self.most_faults && self.most_faults != usize::MAX {
                let larger = known.finder(Some(alive), self.most_faults);
                found.sets.extend(larger.sample(SAMPLE, &mut self.rng).sets);
            }
            let first = found.sets[0].clone();
            let row = self.row(known, alive, &known.spots_of(&found));
            return Some(row.unwrap_or(first));
        }
        None
    }

    fn row(&mut self, known: &Known, alive: &Set, candidates: &[Set]) -> Option<Set> {
        let elements = &known.evidence.elements;
        let row = match self.planned(known, alive, candidates) {
            Some(row) => row,
            None => steer::row(elements, alive, candidates, &mut self.rng)?,
        };
        let rules_out = candidates.iter().any(|candidate| !candidate.meets(&row));
        let probe = known.all_but(row);
        (rules_out && !known.evidence.was_run(&probe)).then_some(probe)
    }

    /// The next row of the plan, made anew if something came in between.
    fn planned(&mut self, known: &Known, alive: &Set, candidates: &[Set]) -> Option<Set> {
        if self.most_faults == usize::MAX {
            return None;
        }
        let spots = known.evidence.elements.spots().len();
        let failures = known.avoid.len();
        let holds = |plan: &&mut Plan| {
            plan.spots == spots && plan.alive == *alive && plan.failures == failures
        };
        if self.plan.as_mut().filter(holds).is_none() {
            let planner = Planner {
                elements: &known.evidence.elements,
                clauses: known.clauses,
                avoid: &known.avoid,
                alive,
                most_faults: self.most_faults,
            };
            let rows = planner.plan(candidates.to_vec(), &mut self.rng)?;
            self.plan = Some(Plan {
                rows,
                spots,
                alive: alive.clone(),
                failures,
            });
        }
        let plan = self.plan.as_mut()?;
        if plan.rows.is_empty() {
            self.plan = None;
            return None;
        }
        // The row that rules out the most comes first, in case the rest is
        // never needed.
        let gain = |row: &Set| candidates.iter().filter(|c| !c.meets(row)).count();
        let (at, _) = plan
            .rows
            .iter()
            .enumerate()
            .max_by_key(|(at, row)| (gain(row), std::cmp::Reverse(*at)))?;
        Some(plan.rows.swap_remove(at))
    }

    /// The next of the sets found earlier that are expected to fail, if
    /// nothing seen since rules it out. New spots put an end to it: there may
    /// be rows again that rule out many.
    fn expected_failure(&mut self, known: &Known) -> Option<Decision> {
        let spots = known.evidence.elements.spots().len();
        if std::mem::replace(&mut self.spots_then, spots) != spots {
            self.expected.clear();
        }
        let finder = known.finder(None, usize::MAX);
        while let Some(set) = self.expected.pop() {
            if finder.is_open(&set) {
                let likely = self.expected.iter().rev().take(LIKELY);
                return Some(Decision {
                    probe: set,
                    likely: likely.cloned().collect(),
                });
            }
        }
        None
    }

    /// The next probe; `None` if there is nothing left to try.
    pub(super) fn decide(&mut self, evidence: &Evidence) -> Option<Decision> {
        let known = Known {
            evidence,
            clauses: evidence.clauses(),
            avoid: evidence.settled(),
        };
        if let Some(probe) = self.discover(&known) {
            return Some(Decision::probe(probe));
        }
        if let Some(decision) = self.expected_failure(&known) {
            return Some(decision);
        }
        let most = self.most_faults.min(evidence.elements.spots().len());
        while self.size <= most {
            if let Some(probe) = self.steer(&known) {
                return Some(Decision::probe(probe));
            }
            let found = known.finder(None, self.size).find(AHEAD);
            if !found.sets.is_empty() {
                self.spots_then = evidence.elements.spots().len();
                self.expected = found.sets;
                self.expected.reverse();
                return self.expected_failure(&known);
            }
            let rest = known.finder(None, most).find(1);
            let is_proved = rest.sets.is_empty() && rest.is_all;
            self.gave_up = !is_proved && !found.is_all;
            if is_proved {
                break;
            }
            self.size += 1;
        }
        None
    }

    /// Whether a proof was given up because it took too long.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up
    }
}
