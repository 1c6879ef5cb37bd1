//! Where text goes: results to stdout, everything else to stderr.
//!
//! Owns what happens when nobody reads them: a closed pipe (`murphy demo |
//! head`) is no failure, and the exit code still tells the outcome.

use std::io::{self, Write};

use murphy_report::{redact, unseen};

use crate::error::Error;

/// Writes to stdout, with colours only where they belong.
pub(crate) fn write(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut written = Vec::new();
    let text = text(&mut written);
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let shown = unseen::escaped(&String::from_utf8_lossy(&written)).into_owned();
    finish(
        text.and_then(|()| out.write_all(shown.as_bytes()))
            .and_then(|()| out.flush()),
    )
}

fn finish(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(anyhow::Error::new(error)
            .context("cannot write to stdout")
            .into()),
        Ok(()) => Ok(()),
    }
}

/// Says something on stderr; if nobody listens, that is fine.
pub(crate) fn say(text: impl std::fmt::Display) {
    let text = redact::owned(&text.to_string());
    let _ = writeln!(anstream::stderr(), "{}", unseen::escaped(&text));
}
