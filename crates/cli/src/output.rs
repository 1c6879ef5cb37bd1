//! Where text goes: results to stdout, everything else to stderr.
//!
//! Owns what happens when nobody reads them: a closed pipe (`murphy demo |
//! head`) is no failure, and the exit code still tells the outcome.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether only results and errors are written.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether only results and errors are written.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// From now on, only results and errors are written.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Says something that is good to know.
pub(crate) fn note(text: impl std::fmt::Display) {
    progress(format_args!("note: {text}"));
}

/// Says how far things are.
pub(crate) fn progress(text: impl std::fmt::Display) {
    if !is_quiet() {
        say(text);
    }
}

/// Says something on stderr; if nobody listens, that is fine.
pub(crate) fn say(text: impl std::fmt::Display) {
    let text = redact::owned(&text.to_string());
    let _ = writeln!(anstream::stderr(), "{}", unseen::escaped(&text));
}
