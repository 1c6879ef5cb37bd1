//! Which replica is called next.
//!
//! Owns all that a caller of replicas carries from one request to the next:
//! its luck and its place in each ring. What follows from a call that fails is
//! the caller's job.

use std::sync::{Mutex, MutexGuard};

/// How a replica is chosen among those that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The first one.
    Priority,
    /// Any of them.
    Random,
    /// The one after the last one called, by whichever request.
    RoundRobin,
}

impl Choice {
    pub(super) const WORDS: &[&str] = &["priority", "random", "round-robin"];

    /// The choice of this name.
    pub(super) fn named(word: &str) -> Self {
        match word {
            "priority" => Choice::Priority,
            "random" => Choice::Random,
            "round-robin" => Choice::RoundRobin,
            other => unreachable!("`{other}` is none of the declared words"),
        }
    }
}

/// Chooses replicas for all requests of one system.
pub(super) struct Balancer {
    choice: Choice,
    replicas: usize,
    memory: Mutex<Memory>,
}

struct Memory {
    luck: fastrand::Rng,
    /// The replica whose turn it is, API by API.
    turns: Vec<usize>,
}

impl Balancer {
    /// A balancer over so many APIs of so many replicas each. The same seed
    /// brings the same luck.
    pub(super) fn new(choice: Choice, apis: usize, replicas: usize, seed: u64) -> Self {
        Balancer {
            choice,
            replicas,
            memory: Mutex::new(Memory {
                luck: fastrand::Rng::with_seed(seed),
                turns: vec![0; apis],
            }),
        }
    }

    /// One of the replicas of an API that are left, which are at least one and
    /// in order.
    pub(super) fn pick(&self, api: usize, left: &[usize]) -> usize {
        match self.choice {
            Choice::Priority => left[0],
            Choice::Random => left[self.memory().luck.usize(..left.len())],
            Choice::RoundRobin => self.in_turn(api, left),
        }
    }

    fn in_turn(&self, api: usize, left: &[usize]) -> usize {
        let mut memory = self.memory();
        let turn = &mut memory.turns[api];
        let next = left.iter().find(|replica| **replica >= *turn);
        let next = *next.unwrap_or(&left[0]);
        *turn = (next + 1) % self.replicas;
        next
    }

    /// A whole number that is `tenths / 10` on average: the fraction is the
    /// chance of one more.
    pub(super) fn about(&self, tenths: u32) -> u32 {
        match tenths % 10 {
            0 => tenths / 10,
            chance => tenths / 10 + u32::from(self.memory().luck.u32(..10) < chance),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("no panic while choosing")
    }
}

#[cfg(test)]
mod tests {
    use super::{Balancer, Choice};

    fn picks(choice: Choice, seed: u64, left: &[usize], count: usize) -> Vec<usize> {
        let balancer = Balancer::new(choice, 1, 3, seed);
        (0..count).map(|_| balancer.pick(0, left)).collect()
    }

    #[test]
    fn by_priority_it_is_always_the_first_that_is_left() {
        assert_eq!(picks(Choice::Priority, 0, &[0, 1, 2], 3), [0, 0, 0]);
        assert_eq!(picks(Choice::Priority, 0, &[1, 2], 3), [1, 1, 1]);
    }

    #[test]
    fn in_turn_it_goes_round_and_skips_those_that_are_not_left() {
        assert_eq!(picks(Choice::RoundRobin, 0, &[0, 1, 2], 5), [0, 1, 2, 0, 1]);
        assert_eq!(picks(Choice::RoundRobin, 0, &[0, 2], 4), [0, 2, 0, 2]);
    }

    #[test]
    fn every_api_has_a_ring_of_its_own() {
        let balancer = Balancer::new(Choice::RoundRobin, 2, 2, 0);
        let picked = [0, 0, 1, 0].map(|api| balancer.pick(api, &[0, 1]));
        assert_eq!(picked, [0, 1, 0, 0]);
    }

    #[test]
    fn at_random_all_come_up_and_the_seed_decides_in_which_order() {
        let drawn = picks(Choice::Random, 7, &[0, 1, 2], 60);
        assert!((0..3).all(|replica| drawn.contains(&replica)));
        assert_eq!(drawn, picks(Choice::Random, 7, &[0, 1, 2], 60));
        assert_ne!(drawn, picks(Choice::Random, 8, &[0, 1, 2], 60));
    }

    #[test]
    fn a_fraction_is_the_chance_of_one_more() {
        let balancer = Balancer::new(Choice::Priority, 1, 1, 0);
        assert!((0..100).all(|_| balancer.about(20) == 2));
        let drawn: Vec<u32> = (0..1_000).map(|_| balancer.about(13)).collect();
        assert!(drawn.iter().all(|calls| [1, 2].contains(calls)));
        let sum: u32 = drawn.iter().sum();
        assert!((1_250..1_350).contains(&sum), "{sum}");
    }
}
