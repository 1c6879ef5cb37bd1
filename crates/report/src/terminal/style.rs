//! Colours, by what they mean.

use anstyle::{AnsiColor, Style};

/// What something is called.
pub(super) const TITLE: Style = Style::new().bold();
/// It went well.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// It went wrong.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// It needs attention.
pub(super) const CAREFUL: Style = AnsiColor::Yellow.on_default();
/// It can be passed over.
pub(super) const QUIET: Style = Style::new().dimmed();
