//! Random instances of the kinds on which the published choice was found not
//! to be the best.

use fastrand::Rng;
use murphy_hitting::Set;

use super::super::two_stage::Hardening;

/// A kind of instance.
pub(super) enum Family {
    /// Faults of one to four APIs, anywhere.
    Random {
        apis: usize,
        hard: usize,
        soft: usize,
    },
    /// Requests with groups of paths; a fault is a bone of each group. Bones
    /// are APIs that requests share.
    Skeleton {
        requests: usize,
        groups: usize,
        bones: usize,
    },
    /// Requests over replicas; a fault is an API.
    Replicas { requests: usize, apis: usize },
}

/// The kinds that are compared.
pub(super) const FAMILIES: [(&str, Family); 5] = [
    (
        "random, 14 APIs, 5 hard, 25 soft",
        Family::Random {
            apis: 14,
            hard: 5,
            soft: 25,
        },
    ),
    (
        "random, 20 APIs, 8 hard, 40 soft",
        Family::Random {
            apis: 20,
            hard: 8,
            soft: 40,
        },
    ),
    (
        "skeleton, 6 requests, 2 groups x 3",
        Family::Skeleton {
            requests: 6,
            groups: 2,
            bones: 3,
        },
    ),
    (
        "skeleton, 8 requests, 3 groups x 3",
        Family::Skeleton {
            requests: 8,
            groups: 3,
            bones: 3,
        },
    ),
    (
        "replicas, 5 requests, 25 APIs",
        Family::Replicas {
            requests: 5,
            apis: 25,
        },
    ),
];

impl Family {
    /// One instance, with a budget that does and up to four APIs more.
    pub(super) fn draw(&self, rng: &mut Rng) -> Hardening {
        let (hard, soft) = match *self {
            Family::Random { apis, hard, soft } => {
                let fault = |rng: &mut Rng| subset(apis, rng.usize(1..=4), rng);
                (
                    (0..hard).map(|_| fault(rng)).collect(),
                    (0..soft).map(|_| fault(rng)).collect(),
                )
            }
            Family::Skeleton {
                requests,
                groups,
                bones,
            } => {
                // Half as many APIs as would do without sharing.
                let apis = requests * groups * bones / 2;
                split(requests, |_| skeleton_faults(apis, groups, bones, rng))
            }
            Family::Replicas { requests, apis } => split(requests, |_| {
                unit_faults(&subset(apis, rng.usize(4..=apis / 2), rng))
            }),
        };
        let mut hardening = Hardening {
            hard,
            soft,
            budget: 0,
        };
        let smallest = hardening
            .cover()
            .best(0)
            .map_or_else(|error| error.smallest, |_| 0);
        hardening.budget = smallest + rng.usize(0..=4);
        hardening
    }
}

/// Some of the numbers below `of`.
pub(super) fn subset(of: usize, size: usize, rng: &mut Rng) -> Set {
    rng.choose_multiple(0..of, size).into_iter().collect()
}

/// The faults of the first request are hard, those of the others soft.
fn split(requests: usize, faults: impl FnMut(usize) -> Vec<Set>) -> (Vec<Set>, Vec<Set>) {
    let mut requests = (0..requests).map(faults);
    let hard = requests.next().unwrap_or_default();
    (hard, requests.flatten().collect())
}

fn unit_faults(apis: &Set) -> Vec<Set> {
    apis.iter().map(|api| Set::from_iter([api])).collect()
}

fn skeleton_faults(apis: usize, groups: usize, bones: usize, rng: &mut Rng) -> Vec<Set> {
    let own = rng.choose_multiple(0..apis, groups * bones);
    own.chunks(bones).fold(vec![Set::new()], |faults, group| {
        let with = |fault: &Set, bone: usize| fault.iter().chain([bone]).collect::<Set>();
        faults
            .iter()
            .flat_map(|fault| group.iter().map(move |bone| with(fault, *bone)))
            .collect()
    })
}
