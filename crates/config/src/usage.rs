//! Usage errors: the place, the expectation, the fact and the way out.
//!
//! Owns how they look. What is wrong is decided where the argument is
//! understood.

use std::fmt;
use std::ops::Range;

use murphy_model::SyntaxError;

/// Arguments that make no sense.
#[derive(Debug)]
pub struct Usage {
    message: String,
    place: Option<Box<Place>>,
    hint: Option<String>,
}

/// A part of the command line or of a file.
#[derive(Debug)]
struct Place {
    origin: Option<Origin>,
    line: String,
    column: usize,
    width: usize,
    label: String,
}

/// Where in which file, both from 1.
#[derive(Debug)]
struct Origin {
    file: String,
    line: usize,
    column: usize,
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
        let offset = argument.len() + 1 + value.find(part).unwrap_or(0);
        let place = Place {
            origin: None,
            column: line[..offset].chars().count(),
            width: part.chars().count().max(1),
            line,
            label: label.into(),
        };
        Usage {
            place: Some(Box::new(place)),
            ..self
        }
    }

    /// Points at a part of a file; of several lines at the first.
    pub fn in_file(self, at: FilePlace<'_>) -> Self {
        let FilePlace {
            file, text, span, ..
        } = at;
        let start = span.start.min(text.len());
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..].lines().next().unwrap_or("");
        let rest = &line[(start - line_start).min(line.len())..];
        let marked = span.end.saturating_sub(start).min(rest.len());
        let column = before[line_start..].chars().count();
        let width = rest.get(..marked).unwrap_or(rest).chars().count().max(1);
        let origin = Origin {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
        };
        let place = Place {
            origin: Some(origin),
            ..Place::cut(line, column, width, at.label)
        };
        Usage {
            place: Some(Box::new(place)),
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

/// Longer lines are cut around the place, so that the caret stays in view.
const WIDEST: usize = 100;

/// How much of a cut line is shown before the place.
const BEFORE: usize = 40;

impl Place {
    /// A place in a line that may be of any length and hold tabs.
    fn cut(line: &str, column: usize, width: usize, label: String) -> Self {
        let total = line.chars().count();
        let skipped = match total > WIDEST {
            true => column.saturating_sub(BEFORE),
            false => 0,
        };
        let lead = if skipped > 0 { "…" } else { "" };
        let trail = if total - skipped > WIDEST { "…" } else { "" };
        let one_wide = |c: char| if c.is_control() { ' ' } else { c };
        let shown = line.chars().skip(skipped).take(WIDEST).map(one_wide);
        let shown: String = shown.collect();
        Place {
            origin: None,
            column: column - skipped + lead.chars().count(),
            width: width.min(WIDEST),
            line: format!("{lead}{shown}{trail}"),
            label,
        }
    }

    /// Where it is, and the line with carets below.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut margin = " ".to_owned();
        if let Some(Origin { file, line, column }) = &self.origin {
            margin = line.to_string();
            let indent = " ".repeat(margin.len());
            write!(f, "\n{indent}--> {file}:{line}:{column}")?;
        }
        let (indent, carets) = (" ".repeat(self.column), "^".repeat(self.width));
        let blank = " ".repeat(margin.len());
        let (line, label) = (&self.line, &self.label);
        write!(f, "\n{margin} | {line}\n{blank} | {indent}{carets} {label}")
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            place.write(f)?;
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

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}!{}", "x".repeat(500), "y".repeat(500));
        let shown = shown(&text, 500..501);
        let lines: Vec<&str> = shown.lines().collect();
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[2].chars().nth(caret), Some('!'));
        assert!(lines.iter().all(|line| line.chars().count() < WIDEST + 20));
    }
}
