//! Edge covers of least weight: every test and every site in at least one case.
//!
//! Owns the algorithm alone. A cover of least weight takes the cheapest edge of
//! every vertex, except where one edge serves two vertices for less than the two
//! cheapest together. Which edges do is a matching of greatest saving, found by
//! the Hungarian method: exact, and no linear program.

/// An edge between a vertex on the left and one on the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedEdge {
    /// The vertex on the left.
    pub left: usize,
    /// The vertex on the right.
    pub right: usize,
    /// What it costs to take it.
    pub weight: u64,
}

/// The places of the edges of a cover of least weight, in order. Vertices
/// without any edge are not covered.
pub fn edge_cover(edges: &[WeightedEdge]) -> Vec<usize> {
    let lefts = edges.iter().map(|edge| edge.left + 1).max().unwrap_or(0);
    let rights = edges.iter().map(|edge| edge.right + 1).max().unwrap_or(0);
    let cheapest_left = cheapest(edges, lefts, |edge| edge.left);
    let cheapest_right = cheapest(edges, rights, |edge| edge.right);
    let cost = |place: Option<usize>| place.map_or(0, |place| edges[place].weight as i64);
    // What is saved by one edge in place of the cheapest ones of both its ends.
    let mut savings = vec![vec![(0, None); rights]; lefts];
    for (place, edge) in edges.iter().enumerate() {
        let apart = cost(cheapest_left[edge.left]) + cost(cheapest_right[edge.right]);
        let saving = apart - edge.weight as i64;
        let best = &mut savings[edge.left][edge.right];
        if saving > best.0 {
            *best = (saving, Some(place));
        }
    }
    let matched: Vec<usize> = matching(&savings, lefts, rights)
        .into_iter()
        .filter_map(|(left, right)| savings[left][right].1)
        .collect();
    let is_free = |end: fn(&WeightedEdge) -> usize, vertex: usize| {
        matched.iter().all(|place| end(&edges[*place]) != vertex)
    };
    let free_left = (0..lefts).filter(|left| is_free(|edge| edge.left, *left));
    let free_right = (0..rights).filter(|right| is_free(|edge| edge.right, *right));
    let mut cover: Vec<usize> = free_left
        .filter_map(|left| cheapest_left[left])
        .chain(free_right.filter_map(|right| cheapest_right[right]))
        .chain(matched.iter().copied())
        .collect();
    cover.sort_unstable();
    cover.dedup();
    cover
}

/// The cheapest edge of every vertex, the first of equals.
fn cheapest(
    edges: &[WeightedEdge],
    vertices: usize,
    end: fn(&WeightedEdge) -> usize,
) -> Vec<Option<usize>> {
    let mut cheapest: Vec<Option<usize>> = vec![None; vertices];
    for (place, edge) in edges.iter().enumerate() {
        let best = &mut cheapest[end(edge)];
        if best.is_none_or(|best| edge.weight < edges[best].weight) {
            *best = Some(place);
        }
    }
    cheapest
}

/// Pairs of the greatest total saving, each vertex at most once.
fn matching(
    savings: &[Vec<(i64, Option<usize>)>],
    lefts: usize,
    rights: usize,
) -> Vec<(usize, usize)> {
    if lefts <= rights {
        return assignment(lefts, rights, |left, right| -savings[left][right].0);
    }
    let turned = assignment(rights, lefts, |right, left| -savings[left][right].0);
    turned
        .into_iter()
        .map(|(right, left)| (left, right))
        .collect()
}

/// The Hungarian method: every row gets a column of its own at the least total
/// cost. There must be at least as many columns as rows.
fn assignment(
    rows: usize,
    columns: usize,
    cost: impl Fn(usize, usize) -> i64,
) -> Vec<(usize, usize)> {
    // Row and column 0 stand for "none"; potentials keep reduced costs at zero or more.
    let mut row_potential = vec![0; rows + 1];
    let mut column_potential = vec![0; columns + 1];
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut came_from = vec![0; columns + 1];
        let mut slack = vec![i64::MAX; columns + 1];
        let mut is_done = vec![false; columns + 1];
        let mut column = 0;
        while row_of[column] != 0 {
            is_done[column] = true;
            let from = row_of[column];
            let (mut least, mut next) = (i64::MAX, 0);
            for to in (1..=columns).filter(|to| !is_done[*to]) {
                let reduced = cost(from - 1, to - 1) - row_potential[from] - column_potential[to];
                if reduced < slack[to] {
                    slack[to] = reduced;
                    came_from[to] = column;
                }
                if slack[to] < least {
                    (least, next) = (slack[to], to);
                }
            }
            for (to, is_done) in is_done.iter().enumerate() {
                if *is_done {
                    row_potential[row_of[to]] += least;
                    column_potential[to] -= least;
                } else if slack[to] != i64::MAX {
                    slack[to] -= least;
                }
            }
            column = next;
        }
        while column != 0 {
            let before = came_from[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let pairs = (1..=columns).filter(|column| row_of[*column] != 0);
    pairs
        .map(|column| (row_of[column] - 1, column - 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn graph(
        lefts: usize,
        rights: usize,
        density: f64,
        random: &mut fastrand::Rng,
    ) -> Vec<WeightedEdge> {
        let mut edges = Vec::new();
        for left in 0..lefts {
            for right in 0..rights {
                if random.f64() < density {
                    let weight = random.u64(1..20);
                    edges.push(WeightedEdge {
                        left,
                        right,
                        weight,
                    });
                }
            }
        }
        edges
    }

    /// The least weight by trying, for each vertex in turn that is not covered
    /// yet, all of its edges.
    fn brute_force(edges: &[WeightedEdge]) -> u64 {
        fn go(edges: &[WeightedEdge], left: u64, right: u64, so_far: u64, best: &mut u64) {
            if so_far >= *best {
                return;
            }
            let is_open = |edge: &&WeightedEdge| {
                left & (1 << edge.left) != 0 || right & (1 << edge.right) != 0
            };
            let Some(open) = edges.iter().find(is_open) else {
                *best = so_far;
                return;
            };
            let by_left = left & (1 << open.left) != 0;
            for edge in edges {
                let covers = match by_left {
                    true => edge.left == open.left,
                    false => edge.right == open.right,
                };
                if covers {
                    let (left, right) = (left & !(1 << edge.left), right & !(1 << edge.right));
                    go(edges, left, right, so_far + edge.weight, best);
                }
            }
        }
        let left = edges.iter().fold(0, |set, edge| set | 1 << edge.left);
        let right = edges.iter().fold(0, |set, edge| set | 1 << edge.right);
        let mut best = u64::MAX;
        go(edges, left, right, 0, &mut best);
        best
    }

    #[test]
    fn a_cover_covers_and_costs_what_brute_force_finds() {
        let mut random = fastrand::Rng::with_seed(25);
        for round in 0..600 {
            let (lefts, rights) = (random.usize(1..=8), random.usize(1..=8));
            let density = random.f64();
            let edges = graph(lefts, rights, density, &mut random);
            let cover = edge_cover(&edges);
            for edge in &edges {
                assert!(cover.iter().any(|place| edges[*place].left == edge.left));
                assert!(cover.iter().any(|place| edges[*place].right == edge.right));
            }
            let weight: u64 = cover.iter().map(|place| edges[*place].weight).sum();
            assert_eq!(weight, brute_force(&edges), "graph {round}: {edges:?}");
        }
    }

    #[test]
    fn five_hundred_tests_and_two_hundred_sites_take_less_than_a_second() {
        let mut random = fastrand::Rng::with_seed(1);
        for density in [0.02, 0.3, 1.0] {
            let edges = graph(500, 200, density, &mut random);
            let began = std::time::Instant::now();
            let cover = edge_cover(&edges);
            let took = began.elapsed();
            // At least one edge for every test that has any.
            let tests: BTreeSet<usize> = edges.iter().map(|edge| edge.left).collect();
            assert!((tests.len()..700).contains(&cover.len()), "{}", cover.len());
            println!(
                "{} edges: {} in the cover, {took:?}",
                edges.len(),
                cover.len()
            );
            assert!(took.as_secs_f64() < 1.0, "{took:?}");
        }
    }

    #[test]
    fn nothing_is_covered_by_nothing() {
        assert!(edge_cover(&[]).is_empty());
    }
}
