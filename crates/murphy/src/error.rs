//! Everything that keeps a command from giving its result.
//!
//! Three kinds stay apart: the arguments are wrong, the system under test does
//! not work even without faults, or Murphy itself failed. A finding is none of
//! these; it is a result.

use crate::usage::Usage;
use crate::{exit, output};

/// Why a command gave no result.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments make no sense.
    Usage(Usage),
    /// The scenario fails without faults.
    Reference {
        /// What it complained about.
        complaint: String,
        /// The way out.
        hint: String,
    },
    /// Murphy failed.
    Internal(anyhow::Error),
}

impl Error {
    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        let (text, code) = match self {
            Error::Usage(usage) => (usage.to_string(), exit::USAGE),
            Error::Reference { complaint, hint } => {
                let text =
                    format!("the scenario fails without any fault\n  | {complaint}\nhint: {hint}");
                (text, exit::REFERENCE_FAILED)
            }
            Error::Internal(error) => (format!("{error:#}"), exit::INTERNAL),
        };
        complain(text);
        code
    }
}

/// Prints an error message.
pub(crate) fn complain(text: impl std::fmt::Display) {
    const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
    output::say(format_args!("{RED}error:{RED:#} {text}"));
}

impl From<Usage> for Error {
    fn from(usage: Usage) -> Self {
        Error::Usage(usage)
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Error::Internal(error)
    }
}
