//! Where text goes: results to stdout, everything else to stderr
//! ([`murphy_project::messages`]).
//!
//! Owns what happens when nobody reads them: a closed pipe (`murphy demo |
//! head`) is no failure, and the exit code still tells the outcome.

use std::io::{self, Write};

pub(crate) use murphy_project::messages::{be_quiet, is_quiet, note, progress, say};
use murphy_report::{terminal, unseen};

use crate::error::Error;

/// Writes to stdout, with colours only where they belong.
pub(crate) fn write(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    write_within(usize::MAX, text)
}

/// The same with lines that are broken where they are wider than this.
pub(crate) fn write_within(
    width: usize,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let mut written = Vec::new();
    let text = text(&mut written);
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let shown = unseen::escaped(&String::from_utf8_lossy(&written)).into_owned();
    let shown = |out: &mut dyn Write| match width {
        usize::MAX => out.write_all(shown.as_bytes()),
        width => terminal::write_page(&shown, width, out),
    };
    finish(
        text.and_then(|()| shown(&mut out))
            .and_then(|()| out.flush()),
    )
}

fn finish(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::Internal {
            what: "cannot write to stdout",
            error,
        }),
        Ok(()) => Ok(()),
    }
}
