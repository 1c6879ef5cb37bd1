//! Grouped skeletons: requests with a few long paths that hardly overlap.
//!
//! This is how FastFI's authors made their simulated benchmark (section 4.1.1):
//! a request can take paths in several groups, such as regions. A group has two
//! paths, a short one (the cache has it) and a long one (it does not), at 3:7.
//! The two share some edges, the *bones*; all others are on one path only. So a
//! request fails exactly if in each group a bone fails, or an edge of each path.
//!
//! Owns which edges are on which path, by number, and ([`Skeleton::system`])
//! services that behave so. The number of edges of a shape counts the edges of
//! both paths of a group, bones twice: only then are the published overlaps of
//! table 7 met.

mod system;

use std::collections::BTreeSet;

/// What a skeleton looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The edges of the two paths of a group, bones counted twice (EdgeNum).
    pub edges: u32,
    /// The groups (GroupNum).
    pub groups: u32,
    /// The edges that both paths of a group share (BoneNum).
    pub bones: u32,
}

impl Shape {
    /// The edges of the short path of a group.
    fn short(&self) -> u32 {
        (self.edges * 3 + 5) / 10
    }

    /// The different edges of a group.
    fn of_group(&self) -> u32 {
        self.edges - self.bones
    }
}

/// A shape of which there is no skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// There is no path.
    #[error("`groups` is 0: a request needs a path")]
    NoGroups,
    /// Nothing is shared, or the short path would have to share more edges
    /// than it has.
    #[error("`bones` is {bones}: the short one of two paths with {edges} edges can share 1 to {most}", bones = .0.bones, edges = .0.edges, most = .0.short())]
    Bones(Shape),
}

/// A request with its paths, as sets of edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skeleton {
    groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    bones: BTreeSet<u32>,
    /// The short path and the long one.
    paths: [BTreeSet<u32>; 2],
}

impl Skeleton {
    /// A skeleton of this shape. The seed decides which numbers the bones have
    /// among the edges, which run from 0.
    pub fn new(shape: Shape, seed: u64) -> Result<Self, ShapeError> {
        if shape.groups == 0 {
            return Err(ShapeError::NoGroups);
        }
        if shape.bones == 0 || shape.bones > shape.short() {
            return Err(ShapeError::Bones(shape));
        }
        let mut edges: Vec<u32> = (0..shape.groups * shape.of_group()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut edges);
        let groups = edges.chunks(shape.of_group() as usize);
        Ok(Skeleton {
            groups: groups.map(|edges| Group::new(shape, edges)).collect(),
        })
    }

    /// The paths, group by group, the short one first: the order in which a
    /// request tries them.
    pub fn paths(&self) -> impl Iterator<Item = &BTreeSet<u32>> {
        self.groups.iter().flat_map(|group| &group.paths)
    }

    /// The bones of each group. The smallest combinations of failures that no
    /// request survives are one of each.
    pub fn bones(&self) -> impl Iterator<Item = &BTreeSet<u32>> {
        self.groups.iter().map(|group| &group.bones)
    }

    /// Whether a request fails when these edges do.
    pub fn fails(&self, edges: &BTreeSet<u32>) -> bool {
        self.paths().all(|path| !path.is_disjoint(edges))
    }
}

impl Group {
    fn new(shape: Shape, edges: &[u32]) -> Self {
        let (bones, rest) = edges.split_at(shape.bones as usize);
        let (short, long) = rest.split_at((shape.short() - shape.bones) as usize);
        let path = |rest: &[u32]| bones.iter().chain(rest).copied().collect();
        Group {
            bones: bones.iter().copied().collect(),
            paths: [path(short), path(long)],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Shape, ShapeError, Skeleton};
    use crate::overlap;

    fn skeleton(edges: u32, groups: u32, bones: u32) -> Skeleton {
        let shape = Shape {
            edges,
            groups,
            bones,
        };
        Skeleton::new(shape, 7).unwrap()
    }

    /// Table 7: bones of 2, 3 and 4 in two groups, then in three.
    const TABLE_7: [(u32, [&str; 6]); 6] = [
        (
            50,
            ["0.0267", "0.0400", "0.0533", "0.0160", "0.0240", "0.0320"],
        ),
        (
            100,
            ["0.0133", "0.0200", "0.0267", "0.0080", "0.0120", "0.0160"],
        ),
        (
            150,
            ["0.0089", "0.0133", "0.0178", "0.0053", "0.0080", "0.0107"],
        ),
        (
            200,
            ["0.0067", "0.0100", "0.0133", "0.0040", "0.0060", "0.0080"],
        ),
        (
            250,
            ["0.0053", "0.0080", "0.0107", "0.0032", "0.0048", "0.0064"],
        ),
        (
            300,
            ["0.0044", "0.0067", "0.0089", "0.0027", "0.0040", "0.0053"],
        ),
    ];

    #[test]
    fn paths_overlap_as_published_to_the_last_digit() {
        let shapes = [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4)];
        for (edges, published) in TABLE_7 {
            for ((groups, bones), published) in shapes.into_iter().zip(published) {
                let skeleton = skeleton(edges, groups, bones);
                let paths: Vec<BTreeSet<u32>> = skeleton.paths().cloned().collect();
                let overlap = format!("{:.4}", overlap::of(&paths));
                assert_eq!(overlap, published, "{edges} {groups} {bones}");
            }
        }
    }

    #[test]
    fn paths_are_as_long_as_asked_and_meet_in_the_bones_alone() {
        let skeleton = skeleton(50, 3, 4);
        let lengths: Vec<usize> = skeleton.paths().map(BTreeSet::len).collect();
        assert_eq!(lengths, [15, 35, 15, 35, 15, 35]);
        let paths: Vec<_> = skeleton.paths().collect();
        for (number, bones) in skeleton.bones().enumerate() {
            let met = paths[2 * number] & paths[2 * number + 1];
            assert_eq!(&met, bones);
            assert_eq!(bones.len(), 4);
        }
        let all: BTreeSet<u32> = paths.into_iter().flatten().copied().collect();
        assert_eq!(all, (0..3 * 46).collect());
    }

    /// All sets of so many of these edges.
    fn choices(edges: &[u32], count: usize) -> Vec<BTreeSet<u32>> {
        if count == 0 {
            return vec![BTreeSet::new()];
        }
        let with_first = |first: usize| {
            let mut rest = choices(&edges[first + 1..], count - 1);
            rest.iter_mut().for_each(|set| {
                set.insert(edges[first]);
            });
            rest
        };
        (0..edges.len()).flat_map(with_first).collect()
    }

    #[test]
    fn nothing_smaller_fails_than_one_bone_of_each_group() {
        for (edges, groups, bones) in [(20, 2, 2), (20, 2, 3), (10, 3, 2), (20, 3, 3), (10, 4, 3)] {
            let skeleton = skeleton(edges, groups, bones);
            let all: Vec<u32> = (0..groups * (edges - bones)).collect();
            let failing = |count| {
                let sets = choices(&all, count).into_iter();
                sets.filter(|set| skeleton.fails(set)).collect::<Vec<_>>()
            };
            let about = format!("{edges} {groups} {bones}");
            assert_eq!(failing(groups as usize - 1).len(), 0, "{about}");
            let smallest = failing(groups as usize);
            assert_eq!(smallest.len(), bones.pow(groups) as usize, "{about}");
            for set in smallest {
                let in_each = skeleton.bones().map(|bones| (bones & &set).len());
                assert!(in_each.into_iter().all(|count| count == 1), "{about}");
            }
        }
    }

    #[test]
    fn the_seed_decides_which_edges_are_bones() {
        let shape = Shape {
            edges: 50,
            groups: 2,
            bones: 2,
        };
        assert_eq!(Skeleton::new(shape, 1), Skeleton::new(shape, 1));
        assert_ne!(Skeleton::new(shape, 1), Skeleton::new(shape, 2));
    }

    #[test]
    fn a_shape_without_a_skeleton_is_refused_with_the_reason() {
        let shape = |groups, bones| Shape {
            edges: 50,
            groups,
            bones,
        };
        let refused = |shape| Skeleton::new(shape, 0).unwrap_err();
        assert_eq!(refused(shape(0, 2)), ShapeError::NoGroups);
        for bones in [0, 16] {
            let error = refused(shape(2, bones));
            assert_eq!(error, ShapeError::Bones(shape(2, bones)));
            assert!(error.to_string().ends_with("can share 1 to 15"), "{error}");
        }
        assert!(Skeleton::new(shape(2, 15), 0).is_ok());
    }
}
