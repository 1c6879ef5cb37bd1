//! The error of every reader: what was wrong, where, and the way out.
//!
//! Owns how the place is shown. What to say is decided where reading stops.

use std::fmt;
use std::ops::Range;

/// Wider inputs are cut around the place, so that the caret stays in view on
/// an ordinary terminal.
const WIDEST: usize = 100;

/// How much of a cut input is shown before the place.
const BEFORE: usize = 40;

/// A text that cannot be read, with the place where reading stopped.
///
/// Displayed over several lines: what was expected, the input on one line with
/// the place underlined, and a hint where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(Box<Details>);

/// Boxed, because results are passed around far more often than errors.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    subject: &'static str,
    input: String,
    span: Range<usize>,
    message: String,
    label: String,
    hint: Option<String>,
}

impl SyntaxError {
    pub(super) fn new(
        subject: &'static str,
        input: &str,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        SyntaxError(Box::new(Details {
            subject,
            input: input.to_owned(),
            span,
            message: message.into(),
            label: label.into(),
            hint: None,
        }))
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The same complaint about a text that holds the one complained about.
    pub(super) fn within(mut self, subject: &'static str, input: &str, span: Range<usize>) -> Self {
        self.0.subject = subject;
        self.0.input = input.to_owned();
        self.0.span = span;
        self
    }

    /// The bytes of the input that are wrong; empty where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// What was expected, in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to write instead, if there is a good guess.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl std::error::Error for SyntaxError {}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details {
            subject,
            message,
            label,
            ..
        } = &*self.0;
        let (line, column, width) = excerpt(&self.0.input, &self.0.span);
        writeln!(f, "cannot read this {subject}: {message}")?;
        writeln!(f, "  | {line}")?;
        let (indent, carets) = (" ".repeat(column), "^".repeat(width));
        write!(f, "  | {indent}{carets} {label}")?;
        match &self.0.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// The part of the input to show, and column and width of the place in it, all
/// counted in characters.
fn excerpt(input: &str, span: &Range<usize>) -> (String, usize, usize) {
    let count = |range: Range<usize>| input.get(range).map_or(0, |part| part.chars().count());
    let (total, start, width) = (
        count(0..input.len()),
        count(0..span.start),
        count(span.clone()),
    );
    let first = match total > WIDEST {
        true => start.saturating_sub(BEFORE),
        false => 0,
    };
    let shown = (total - first).min(WIDEST);
    let column = start - first;
    let lead = if first > 0 { "…" } else { "" };
    let trail = if first + shown < total { "…" } else { "" };
    let middle: String = input
        .chars()
        .skip(first)
        .take(shown)
        .map(printable)
        .collect();
    let width = width.min(shown - column).max(1);
    (
        format!("{lead}{middle}{trail}"),
        column + lead.chars().count(),
        width,
    )
}

/// One column for every character, so that the caret stands under its place.
fn printable(c: char) -> char {
    if c.is_control() || c.is_whitespace() {
        ' '
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(input: &str, span: Range<usize>) -> String {
        SyntaxError::new("mode", input, span, "expected better", "bad").to_string()
    }

    #[test]
    fn the_place_is_underlined_whatever_comes_before_it() {
        let cases = [
            ("a b c", 2..3, "  | a b c\n  |   ^ bad"),
            ("a bcd", 2..5, "  | a bcd\n  |   ^^^ bad"),
            ("é→ x", 6..7, "  | é→ x\n  |    ^ bad"),
            ("a\nb", 2..3, "  | a b\n  |   ^ bad"),
            ("ab", 2..2, "  | ab\n  |   ^ bad"),
            ("", 0..0, "  | \n  | ^ bad"),
        ];
        for (input, span, shown) in cases {
            let text = show(input, span);
            assert_eq!(
                text,
                format!("cannot read this mode: expected better\n{shown}")
            );
        }
    }

    #[test]
    fn a_long_input_is_cut_around_the_place() {
        let input = format!("{}!{}", "x".repeat(500), "y".repeat(500));
        let text = show(&input, 500..1001);
        let lines: Vec<&str> = text.lines().collect();
        let caret = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().nth(caret), Some('!'));
        assert!(lines.iter().all(|line| line.chars().count() < WIDEST + 20));
        assert!(lines[1].starts_with("  | …x") && lines[1].ends_with("y…"));
    }

    #[test]
    fn the_hint_comes_last() {
        let error = SyntaxError::new("mode", "x", 0..1, "m", "l").with_hint("try y");
        assert!(error.to_string().ends_with("\nhint: try y"));
    }
}
