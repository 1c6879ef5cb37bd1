//! What is said on stderr while things are done: notes, warnings, errors.
//!
//! Owns that nothing is shown which a terminal would obey, and no secret.
//! Results go to stdout, which is the binary's.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use murphy_report::{redact, unseen};

/// Whether only results and errors are written.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether only results and errors are written.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// From now on, only results and errors are written.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Says something that is good to know.
pub fn note(text: impl Display) {
    progress(format_args!("note: {text}"));
}

/// Says how far things are.
pub fn progress(text: impl Display) {
    if !is_quiet() {
        say(text);
    }
}

/// Prints an error message.
pub fn complain(text: impl Display) {
    const RED: Style = AnsiColor::Red.on_default().bold();
    say(format_args!("{RED}error:{RED:#} {text}"));
}

/// Prints a warning: something that may be meant, but hardly is.
pub fn warn(text: impl Display) {
    const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
    say(format_args!("{YELLOW}warning:{YELLOW:#} {text}"));
}

/// Says something on stderr; if nobody listens, that is fine.
pub fn say(text: impl Display) {
    let text = redact::owned(&text.to_string());
    let _ = writeln!(anstream::stderr(), "{}", unseen::escaped(&text));
}
