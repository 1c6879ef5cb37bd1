//! What the environment says. The only place that asks it, and that has its
//! secrets hidden from all that is written.

use std::io::IsTerminal;
use std::path::PathBuf;

use murphy_report::redact;

/// The surroundings of this process.
pub struct Context {
    /// Whether a line that changes in place can be shown on stderr.
    pub live_progress: bool,
    /// Whether somebody can be asked questions.
    pub interactive: bool,
    /// How wide the terminal is; without one, lines are not broken unless
    /// `COLUMNS` says where.
    pub width: usize,
}

impl Context {
    /// From the process environment. Colours are `anstream`'s business.
    pub fn from_env() -> Self {
        redact::hide_values_of(texts());
        let someone_looks = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        Context {
            live_progress: someone_looks,
            interactive: someone_looks && std::io::stdin().is_terminal(),
            width: width().unwrap_or(usize::MAX),
        }
    }

    /// A variable of the environment, if it is set and text.
    pub fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    /// Where Murphy was started; `.` where that cannot be told any more.
    pub fn directory(&self) -> PathBuf {
        std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
    }
}

/// The columns of the terminal that stdout is, or that `COLUMNS` says.
fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok();
    let written = columns.and_then(|columns| columns.parse().ok());
    let seen = || rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let seen = || seen().map(|size| usize::from(size.ws_col));
    written.or_else(seen).filter(|columns| *columns > 0)
}

/// All variables that are texts.
fn texts() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string(), value.into_string());
        name.ok().zip(value.ok())
    })
}
