//! Texts of others in Markdown: shown as they are, whatever they hold.
//!
//! Secrets are taken out here too: nothing of a system under test gets into a
//! summary by another way.

use crate::{redact, unseen};

/// Longer lines are cut: one of a megabyte would be all that is shown.
const LONGEST: usize = 1_000;

/// Text on one line, in a paragraph or a cell.
pub(crate) fn text(text: &str) -> String {
    let mut escaped = String::new();
    for c in cut(&clean(text.trim())).chars() {
        match c {
            '\n' => escaped.push_str("<br>"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Code within a line.
pub(crate) fn code(code: &str) -> String {
    let clean = clean(code).replace('\n', " ");
    let fence = "`".repeat(longest_run(&clean) + 1);
    // One blank on either side is taken off again by the reader.
    let pad = match clean.starts_with('`') || clean.ends_with('`') || clean.trim().is_empty() {
        true => " ",
        false => "",
    };
    format!("{fence}{pad}{clean}{pad}{fence}")
}

/// Code in a cell of a table, where a bar ends the cell even in code.
pub(crate) fn cell_code(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// A block of lines, as they are.
pub(crate) fn block(lines: &str) -> String {
    let clean = cut(&clean(lines.trim_end()));
    let fence = "`".repeat((longest_run(&clean) + 1).max(3));
    format!("{fence}text\n{clean}\n{fence}")
}

/// The text without secrets, colours and characters that cannot be seen.
fn clean(text: &str) -> String {
    let plain = redact::plain(text);
    let seen = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let clean: String = redact::text(&plain).chars().filter(seen).collect();
    unseen::escaped(&clean).into_owned()
}

/// The text with its long lines cut; after secrets are out of it, which in
/// parts might not be known any more.
fn cut(text: &str) -> String {
    let cut = |line: &str| match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    let lines: Vec<String> = text.split('\n').map(cut).collect();
    lines.join("\n")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let others = |c: char| c != '`';
    text.split(others).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_others_wrote_is_taken_for_markup() {
        let cases = [
            ("a | b", r"a \| b"),
            (
                "`x` *y* _z_ [l](u) ~s~",
                r"\`x\` \*y\* \_z\_ \[l\](u) \~s\~",
            ),
            ("<img src=x> & \\", "&lt;img src=x&gt; &amp; \\\\"),
            ("two\nlines\n", "two<br>lines"),
            ("token=abc123", r"token=\[redacted\]"),
        ];
        for (plain, escaped) in cases {
            assert_eq!(text(plain), escaped);
        }
    }

    #[test]
    fn code_is_fenced_by_more_than_it_holds() {
        let cases = [
            ("a = 503", "`a = 503`"),
            ("a ` b", "``a ` b``"),
            ("`a`", "`` `a` ``"),
            ("a ``` b", "````a ``` b````"),
            ("a\nb", "`a b`"),
        ];
        for (plain, fenced) in cases {
            assert_eq!(code(plain), fenced);
        }
        assert_eq!(cell_code("a | b"), r"`a \| b`");
        assert_eq!(block("x\n```\ny\n"), "````text\nx\n```\ny\n````");
        assert_eq!(block("x"), "```text\nx\n```");
    }
}
