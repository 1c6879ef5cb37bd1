//! Usage errors: the place, the expectation, the fact and the way out.
//!
//! Owns how they look. What is wrong is decided where the argument is
//! understood.

use std::fmt;
use std::ops::Range;

use murphy_model::{SyntaxError, underlined};

/// Arguments that make no sense.
#[derive(Debug)]
pub struct Usage {
    message: String,
    /// Where, as it is shown.
    place: Option<String>,
    hint: Option<String>,
}

/// A part of a file.
pub struct FilePlace<'f> {
    /// How the file is called.
    pub file: &'f str,
    /// All that stands in it.
    pub text: &'f str,
    /// The bytes that are wrong.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub label: String,
}

impl Usage {
    /// What is wrong, in one line.
    pub fn new(message: impl Into<String>) -> Self {
        Usage {
            message: message.into(),
            place: None,
            hint: None,
        }
    }

    /// Points at `part` of the value of an argument.
    pub fn at(self, argument: &str, value: &str, part: &str, label: impl Into<String>) -> Self {
        let line = format!("{argument} {value}");
        let start = argument.len() + 1 + value.find(part).unwrap_or(0);
        let span = start..start + part.len();
        Usage {
            place: Some(underlined(&line, &span, " ", &label.into())),
            ..self
        }
    }

    /// Points at a part of a file; of several lines at the first.
    pub fn in_file(self, at: FilePlace<'_>) -> Self {
        let FilePlace { file, text, .. } = at;
        let start = at.span.start.min(text.len());
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..].lines().next().unwrap_or("");
        let span = start - line_start..at.span.end.saturating_sub(line_start);
        let number = (before.matches('\n').count() + 1).to_string();
        let column = before[line_start..].chars().count() + 1;
        let indent = " ".repeat(number.len());
        let shown = underlined(line, &span, &number, &at.label);
        Usage {
            place: Some(format!("{indent}--> {file}:{number}:{column}\n{shown}")),
            ..self
        }
    }

    /// The same where there is no place to look at.
    pub fn without_place(self) -> Self {
        Usage {
            place: None,
            ..self
        }
    }

    /// The way out.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Usage {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The value of an argument that cannot be read.
    pub fn syntax(argument: &str, error: &SyntaxError) -> Self {
        Usage::new(format!("{argument}: {error}"))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\n{place}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        let label = "here".to_owned();
        let file = "murphy.toml";
        let place = FilePlace {
            file,
            text,
            span,
            label,
        };
        Usage::new("no").in_file(place).to_string()
    }

    #[test]
    fn a_place_in_a_file_is_shown_with_its_line() {
        let cases = [
            (
                "a\nb = 1\nc",
                6..7,
                "no\n --> murphy.toml:2:5\n2 | b = 1\n  |     ^ here",
            ),
            (
                "é = 1",
                5..6,
                "no\n --> murphy.toml:1:5\n1 | é = 1\n  |     ^ here",
            ),
            (
                "a = [\n1]",
                4..8,
                "no\n --> murphy.toml:1:5\n1 | a = [\n  |     ^ here",
            ),
            ("a\n", 2..2, "no\n --> murphy.toml:2:1\n2 | \n  | ^ here"),
            (
                "\ta\r\n",
                1..2,
                "no\n --> murphy.toml:1:2\n1 |  a\n  |  ^ here",
            ),
            ("a", 7..9, "no\n --> murphy.toml:1:2\n1 | a\n  |  ^ here"),
        ];
        for (text, span, wanted) in cases {
            assert_eq!(shown(text, span), wanted, "{text:?}");
        }
    }
}
