//! Why a campaign gave no report.

use std::fmt;
use std::io;
use std::path::PathBuf;

use murphy_campaign::{Failed, Refused, SetupError};
use murphy_model::SyntaxError;
use murphy_report::redact;
use murphy_store::StoreError;

use crate::replays::ReplayError;

/// Why a campaign gave no report. Written for people, over several lines where
/// there is a place to show.
#[derive(Debug)]
pub enum Error {
    /// What was asked for makes no sense.
    Nonsense(String),
    /// A text of modes or calls cannot be read.
    Syntax(SyntaxError),
    /// The test is not fit to be run with faults: it fails without them, or
    /// leads to different calls from one time to the next.
    Refused(Refused),
    /// A service is down, a command is not found, a port is taken.
    Broken(SetupError),
    /// What campaigns are kept in does not work.
    Store(StoreError),
    /// There is no place for files.
    Directory(PathBuf, io::Error),
    /// There is no such finding to replay, or its file is damaged.
    Replay(ReplayError),
    /// It was told to stop.
    Interrupted,
}

impl Error {
    pub(super) fn of(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refused) => Error::Refused(refused),
            Failed::Broken(broken) => Error::Broken(broken),
            Failed::Interrupted => Error::Interrupted,
        }
    }
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        Error::Replay(error)
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        Error::Syntax(error)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Nonsense(text) => f.write_str(text),
            Error::Syntax(error) => error.fmt(f),
            Error::Refused(refused) => write_refused(refused, f),
            Error::Broken(broken) => f.write_str(&setup_error_text(broken)),
            Error::Store(error) => error.fmt(f),
            Error::Directory(path, error) => {
                write!(
                    f,
                    "cannot write to the directory {}: {error}",
                    path.display()
                )
            }
            Error::Replay(error) => error.fmt(f),
            Error::Interrupted => f.write_str("stopped before there was a result"),
        }
    }
}

fn write_refused(refused: &Refused, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match refused {
        Refused::Fails { complaint, .. } => write!(
            f,
            "the test fails without any fault\n  | {complaint}\nhint: make it pass first: faults tell nothing about what is broken without them"
        ),
        Refused::Flaky {
            passed, complaint, ..
        } => write!(
            f,
            "the test is flaky: without any fault it passed {passed} times and then failed\n  | {complaint}\nhint: make it pass every time first: faults tell nothing about a test that fails by chance"
        ),
        Refused::Unstable { varies, .. } => {
            f.write_str(
                "the test leads to different calls from one time to the next, without any fault\n",
            )?;
            for line in varies {
                writeln!(f, "  | {line}")?;
            }
            f.write_str("hint: make it start from the same state every time")
        }
        Refused::NotCold { at } => {
            f.write_str("executions do not begin as the first after a start: only that made")?;
            at.iter().try_for_each(|at| write!(f, "\n  | {at}"))
        }
    }
}

/// All that is known of a setup that failed. Commands are shown with what their
/// variables stand for, and services may log anything; what is secret of it does
/// not belong into a build's log.
#[doc(hidden)]
pub fn setup_error_text(broken: &SetupError) -> String {
    let mut text = broken.message.clone();
    if let Some(place) = &broken.place {
        text += &format!("\n --> {place}");
    }
    for (name, log) in &broken.logs {
        text += &format!("\n  -- the last lines of {name}:");
        for line in log.lines() {
            text += &format!("\n  | {line}");
        }
    }
    if let Some(hint) = &broken.hint {
        text += &format!("\nhint: {hint}");
    }
    redact::owned(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_broken_system_are_not_printed() {
        let broken = SetupError {
            message: "setup step 1 (`fill --token=s3cret1`) failed".to_owned(),
            service: None,
            place: Some("murphy.toml:3".to_owned()),
            hint: Some("try it by hand: `serve --password=s3cret2`".to_owned()),
            logs: vec![("cart".to_owned(), "api_key=s3cret3\nready".to_owned())],
        };
        let text = "setup step 1 (`fill --token=[redacted]`) failed\n --> murphy.toml:3\n  -- the last lines of cart:\n  | api_key=[redacted]\n  | ready\nhint: try it by hand: `serve --password=[redacted]`";
        assert_eq!(setup_error_text(&broken), text);
    }
}
