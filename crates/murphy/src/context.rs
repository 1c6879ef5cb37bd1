//! What the environment says. The only place that asks it.

use std::io::IsTerminal;

/// The surroundings of this process.
pub(crate) struct Context {
    /// Whether a line that changes in place can be shown on stderr.
    pub(crate) live_progress: bool,
}

impl Context {
    /// From the process environment. Colours are `anstream`'s business.
    pub(crate) fn from_env() -> Self {
        Context {
            live_progress: std::io::stderr().is_terminal() && std::env::var_os("CI").is_none(),
        }
    }
}
