//! The formulas that solvers are timed on.
//!
//! Owns the list: the paper's 54 skeleton configurations, three of its
//! requests by the replica model, and clauses that share nothing.

use fastrand::Rng;

use super::families::Clauses;
use super::replicas::Replicas;
use super::skeleton::Skeleton;

/// A formula and how large its sets may be.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub kind: Kind,
    /// The clauses, in the order in which algorithm 1 reads them.
    pub clauses: Clauses,
    /// The largest size asked for.
    pub most: Option<usize>,
}

/// Where an instance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// FastFI's simulated benchmark.
    Skeleton,
    /// The paths at the end of a search over replicas.
    Replicas,
    /// Clauses that share nothing.
    Disjoint,
}

/// All of them.
pub fn all() -> Vec<Instance> {
    let skeletons = Skeleton::all().map(skeleton);
    let disjoint = [10, 20, 30].map(disjoint);
    skeletons.chain(replicas()).chain(disjoint).collect()
}

fn skeleton(skeleton: Skeleton) -> Instance {
    let Skeleton {
        edges,
        groups,
        bones,
    } = skeleton;
    let mut clauses = skeleton.paths();
    // Algorithm 1 hangs on the order: bones last suits it, bones first does not.
    let mut rng = Rng::with_seed(1);
    clauses.iter_mut().for_each(|clause| rng.shuffle(clause));
    Instance {
        name: format!("skeleton E={edges} G={groups} B={bones}"),
        kind: Kind::Skeleton,
        clauses,
        most: Some(groups),
    }
}

/// The name of the request OB-6 POST /checkout.
pub const CHECKOUT: &str = "OB-6 /checkout";
/// The name of the request TT-3 POST /left.
pub const LEFT: &str = "TT-3 /left";
/// The name of the request TT-3 POST /cheapest.
pub const CHEAPEST: &str = "TT-3 /cheapest";

/// A request, its sizes as published, and how many paths a search over it
/// ended with in the study that set the bars. `calls` and the seed are chosen
/// so that it ends with as many here.
struct Request {
    name: &'static str,
    replicas: Replicas,
    seed: u64,
    paths: usize,
    mosts: &'static [usize],
}

const REQUESTS: [Request; 3] = [
    Request {
        name: LEFT,
        replicas: Replicas {
            apis: 15,
            replicas: 3,
            calls: 3.1,
        },
        seed: 6,
        paths: 226,
        mosts: &[3, 4],
    },
    Request {
        name: CHEAPEST,
        replicas: Replicas {
            apis: 19,
            replicas: 3,
            calls: 5.0,
        },
        seed: 43,
        paths: 1_335,
        mosts: &[3],
    },
    Request {
        name: CHECKOUT,
        replicas: Replicas {
            apis: 12,
            replicas: 6,
            calls: 1.7,
        },
        seed: 10,
        paths: 92,
        mosts: &[6, 7],
    },
];

fn replicas() -> impl Iterator<Item = Instance> {
    REQUESTS.iter().flat_map(|request| {
        let paths = request.replicas.explored(request.seed);
        assert_eq!(
            paths.len(),
            request.paths,
            "the seed of {} is stale",
            request.name
        );
        let clauses: Clauses = paths.iter().map(|path| path.iter().collect()).collect();
        request.mosts.iter().map(move |most| Instance {
            name: format!("{}, k={most}", request.name),
            kind: Kind::Replicas,
            clauses: clauses.clone(),
            most: Some(*most),
        })
    })
}

/// Four clauses of `width` elements each.
pub fn disjoint(width: usize) -> Instance {
    Instance {
        name: format!("disjoint 4 x {width}"),
        kind: Kind::Disjoint,
        clauses: (0..4)
            .map(|at| (at * width..(at + 1) * width).collect())
            .collect(),
        most: Some(4),
    }
}
