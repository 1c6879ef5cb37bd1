//! The formulas that solvers are timed on.
//!
//! Owns the list: the paper's 54 skeleton configurations, three of its
//! requests by the replica model, and clauses that share nothing.

use std::collections::BTreeSet;

use fastrand::Rng;
use murphy_corpus::skeleton::{Shape, Skeleton};

use super::families::Clauses;
use super::replicas::Replicas;

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
    let skeletons = shapes().map(skeleton);
    let disjoint = [10, 20, 30].map(disjoint);
    skeletons.chain(replicas()).chain(disjoint).collect()
}

/// Every configuration of the paper: those of table 7, and the ones of four
/// groups that its section 4.4 adds.
fn shapes() -> impl Iterator<Item = Shape> {
    let edges = (50..=300).step_by(50);
    edges.flat_map(|edges| {
        let rest = (2..=4).flat_map(|groups| (2..=4).map(move |bones| (groups, bones)));
        rest.map(move |(groups, bones)| Shape {
            edges,
            groups,
            bones,
        })
    })
}

fn skeleton(shape: Shape) -> Instance {
    let skeleton = Skeleton::new(shape, 1).expect("the paper's shapes have skeletons");
    let mut rng = Rng::with_seed(1);
    // Algorithm 1 hangs on the order: bones last suits it, bones first does not.
    let clause = |path: &BTreeSet<u32>| {
        let mut clause: Vec<usize> = path.iter().map(|edge| *edge as usize).collect();
        rng.shuffle(&mut clause);
        clause
    };
    let Shape {
        edges,
        groups,
        bones,
    } = shape;
    Instance {
        name: format!("skeleton E={edges} G={groups} B={bones}"),
        kind: Kind::Skeleton,
        clauses: skeleton.paths().map(clause).collect(),
        most: Some(groups as usize),
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

#[cfg(test)]
mod tests {
    use murphy_hitting::{Formula, Set};

    use super::{shapes, skeleton};

    #[test]
    fn a_bone_of_each_group_is_a_solution_and_nothing_else_of_that_size() {
        for shape in shapes().filter(|shape| shape.edges == 50) {
            let clauses = skeleton(shape).clauses.into_iter();
            let formula = Formula::of(clauses.map(Set::from_iter)).unwrap();
            let found = formula.minimal().at_most(shape.groups as usize).count();
            assert_eq!(found, shape.bones.pow(shape.groups) as usize, "{shape:?}");
        }
    }
}
