//! The file itself: where it is, what stands in it, and how a place in it is
//! shown.
//!
//! Owns finding and reading. What the text means is decided elsewhere; any
//! part of Murphy that later finds fault with a setting can point at it
//! through [`File::refusal`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Span;
use crate::usage::{FilePlace, Usage};

/// What the file is called.
pub const NAME: &str = "murphy.toml";

/// A configuration file, read.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is.
    path: PathBuf,
    /// How it is called in messages.
    shown: String,
    text: String,
}

impl File {
    /// The file at `given`, or the nearest one in `directory` or above it.
    pub(super) fn open(given: Option<&Path>, directory: &Path) -> Result<Self, Usage> {
        let path = match given {
            Some(path) => directory.join(path),
            None => find(directory)?,
        };
        let shown = shown(&path, directory);
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&shown, &error))?;
        Ok(File { path, shown, text })
    }

    /// A text that is read as if it were a file.
    pub(super) fn of_text(path: &Path, text: &str) -> Self {
        File {
            path: path.to_owned(),
            shown: path.display().to_string(),
            text: text.to_owned(),
        }
    }

    /// How it is called in messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder it is in, which relative paths start from.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The line at which `span` begins.
    pub(super) fn place(&self, span: &Span) -> String {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        format!("{}:{}", self.shown, before.matches('\n').count() + 1)
    }

    /// An error about the bytes at `span`.
    pub fn refusal(
        &self,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Usage {
        Usage::new(message).in_file(FilePlace {
            file: &self.shown,
            text: &self.text,
            span: span.clone(),
            label: label.into(),
        })
    }

    /// Where `part` of a string value stands. Escapes and `${VAR}` move things
    /// around; then the whole value is the best answer.
    pub(super) fn inside(&self, whole: &Span, value: &str, part: Span) -> Span {
        let written = self.text.get(whole.clone()).unwrap_or("");
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let quote = quotes.into_iter().find(|quote| written.starts_with(quote));
        let start = quote.map_or(0, str::len);
        match written.get(start..start + value.len()) == Some(value) {
            true => whole.start + start + part.start..whole.start + start + part.end,
            false => whole.clone(),
        }
    }
}

/// Whether there is one in `directory` or above it.
pub(super) fn is_near(directory: &Path) -> bool {
    nearest(directory).is_some()
}

/// The one in `directory`, or the first above it.
pub fn nearest(directory: &Path) -> Option<PathBuf> {
    let mut above = directory.ancestors().map(|folder| folder.join(NAME));
    above.find(|path| path.is_file())
}

fn find(directory: &Path) -> Result<PathBuf, Usage> {
    nearest(directory).ok_or_else(|| {
        Usage::new(format!("there is no `{NAME}` here or in a folder above"))
            .hint("write one with `murphy init`, or name another file with `--config`")
    })
}

/// Short where that is clear.
fn shown(path: &Path, directory: &Path) -> String {
    let short = path.strip_prefix(directory).unwrap_or(path);
    short.display().to_string()
}

fn unreadable(shown: &str, error: &io::Error) -> Usage {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "write one with `murphy init`",
        io::ErrorKind::InvalidData => "TOML is always UTF-8: save it as such",
        _ => "make it a file that you may read, or name another one with `--config`",
    };
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    Usage::new(format!("cannot read `{shown}`: {why}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_value_is_found_unless_escapes_moved_it() {
        let text = r#"a = "500, 5o3""#;
        let file = File::of_text(Path::new(NAME), text);
        let part = file.inside(&(4..14), "500, 5o3", 5..8);
        assert_eq!(&text[part], "5o3");

        let escaped = File::of_text(Path::new(NAME), r#"a = "\u0035o3""#);
        assert_eq!(escaped.inside(&(4..14), "5o3", 1..2), 4..14);
    }
}
