//! Sentences, broken where the terminal ends.

use std::io::{self, Write};

/// Narrower than this, breaking lines makes nothing easier to read.
const NARROWEST: usize = 40;

/// Writes a text with every line indented, broken between words so that none
/// is wider than `width`. A word that is longer has a line of its own: it may be
/// a path or a command, which must stay whole to be copied.
pub(super) fn prose(text: &str, indent: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let room = width.max(NARROWEST).saturating_sub(indent.chars().count());
    if text.chars().count() <= room {
        return writeln!(out, "{indent}{text}");
    }
    let mut line = String::new();
    for word in text.split(' ') {
        let fits = line.chars().count() + 1 + word.chars().count() <= room;
        if !line.is_empty() && !fits {
            writeln!(out, "{indent}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{indent}{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, width: usize) -> String {
        let mut out = Vec::new();
        prose(text, "  ", width, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_broken_between_words_and_words_are_not() {
        let text = "the request was answered with 500, and a_very_long_name_that_does_not_fit_anywhere_at_all ends it";
        let expected = "  the request was answered with 500, and\n  a_very_long_name_that_does_not_fit_anywhere_at_all\n  ends it\n";
        assert_eq!(broken(text, 40), expected);
        assert_eq!(broken(text, usize::MAX), format!("  {text}\n"));
        assert_eq!(broken("", 80), "  \n");
    }
}
