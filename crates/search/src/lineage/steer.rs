//! Chooses what to leave alive, so that what survives rules out the most.
//!
//! Owns the choice of a *row*: one spot for each label that a success needs.
//! Faults are injected everywhere else. If the execution succeeds it went through
//! the row, and every candidate that leaves the row alone is ruled out.

use murphy_hitting::Set;

use super::elements::Elements;

/// Climbs begun from different rows.
const RESTARTS: usize = 12;

/// The spots to leave alive, one for each label, by coordinate ascent: which
/// rows rule out the most of `candidates`, given as sets of spots. `None` if
/// none rules out any.
pub(super) fn row(
    elements: &Elements,
    labels: &Set,
    candidates: &[Set],
    rng: &mut fastrand::Rng,
) -> Option<Set> {
    let climb = |_| Climb::new(elements, labels, candidates, rng).run(rng);
    let best = (0..RESTARTS).map(climb).max_by_key(|(score, _)| *score);
    let (score, row) = best?;
    (score > 0).then_some(row)
}

struct Climb<'c> {
    elements: &'c Elements,
    labels: Vec<usize>,
    /// The spot left alive of each label.
    alive: Vec<usize>,
    /// How many spots of each candidate are alive; 0: it is ruled out.
    touched: Vec<u32>,
    /// The candidates that each spot is in.
    holders: Vec<Vec<usize>>,
}

impl<'c> Climb<'c> {
    fn new(
        elements: &'c Elements,
        labels: &Set,
        candidates: &[Set],
        rng: &mut fastrand::Rng,
    ) -> Self {
        let labels: Vec<usize> = labels.iter().collect();
        let mut holders = vec![Vec::new(); elements.spots().len()];
        for (at, candidate) in candidates.iter().enumerate() {
            for spot in candidate.iter() {
                holders[spot].push(at);
            }
        }
        let pick = |label: &usize| {
            let members = elements.members(*label);
            members[rng.usize(..members.len())]
        };
        let alive: Vec<usize> = labels.iter().map(pick).collect();
        let mut climb = Climb {
            elements,
            labels,
            alive: alive.clone(),
            touched: vec![0; candidates.len()],
            holders,
        };
        for spot in alive {
            climb.touch(spot);
        }
        climb
    }

    fn run(mut self, rng: &mut fastrand::Rng) -> (usize, Set) {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        loop {
            rng.shuffle(&mut order);
            let improved = order.iter().filter(|at| self.improve(**at)).count();
            if improved == 0 {
                break;
            }
        }
        let score = self.touched.iter().filter(|touched| **touched == 0).count();
        (score, self.alive.into_iter().collect())
    }

    /// Takes the best spot for one label; says whether that is a better one.
    fn improve(&mut self, at: usize) -> bool {
        let now = self.alive[at];
        self.untouch(now);
        // What a spot costs: the candidates it alone would keep.
        let keeps = |spot: &usize| {
            let holders = self.holders[*spot].iter();
            holders.filter(|c| self.touched[**c] == 0).count()
        };
        let members = self.elements.members(self.labels[at]);
        let cost = keeps(&now);
        let (least, best) = members
            .iter()
            .map(|spot| (keeps(spot), *spot))
            .min()
            .expect("a label has spots");
        let better = least < cost;
        let chosen = if better { best } else { now };
        self.alive[at] = chosen;
        self.touch(chosen);
        better
    }

    fn touch(&mut self, spot: usize) {
        for candidate in &self.holders[spot] {
            self.touched[*candidate] += 1;
        }
    }

    fn untouch(&mut self, spot: usize) {
        for candidate in &self.holders[spot] {
            self.touched[*candidate] -= 1;
        }
    }
}
