//! A command written as one text, split into words as a shell would.
//!
//! Owns quotes and backslashes. No shell is involved when the command runs, so
//! what only a shell understands is refused rather than handed to the program
//! as a word.

use super::Span;

/// Words of their own that mean something to a shell only.
const OPERATORS: [&str; 11] = [
    "&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1", "&>",
];

/// Why a text is no command.
pub(super) struct NoCommand {
    pub(super) part: Span,
    pub(super) message: String,
    pub(super) label: &'static str,
    pub(super) hint: String,
}

/// The words of a command line.
pub(super) fn split(text: &str) -> Result<Vec<String>, NoCommand> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some(&(start, c)) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        let mut word = String::new();
        let mut end = start;
        while let Some(&(at, c)) = chars.peek() {
            if c.is_whitespace() {
                break;
            }
            chars.next();
            end = at + c.len_utf8();
            match c {
                '\'' | '"' => end = quoted(&mut chars, c, &mut word).ok_or(at).map_err(open)?,
                '\\' => {
                    let (at, escaped) = chars.next().ok_or(at).map_err(open)?;
                    end = at + escaped.len_utf8();
                    word.push(escaped);
                }
                c => word.push(c),
            }
        }
        let part = start..end;
        check(&text[part.clone()], part, words.is_empty(), text)?;
        words.push(word);
    }
    Ok(words)
}

type Chars<'t> = std::iter::Peekable<std::str::CharIndices<'t>>;

/// Reads up to the closing quote and returns where it ended; `None` if it is
/// never closed.
fn quoted(chars: &mut Chars<'_>, quote: char, word: &mut String) -> Option<usize> {
    loop {
        match chars.next()? {
            (at, c) if c == quote => return Some(at + 1),
            (_, '\\') if quote == '"' => match chars.next()?.1 {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            (_, c) => word.push(c),
        }
    }
}

fn open(at: usize) -> NoCommand {
    NoCommand {
        part: at..at + 1,
        message: "a quote is not closed".to_owned(),
        label: "opened here",
        hint: "close it, or write the command as a list of words: [\"program\", \"argument\"]"
            .to_owned(),
    }
}

/// Refuses a word, as it is written, that only a shell would understand.
fn check(written: &str, part: Span, first: bool, text: &str) -> Result<(), NoCommand> {
    if OPERATORS.contains(&written) || (written.ends_with(';') && !written.ends_with("\\;")) {
        return Err(NoCommand {
            part,
            message: "no shell is involved in running commands".to_owned(),
            label: "only a shell understands this",
            hint: format!("ask for one: [\"sh\", \"-c\", {text:?}]"),
        });
    }
    if first && is_assignment(written) {
        return Err(NoCommand {
            part,
            message: "no shell is involved in running commands".to_owned(),
            label: "taken for the program to run",
            hint: "set variables with `env = { NAME = \"value\" }`".to_owned(),
        });
    }
    Ok(())
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        let cases: [(&str, &[&str]); 8] = [
            ("pytest -q tests", &["pytest", "-q", "tests"]),
            ("  a\t b\n", &["a", "b"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            (r#"a b"c"'d'"#, &["a", "bcd"]),
            (r#"a "say \"hi\" \n" '\'"#, &["a", r#"say "hi" \n"#, "\\"]),
            (r"a b\ c \'", &["a", "b c", "'"]),
            ("a '' x=1", &["a", "", "x=1"]),
            ("", &[]),
        ];
        for (text, wanted) in cases {
            assert_eq!(split(text).ok().unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_refused_unless_quoted() {
        let cases = [
            ("a 'b", "'"),
            ("a \\", "\\"),
            ("a && b", "&&"),
            ("a; b", "a;"),
            ("a | b", "|"),
            ("X=1 a", "X=1"),
        ];
        for (text, wrong) in cases {
            let refused = split(text).unwrap_err();
            assert_eq!(&text[refused.part], wrong, "{text}");
        }
        assert_eq!(split("a '&&' \\;").ok().unwrap(), ["a", "&&", ";"]);
    }
}
