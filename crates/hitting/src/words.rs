//! Rows of bits of a fixed width, as slices of words.
//!
//! The searches keep one row per level and overwrite it in place, which
//! [`Set`](crate::Set) with its moving end is not made for.

pub(crate) const BITS: usize = u64::BITS as usize;

/// How many words hold `bits` bits.
pub(crate) fn width(bits: usize) -> usize {
    bits.div_ceil(BITS)
}

pub(crate) fn set(row: &mut [u64], bit: usize) {
    row[bit / BITS] |= 1 << (bit % BITS);
}

pub(crate) fn clear(row: &mut [u64], bit: usize) {
    row[bit / BITS] &= !(1 << (bit % BITS));
}

pub(crate) fn has(row: &[u64], bit: usize) -> bool {
    row[bit / BITS] >> (bit % BITS) & 1 == 1
}

/// Whether `b` has all of what `a` has of `mask`.
pub(crate) fn within(a: &[u64], b: &[u64], mask: &[u64]) -> bool {
    let pairs = a.iter().zip(b).zip(mask);
    pairs.into_iter().all(|((a, b), mask)| a & mask & !b == 0)
}

/// Keeps in `row` only what is also in `other`; says whether that is
/// anything.
pub(crate) fn keep(row: &mut [u64], other: &[u64]) -> bool {
    let mut any = 0;
    for (mine, theirs) in row.iter_mut().zip(other) {
        *mine &= theirs;
        any |= *mine;
    }
    any != 0
}

/// Takes out of `row` what is in `other`.
pub(crate) fn subtract(row: &mut [u64], other: &[u64]) {
    for (mine, theirs) in row.iter_mut().zip(other) {
        *mine &= !theirs;
    }
}

/// Adds to `row` what `a` and `b` share.
pub(crate) fn add_shared(row: &mut [u64], a: &[u64], b: &[u64]) {
    for (mine, (a, b)) in row.iter_mut().zip(a.iter().zip(b)) {
        *mine |= a & b;
    }
}

pub(crate) fn is_empty(row: &[u64]) -> bool {
    row.iter().all(|word| *word == 0)
}

pub(crate) fn count(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_ones() as usize).sum()
}

pub(crate) fn meets(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

pub(crate) fn shared(a: &[u64], b: &[u64]) -> usize {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| (a & b).count_ones() as usize).sum()
}

/// Makes `row` all ones up to `bits`.
pub(crate) fn fill(row: &mut [u64], bits: usize) {
    row.fill(u64::MAX);
    if let (Some(last), tail @ 1..) = (row.last_mut(), bits % BITS) {
        *last = (1 << tail) - 1;
    }
}

/// Takes the lowest bit out.
pub(crate) fn pop(row: &mut [u64]) -> Option<usize> {
    let at = row.iter().position(|word| *word != 0)?;
    let bit = row[at].trailing_zeros() as usize;
    row[at] &= row[at] - 1;
    Some(at * BITS + bit)
}

/// The bits of a row, from the lowest.
pub(crate) fn ones(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    numbered(row.iter().copied())
}

/// The bits that are in both.
pub(crate) fn ones_of_both<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = usize> + 'a {
    numbered(a.iter().zip(b).map(|(a, b)| a & b))
}

/// The bits that are in the first alone.
pub(crate) fn ones_of_first<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = usize> + 'a {
    numbered(a.iter().zip(b).map(|(a, b)| a & !b))
}

fn numbered(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    let words = words.enumerate();
    words.flat_map(|(at, word)| Ones(word).map(move |bit| at * BITS + bit))
}

/// The bits of a word, from the lowest.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
