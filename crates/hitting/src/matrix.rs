//! Clauses as two bit matrices.
//!
//! Owns the numbering: elements that occur become columns `0..`, in ascending
//! order, so that rows are as wide as the problem and not as its largest
//! element.

use crate::{Set, words};

/// Which clause holds which element, readable by clause and by element.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// The element of each column.
    elements: Vec<usize>,
    height: usize,
    clauses: Rows,
    columns: Rows,
}

/// Rows of bits, one after the other.
#[derive(Clone, Debug)]
struct Rows {
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    pub(crate) fn of(clauses: &[Set]) -> Self {
        let elements = occurring(clauses);
        let mut matrix = Matrix {
            clauses: Rows::new(clauses.len(), elements.len()),
            columns: Rows::new(elements.len(), clauses.len()),
            height: clauses.len(),
            elements,
        };
        for (row, clause) in clauses.iter().enumerate() {
            for element in clause.iter() {
                matrix.mark(row, element);
            }
        }
        matrix
    }

    fn mark(&mut self, row: usize, element: usize) {
        let column = self.column(element);
        words::set(self.clauses.get_mut(row), column);
        words::set(self.columns.get_mut(column), row);
    }

    /// How many clauses there are.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// How many elements occur.
    pub(crate) fn width(&self) -> usize {
        self.elements.len()
    }

    /// The columns of a clause.
    pub(crate) fn clause(&self, row: usize) -> &[u64] {
        self.clauses.get(row)
    }

    /// The clauses a column hits.
    pub(crate) fn hits(&self, column: usize) -> &[u64] {
        self.columns.get(column)
    }

    /// The column of an element that occurs.
    pub(crate) fn column(&self, element: usize) -> usize {
        let column = self.elements.binary_search(&element);
        column.expect("every element of a clause has a column")
    }

    /// The element a column stands for.
    pub(crate) fn element(&self, column: usize) -> usize {
        self.elements[column]
    }
}

fn occurring(clauses: &[Set]) -> Vec<usize> {
    let mut all = Set::new();
    for clause in clauses {
        all.add(clause);
    }
    all.iter().collect()
}

impl Rows {
    fn new(rows: usize, bits: usize) -> Self {
        let width = words::width(bits);
        Rows {
            width,
            words: vec![0; rows * width],
        }
    }

    fn get(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..][..self.width]
    }

    fn get_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.words[row * self.width..][..self.width]
    }
}
