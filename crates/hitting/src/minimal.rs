//! All minimal hitting sets, one after the other.
//!
//! The search of Murakami and Uno ("MMCS"): pick a clause that is not hit,
//! try each of its free elements, and drop every branch in which a chosen
//! element is no longer the only one to hit some clause. An element tried
//! becomes free again for its later siblings, so each set is met once. Which
//! clauses are hit exactly once is one row per level; an element is critical
//! where its own clauses meet that row.
//!
//! Owns the walk and its stack; cutting branches by size is
//! [`bound`](crate::bound)'s job. Nothing but the stack is held, so memory
//! does not grow with the number of sets.

use crate::bound::Bound;
use crate::matrix::Matrix;
use crate::{Formula, Set, words};

/// An iterator over the minimal hitting sets of a formula; see
/// [`Formula::minimal`]. The order is always the same for the same formula.
///
/// ```
/// use murphy_hitting::{Formula, Set};
///
/// let clauses = [vec![0, 9], vec![1, 9], vec![2]];
/// let formula = Formula::of(clauses.map(Set::from_iter))?;
/// let found: Vec<Set> = formula.minimal().collect();
/// assert_eq!(found, [Set::from_iter([2, 0, 1]), Set::from_iter([2, 9])]);
/// assert_eq!(formula.minimal().at_most(2).count(), 1);
/// # Ok::<(), murphy_hitting::EmptyClause>(())
/// ```
#[derive(Clone, Debug)]
pub struct Minimal {
    matrix: Matrix,
    bound: Bound,
    /// One per chosen element, and one for the choice to be made; what lies
    /// beyond `depth` is there to be written over.
    levels: Vec<Level>,
    depth: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fresh,
    Walking,
    Over,
}

/// A node of the search, and what is still to be tried there.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// Clauses nothing chosen hits.
    pub(crate) open: Vec<u64>,
    /// Clauses exactly one of the chosen hits.
    once: Vec<u64>,
    /// Columns that may still be chosen below, beside those in `untried`.
    pub(crate) free: Vec<u64>,
    /// Columns still to be tried at this node.
    pub(crate) untried: Vec<u64>,
    /// The column being tried.
    chosen: usize,
}

impl Minimal {
    pub(crate) fn of(formula: &Formula) -> Self {
        let matrix = Matrix::of(formula.clauses());
        Minimal {
            bound: Bound::default(),
            levels: Vec::new(),
            depth: 0,
            stage: Stage::Fresh,
            matrix,
        }
    }

    /// Only sets of up to `size` elements, and all of them.
    pub fn at_most(mut self, size: usize) -> Self {
        self.bound = Bound::up_to(size);
        self.stage = Stage::Fresh;
        self.depth = 0;
        self
    }

    /// Stands at the root; a set without elements is a solution only here.
    fn start(&mut self) -> Option<Set> {
        self.level_or_new(0);
        let root = &mut self.levels[0];
        words::fill(&mut root.open, self.matrix.height());
        words::fill(&mut root.free, self.matrix.width());
        root.once.fill(0);
        if self.matrix.height() == 0 {
            self.stage = Stage::Over;
            return Some(Set::new());
        }
        self.stage = match self.plan(0) {
            true => Stage::Walking,
            false => Stage::Over,
        };
        None
    }

    fn walk(&mut self) -> Option<Set> {
        loop {
            let Some(column) = words::pop(&mut self.levels[self.depth].untried) else {
                if self.depth == 0 {
                    self.stage = Stage::Over;
                    return None;
                }
                self.depth -= 1;
                continue;
            };
            if !self.choose(column) {
                continue;
            }
            let size = self.depth + 1;
            if words::is_empty(&self.levels[size].open) {
                return Some(self.solution());
            } else if self.plan(size) {
                self.depth = size;
            }
        }
    }

    /// Writes the child for `column`; false if some chosen element would no
    /// longer be needed. What spoils a set spoils every larger one, so such a
    /// column does not become free for its siblings.
    fn choose(&mut self, column: usize) -> bool {
        self.level_or_new(self.depth + 1);
        let (above, below) = self.levels.split_at_mut(self.depth + 1);
        let (parent, child) = (&mut above[self.depth], &mut below[0]);
        parent.chosen = column;
        let hits = self.matrix.hits(column);
        for (at, hit) in hits.iter().enumerate() {
            let (open, once) = (parent.open[at], parent.once[at]);
            child.open[at] = open & !hit;
            child.once[at] = (once & !hit) | (open & hit);
        }
        let earlier = above[..self.depth].iter();
        let mut hits = earlier.map(|level| self.matrix.hits(level.chosen));
        if !hits.all(|hits| words::meets(hits, &child.once)) {
            return false;
        }
        let parent = &mut above[self.depth];
        child.free.copy_from_slice(&parent.free);
        words::set(&mut parent.free, column);
        true
    }

    /// Decides what is to be tried at `depth`; false if nothing is.
    fn plan(&mut self, depth: usize) -> bool {
        let level = &mut self.levels[depth];
        self.bound.plan(&self.matrix, level, depth)
    }

    fn solution(&self) -> Set {
        let chosen = self.levels[..=self.depth].iter();
        chosen
            .map(|level| self.matrix.element(level.chosen))
            .collect()
    }

    fn level_or_new(&mut self, depth: usize) {
        if depth == self.levels.len() {
            self.levels.push(Level::of(&self.matrix));
        }
    }
}

impl Level {
    fn of(matrix: &Matrix) -> Self {
        let tall = vec![0; words::width(matrix.height())];
        let wide = vec![0; words::width(matrix.width())];
        Level {
            open: tall.clone(),
            once: tall,
            free: wide.clone(),
            untried: wide,
            chosen: 0,
        }
    }

    /// Has every free column of `clause` tried; true if that is any.
    pub(crate) fn try_each(&mut self, clause: &[u64]) -> bool {
        self.untried.copy_from_slice(clause);
        let any = words::keep(&mut self.untried, &self.free);
        words::subtract(&mut self.free, clause);
        any
    }
}

impl Iterator for Minimal {
    type Item = Set;

    fn next(&mut self) -> Option<Set> {
        if self.stage == Stage::Fresh
            && let Some(set) = self.start()
        {
            return Some(set);
        }
        match self.stage {
            Stage::Walking => self.walk(),
            Stage::Fresh | Stage::Over => None,
        }
    }
}

impl std::iter::FusedIterator for Minimal {}
