//! Plans all rows that are still needed, instead of one after the other.
//!
//! Owns a local search against counterexamples: rows for which some candidate
//! is left are repaired for that candidate, until an exact search
//! ([`super::find`]) finds none. Fewer rows are tried while that works. A plan
//! only saves probes: what is ruled out is decided by what was seen, never by
//! what was planned.

use murphy_hitting::Set;

use super::elements::Elements;
use super::evidence::Clause;
use super::find::Finder;
use super::steer;
use super::steered::SAMPLE;

/// Rows beyond which planning is not worth its time.
const MOST_ROWS: usize = 64;

/// Repairs before a number of rows is given up.
const MOST_REPAIRS: usize = 2_500;

/// Exact searches before a number of rows is given up.
const MOST_CHECKS: usize = 60;

/// Counterexamples taken from one exact search.
const EXAMPLES: usize = 48;

/// Of a hundred repairs, how many go to a row chosen by chance.
const NOISE: u32 = 8;

/// What rows must be planned for.
pub(super) struct Planner<'p> {
    pub(super) elements: &'p Elements,
    pub(super) clauses: &'p [Clause],
    pub(super) avoid: &'p [Set],
    /// The labels of which each row leaves one spot alive.
    pub(super) alive: &'p Set,
    pub(super) most_faults: usize,
}

impl Planner<'_> {
    /// The fewest rows found that leave no candidate; `None` if it cannot be
    /// told in time. `pool` holds candidates known so far, as sets of spots.
    pub(super) fn plan(&self, mut pool: Vec<Set>, rng: &mut fastrand::Rng) -> Option<Vec<Set>> {
        let mut rows = Vec::new();
        while rows.len() < MOST_ROWS {
            let left = self.left_by(&rows, SAMPLE, rng)?;
            if left.is_empty() {
                return Some(self.improve(rows, pool, rng));
            }
            rows.push(steer::row(self.elements, self.alive, &left, rng)?);
            pool.extend(left);
        }
        None
    }

    /// The same with fewer rows, as long as that works.
    fn improve(&self, mut rows: Vec<Set>, mut pool: Vec<Set>, rng: &mut fastrand::Rng) -> Vec<Set> {
        while rows.len() > 1 {
            let mut fewer = rows.clone();
            fewer.swap_remove(rng.usize(..fewer.len()));
            match self.repair(fewer, &mut pool, rng) {
                Some(repaired) => rows = repaired,
                None => break,
            }
        }
        rows
    }

    /// Changes rows until they leave no candidate; `None` if that was not
    /// reached in time.
    fn repair(
        &self,
        rows: Vec<Set>,
        pool: &mut Vec<Set>,
        rng: &mut fastrand::Rng,
    ) -> Option<Vec<Set>> {
        let mut board = Board::new(self.elements, self.alive, rows);
        for candidate in pool.iter() {
            board.add(candidate.clone());
        }
        let mut repairs = 0;
        for _ in 0..MOST_CHECKS {
            while let Some(candidate) = board.any_left(rng) {
                repairs += 1;
                if repairs > MOST_REPAIRS {
                    return None;
                }
                board.repair(candidate, rng);
            }
            let examples = self.left_by(&board.rows(), EXAMPLES, rng)?;
            if examples.is_empty() {
                return Some(board.rows());
            }
            for example in examples {
                pool.push(example.clone());
                board.add(example);
            }
        }
        None
    }

    /// Up to `most` candidates that these rows would leave, as sets of spots;
    /// `None` if it could not be told.
    fn left_by(&self, rows: &[Set], most: usize, rng: &mut fastrand::Rng) -> Option<Vec<Set>> {
        let planned = rows.iter().map(|row| Clause::of_row(row, self.elements));
        let clauses: Vec<Clause> = self.clauses.iter().cloned().chain(planned).collect();
        let finder = Finder {
            elements: self.elements,
            clauses: &clauses,
            avoid: self.avoid,
            alive: Some(self.alive),
            most_faults: self.most_faults,
        };
        let found = finder.sample(most, rng);
        let known = !found.sets.is_empty() || found.is_all;
        let spots = found.sets.iter().map(|set| self.elements.spots_of(set));
        known.then(|| spots.collect())
    }
}

/// Rows against candidates, with what changes when one spot is exchanged.
struct Board<'b> {
    elements: &'b Elements,
    labels: Vec<usize>,
    /// The place of a label in `labels`.
    column: Vec<Option<usize>>,
    /// For each row the spot alive of each label.
    rows: Vec<Vec<usize>>,
    candidates: Vec<Set>,
    /// For each spot the candidates that hold it.
    holders: Vec<Vec<usize>>,
    /// For each row and candidate, how many spots of the candidate are alive.
    touched: Vec<Vec<u16>>,
    /// For each candidate how many rows rule it out.
    ruled_out: Vec<u16>,
    left: Vec<usize>,
    /// The place of a candidate in `left`.
    place: Vec<Option<usize>>,
}

impl<'b> Board<'b> {
    fn new(elements: &'b Elements, alive: &Set, rows: Vec<Set>) -> Self {
        let labels: Vec<usize> = alive.iter().collect();
        let mut column = vec![None; elements.labels().len()];
        for (at, label) in labels.iter().enumerate() {
            column[*label] = Some(at);
        }
        let spot_of = |row: &Set, label: &usize| {
            let mut members = elements.members(*label).iter();
            let alive = members.find(|spot| row.contains(**spot));
            *alive.expect("a row has a spot of every label")
        };
        let rows: Vec<Vec<usize>> = rows
            .iter()
            .map(|row| labels.iter().map(|label| spot_of(row, label)).collect())
            .collect();
        Board {
            elements,
            touched: vec![Vec::new(); rows.len()],
            labels,
            column,
            rows,
            candidates: Vec::new(),
            holders: vec![Vec::new(); elements.spots().len()],
            ruled_out: Vec::new(),
            left: Vec::new(),
            place: Vec::new(),
        }
    }

    fn rows(&self) -> Vec<Set> {
        let rows = self.rows.iter();
        rows.map(|row| row.iter().copied().collect()).collect()
    }

    fn add(&mut self, candidate: Set) {
        let at = self.candidates.len();
        let mut ruled_out = 0;
        for (row, touched) in self.rows.iter().zip(&mut self.touched) {
            let alive = row.iter().filter(|spot| candidate.contains(**spot)).count();
            touched.push(alive as u16);
            ruled_out += u16::from(alive == 0);
        }
        for spot in candidate.iter() {
            self.holders[spot].push(at);
        }
        self.candidates.push(candidate);
        self.ruled_out.push(ruled_out);
        self.place.push(None);
        if ruled_out == 0 {
            self.leave(at);
        }
    }

    fn any_left(&self, rng: &mut fastrand::Rng) -> Option<usize> {
        (!self.left.is_empty()).then(|| self.left[rng.usize(..self.left.len())])
    }

    /// Changes one row so that it rules the candidate out: the row that keeps
    /// ruling out most others.
    fn repair(&mut self, candidate: usize, rng: &mut fastrand::Rng) {
        let row = match rng.u32(..100) < NOISE {
            true => rng.usize(..self.rows.len()),
            false => self.cheapest(candidate, rng),
        };
        for (at, spot) in self.exchange(row, candidate, rng) {
            self.set(row, at, spot);
        }
    }

    /// The row whose change leaves the fewest candidates.
    fn cheapest(&mut self, candidate: usize, rng: &mut fastrand::Rng) -> usize {
        let start = rng.usize(..self.rows.len());
        let mut best = (usize::MAX, start);
        for offset in 0..self.rows.len() {
            let row = (start + offset) % self.rows.len();
            let before = self.rows[row].clone();
            for (at, spot) in self.exchange(row, candidate, rng) {
                self.set(row, at, spot);
            }
            best = best.min((self.left.len(), row));
            for (at, spot) in before.into_iter().enumerate() {
                self.set(row, at, spot);
            }
        }
        best.1
    }

    /// The spots to exchange in a row so that it does not touch the candidate.
    fn exchange(
        &self,
        row: usize,
        candidate: usize,
        rng: &mut fastrand::Rng,
    ) -> Vec<(usize, usize)> {
        let candidate = &self.candidates[candidate];
        let touched = candidate.iter().filter_map(|spot| {
            let at = self.column[self.elements.label(spot)]?;
            (self.rows[row][at] == spot).then_some(at)
        });
        let other = |at: usize| {
            let members = self.elements.members(self.labels[at]);
            let free: Vec<usize> = members
                .iter()
                .copied()
                .filter(|spot| !candidate.contains(*spot))
                .collect();
            (at, free[rng.usize(..free.len())])
        };
        touched.map(other).collect()
    }

    fn set(&mut self, row: usize, at: usize, spot: usize) {
        let before = std::mem::replace(&mut self.rows[row][at], spot);
        if before == spot {
            return;
        }
        for at in 0..self.holders[before].len() {
            let candidate = self.holders[before][at];
            self.touched[row][candidate] -= 1;
            if self.touched[row][candidate] == 0 {
                self.ruled_out[candidate] += 1;
                if self.ruled_out[candidate] == 1 {
                    self.remove(candidate);
                }
            }
        }
        for at in 0..self.holders[spot].len() {
            let candidate = self.holders[spot][at];
            if self.touched[row][candidate] == 0 {
                self.ruled_out[candidate] -= 1;
                if self.ruled_out[candidate] == 0 {
                    self.leave(candidate);
                }
            }
            self.touched[row][candidate] += 1;
        }
    }

    fn leave(&mut self, candidate: usize) {
        self.place[candidate] = Some(self.left.len());
        self.left.push(candidate);
    }

    fn remove(&mut self, candidate: usize) {
        let place = self.place[candidate].take().expect("it was left");
        self.left.swap_remove(place);
        if let Some(moved) = self.left.get(place) {
            self.place[*moved] = Some(place);
        }
    }
}
