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

/// What is left without colours, for tests: the meaning must be in the words.
#[cfg(test)]
pub(super) fn plain(styled: &[u8]) -> String {
    let text = String::from_utf8_lossy(styled);
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.filter_map(|piece| piece.split_once('m'));
    first + &rest.map(|(_, text)| text).collect::<String>()
}
