//! Usage errors: the place, the expectation, the fact and the way out.
//!
//! Owns how they look. What is wrong is decided where the argument is
//! understood.

use std::fmt;

use murphy_model::SyntaxError;

/// Arguments that make no sense.
#[derive(Debug)]
pub(crate) struct Usage {
    message: String,
    place: Option<Place>,
    hint: Option<String>,
}

/// A part of the command line.
#[derive(Debug)]
struct Place {
    line: String,
    column: usize,
    width: usize,
    label: String,
}

impl Usage {
    /// What is wrong, in one line.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Usage {
            message: message.into(),
            place: None,
            hint: None,
        }
    }

    /// Points at `part` of the value of an argument.
    pub(crate) fn at(
        self,
        argument: &str,
        value: &str,
        part: &str,
        label: impl Into<String>,
    ) -> Self {
        let line = format!("{argument} {value}");
        let offset = argument.len() + 1 + value.find(part).unwrap_or(0);
        let place = Place {
            column: line[..offset].chars().count(),
            width: part.chars().count().max(1),
            line,
            label: label.into(),
        };
        Usage {
            place: Some(place),
            ..self
        }
    }

    /// The way out.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Usage {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The value of an argument that cannot be read.
    pub(crate) fn syntax(argument: &str, error: &SyntaxError) -> Self {
        Usage::new(format!("{argument}: {error}"))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            let (indent, carets) = (" ".repeat(place.column), "^".repeat(place.width));
            write!(
                f,
                "\n  | {}\n  | {indent}{carets} {}",
                place.line, place.label
            )?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}
