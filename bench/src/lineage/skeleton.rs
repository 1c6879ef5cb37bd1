//! FastFI's simulated benchmark: alternative paths in groups of two that share
//! their bones.
//!
//! Owns the generator (section 4.1.1 of the paper) and its table 7, by which
//! the generator is checked: `edges` counts the edges of both paths of a
//! group, shared ones twice, and the two have 0.3 and 0.7 of them.

/// The parameters of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skeleton {
    /// Edges of the two paths of a group (EdgeNum).
    pub edges: usize,
    /// How many groups there are (GroupNum).
    pub groups: usize,
    /// Edges that the two paths of a group share (BoneNum).
    pub bones: usize,
}

impl Skeleton {
    /// Every configuration of the paper: those of table 7, and the ones of
    /// four groups that its section 4.4 adds.
    pub fn all() -> impl Iterator<Item = Skeleton> {
        let edges = (50..=300).step_by(50);
        edges.flat_map(|edges| {
            let shapes = (2..=4).flat_map(|groups| (2..=4).map(move |bones| (groups, bones)));
            shapes.map(move |(groups, bones)| Skeleton {
                edges,
                groups,
                bones,
            })
        })
    }

    /// The paths; the bones of a group come first in both of its paths.
    pub fn paths(&self) -> Vec<Vec<usize>> {
        let short = self.edges * 3 / 10;
        let long = self.edges - short;
        let mut next = 0;
        let mut fresh = |count: usize| {
            next += count;
            next - count..next
        };
        let mut paths = Vec::new();
        for _ in 0..self.groups {
            let bones = fresh(self.bones);
            for length in [short, long] {
                paths.push(bones.clone().chain(fresh(length - self.bones)).collect());
            }
        }
        paths
    }

    /// How many minimal sets of up to `groups` edges hit all paths: a bone of
    /// each group.
    pub fn solutions(&self) -> usize {
        self.bones.pow(self.groups as u32)
    }
}

/// The mean share of elements that two clauses have in common (equation 7).
pub fn average_clause_overlap(clauses: &[Vec<usize>]) -> f64 {
    let largest = clauses
        .iter()
        .flatten()
        .max()
        .map_or(0, |largest| largest + 1);
    let mut degree = vec![0u64; largest];
    for element in clauses.iter().flatten() {
        degree[*element] += 1;
    }
    let shared: u64 = degree
        .iter()
        .map(|degree| degree * degree.saturating_sub(1) / 2)
        .sum();
    let count = clauses.len() as f64;
    let length = clauses.iter().map(Vec::len).sum::<usize>() as f64 / count;
    2.0 * shared as f64 / (count * (count - 1.0) * length)
}

/// Table 7: the published overlap of each configuration of two and three
/// groups.
pub const TABLE_7: [(usize, usize, [f64; 3]); 12] = [
    (50, 2, [0.0267, 0.0400, 0.0533]),
    (50, 3, [0.0160, 0.0240, 0.0320]),
    (100, 2, [0.0133, 0.0200, 0.0267]),
    (100, 3, [0.0080, 0.0120, 0.0160]),
    (150, 2, [0.0089, 0.0133, 0.0178]),
    (150, 3, [0.0053, 0.0080, 0.0107]),
    (200, 2, [0.0067, 0.0100, 0.0133]),
    (200, 3, [0.0040, 0.0060, 0.0080]),
    (250, 2, [0.0053, 0.0080, 0.0107]),
    (250, 3, [0.0032, 0.0048, 0.0064]),
    (300, 2, [0.0044, 0.0067, 0.0089]),
    (300, 3, [0.0027, 0.0040, 0.0053]),
];

/// How many figures of table 7 the generator gives to the digit, of how many.
pub fn table_7_reproduced() -> (usize, usize) {
    let rows = TABLE_7.into_iter().flat_map(|(edges, groups, published)| {
        (2..=4).zip(published).map(move |(bones, published)| {
            (
                Skeleton {
                    edges,
                    groups,
                    bones,
                },
                published,
            )
        })
    });
    let same = rows.map(|(skeleton, published)| {
        let ours = average_clause_overlap(&skeleton.paths());
        format!("{ours:.4}") == format!("{published:.4}")
    });
    same.fold((0, 0), |(same, all), is| (same + usize::from(is), all + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_hitting::Formula;

    #[test]
    fn the_overlap_is_that_of_table_7_to_the_digit() {
        assert_eq!(table_7_reproduced(), (36, 36));
    }

    #[test]
    fn a_bone_of_each_group_is_a_solution_and_nothing_else_of_that_size() {
        for skeleton in Skeleton::all().filter(|skeleton| skeleton.edges == 50) {
            let clauses = skeleton
                .paths()
                .into_iter()
                .map(|path| path.into_iter().collect());
            let formula = Formula::of(clauses).unwrap();
            let found = formula.minimal().at_most(skeleton.groups).count();
            assert_eq!(found, skeleton.solutions(), "{skeleton:?}");
        }
    }
}
