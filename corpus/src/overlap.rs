//! How much the paths of a request have in common.
//!
//! Owns one figure, the *average clause overlap* (ACO) of FastFI's equation 7,
//! by which its authors describe their benchmarks: the share of its points
//! that a path has in common with another one, on average.

use std::collections::{BTreeMap, BTreeSet};

/// The average overlap of paths: 0 if they are disjoint or fewer than two, 1
/// if they are all the same.
pub fn of<T: Ord>(paths: &[BTreeSet<T>]) -> f64 {
    let shared = pairs(paths.len());
    if shared == 0 {
        return 0.0;
    }
    let length: usize = paths.iter().map(BTreeSet::len).sum();
    let length = length as f64 / paths.len() as f64;
    let in_common: usize = degrees(paths).into_values().map(pairs).sum();
    in_common as f64 / (shared as f64 * length)
}

/// On how many paths each point is.
fn degrees<T: Ord>(paths: &[BTreeSet<T>]) -> BTreeMap<&T, usize> {
    let mut degrees = BTreeMap::new();
    for point in paths.iter().flatten() {
        *degrees.entry(point).or_default() += 1;
    }
    degrees
}

fn pairs(of: usize) -> usize {
    of * of.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::of;

    fn overlap(paths: &[&[u32]]) -> f64 {
        let paths = paths.iter().map(|path| path.iter().copied().collect());
        of(&paths.collect::<Vec<BTreeSet<u32>>>())
    }

    #[test]
    fn it_is_the_share_that_two_paths_have_in_common() {
        assert_eq!(overlap(&[&[1, 2], &[3, 4]]), 0.0);
        assert_eq!(overlap(&[&[1, 2], &[2, 3]]), 0.5);
        assert_eq!(overlap(&[&[1, 2], &[1, 2], &[1, 2]]), 1.0);
        // Three pairs have two points in common among them, at a length of two.
        assert_eq!(overlap(&[&[1, 2], &[2, 3], &[3, 4]]), 2.0 / 6.0);
    }

    #[test]
    fn a_path_alone_overlaps_with_nothing() {
        assert_eq!(overlap(&[]), 0.0);
        assert_eq!(overlap(&[&[1]]), 0.0);
    }
}
