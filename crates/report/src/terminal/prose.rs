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

/// The same for a page whose lines are indented already, as lists, tables and
/// trees are: what is broken off a line stands below its second column.
pub fn page(text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    for line in text.lines() {
        if visible(line).count() <= width {
            writeln!(out, "{line}")?;
            continue;
        }
        let indent = below(line, width.max(NARROWEST) / 2);
        let mut words = line.split(' ');
        let mut fitting = words.next().unwrap_or_default().to_owned();
        for word in words {
            let length = visible(&fitting).count() + 1 + visible(word).count();
            let is_begun = fitting.chars().count() > indent.chars().count();
            if length > width && is_begun && !word.is_empty() {
                writeln!(out, "{}", fitting.trim_end())?;
                fitting = format!("{indent}{word}");
            } else {
                fitting = format!("{fitting} {word}");
            }
        }
        writeln!(out, "{fitting}")?;
    }
    Ok(())
}

/// What stands before the rest of a line that is broken. Branches of a tree that
/// go on below do so beside it.
fn below(line: &str, most: usize) -> String {
    let all: Vec<char> = visible(line).collect();
    let is_lead = |it: &&char| it.is_whitespace() || "│├└─".contains(**it);
    let lead = all.iter().take_while(is_lead).count();
    let columns = all[lead..].windows(2).position(|it| it == [' ', ' ']);
    let column = columns.map(|at| {
        let spaces = all[lead + at..].iter().take_while(|it| **it == ' ');
        lead + at + spaces.count()
    });
    let indent = column.filter(|it| *it <= most).unwrap_or(lead + 2);
    let branch = |it: &char| match it {
        '│' | '├' => '│',
        _ => ' ',
    };
    let branches: String = all[..lead].iter().map(branch).collect();
    branches + &" ".repeat(indent - lead)
}

/// The characters that take room: colours take none.
fn visible(line: &str) -> impl Iterator<Item = char> {
    let mut is_colour = false;
    line.chars().filter(move |it| {
        let was_colour = is_colour;
        is_colour = *it == '\u{1b}' || (is_colour && *it != 'm');
        !is_colour && !was_colour
    })
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

    #[test]
    fn what_is_broken_off_a_page_stands_below_its_second_column() {
        let text = "\
Calls of this scenario
  cart  up (its port accepts connections), started
  shop GET /buy  200  by the test
  \u{1b}[2m├─\u{1b}[0m cart GET /cart  200  certain, by tracestate
  └─ pay POST /pay/accounts/main  201  certain
";
        let expected = "\
Calls of this scenario
  cart  up (its port accepts
        connections), started
  shop GET /buy  200  by the test
  \u{1b}[2m├─\u{1b}[0m cart GET /cart  200  certain, by
  │    tracestate
  └─ pay POST /pay/accounts/main  201
       certain
";
        let mut out = Vec::new();
        page(text, 40, &mut out).unwrap();
        let plain = String::from_utf8(out).unwrap();
        assert_eq!(plain, expected);
    }
}
