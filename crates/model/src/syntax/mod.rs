//! The text form of points, patterns, modes and faultloads, read and written
//! everywhere: on the command line, in settings, reports and replay files.
//!
//! Owns the grammar and nothing of its meaning. Whatever is printed here reads
//! back as the same value, as long as the value is one the rest of the crate
//! can produce (counts from 1, hashes in lower-case hexadecimal digits).
//!
//! ```text
//! faultload = "none" | fault { "," fault }
//! fault     = target " = " mode
//! target    = [ "** > " ] frame { " > " frame }
//! frame     = destination [ interface ] [ "#" count ] [ "{" options "}" ]
//! interface = METHOD path | package.Service/Method | "*"
//! count     = n | "*" | ".." n
//! options   = option { "," option }
//! option    = "body=" hash | "after=" quoted siblings | "site=" text
//! siblings  = [ sibling { ";" sibling } ]
//! sibling   = destination interface ":" n [ "{body=" hash "}" ]
//! ```
//!
//! Words are separated by white space. A word is made of bare and quoted parts
//! in any mixture: in a bare part `*` is a wildcard, in a quoted part every
//! character stands for itself, so `"a*b"*` is "begins with `a*b`". Only words
//! that are `>` or `=` alone, or begin with `#`, `{` or `,`, mean something
//! else when bare. One file per concept: `lexer` and `text` read and write
//! words, `frame` the chain that points and patterns share, and so on up.

mod error;
mod fault;
mod frame;
mod interface;
mod lexer;
mod mode;
mod mode_set;
mod options;
mod outcome;
mod pattern;
mod point;
mod siblings;
mod suggest;
mod text;

pub use error::{SyntaxError, underlined};
pub use mode_set::ModeSet;
pub use suggest::{nearest, nearest_first};

#[cfg(test)]
mod testing {
    //! What the tables of error cases in this folder share.

    use super::SyntaxError;
    use std::str::FromStr;

    /// Asserts that `text` is refused, at the place `at`, saying `says`
    /// somewhere in the full message (hint included).
    pub(super) fn assert_refused<T>(text: &str, at: &str, says: &str)
    where
        T: FromStr<Err = SyntaxError> + std::fmt::Debug,
    {
        let error = text.parse::<T>().expect_err(text);
        assert_eq!(&text[error.span()], at, "the place in {text:?}: {error}");
        let shown = error.to_string();
        assert!(shown.contains(says), "{says:?} is not in:\n{shown}");
    }
}
