//! What a run is held to.
//!
//! Owns the list of bars of a run and how they are printed; what they measure
//! is the parts' own.

/// The bars of a run.
#[derive(Default)]
pub struct Bars {
    missed: usize,
}

impl Bars {
    /// Prints a bar and whether it was kept.
    pub fn judge(&mut self, kept: bool, what: impl AsRef<str>) {
        let verdict = if kept { "kept  " } else { "MISSED" };
        println!("{verdict}  {}", what.as_ref());
        self.missed += usize::from(!kept);
    }

    /// How many were missed.
    pub fn missed(&self) -> usize {
        self.missed
    }
}
