//! Side-by-side measurements and the published figures they are held against.

pub mod published;
