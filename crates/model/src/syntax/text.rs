//! Writing words: which need quotes, and how wildcards and plain stars are
//! kept apart. The counterpart of `lexer`.

use std::fmt::{self, Write};

use crate::Text;

/// What ends a bare word besides white space, depending on where it stands.
pub(super) type Stops = &'static [char];

/// In a frame nothing does: paths may hold commas, braces and the like.
pub(super) const IN_FRAME: Stops = &[];
/// In a path, behind which a query may stand.
pub(super) const IN_PATH: Stops = &['?'];
/// In options, which are separated by `,` and closed by `}`.
pub(super) const IN_OPTIONS: Stops = &[',', '}'];
/// In the list of completed siblings, which are separated by `;`.
pub(super) const IN_SIBLINGS: Stops = &[';'];

/// Whether `text` is read as itself without quotes.
fn is_bare(text: &str, stops: Stops) -> bool {
    let special = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\' | '*') || stops.contains(&c)
    };
    !text.is_empty()
        && text != ">"
        && text != "="
        && !text.starts_with(['#', '{', ',', '^'])
        && !text.contains(special)
}

/// Writes a text without wildcards, in quotes where needed.
pub(super) fn write_literal(f: &mut impl Write, text: &str, stops: Stops) -> fmt::Result {
    match is_bare(text, stops) {
        true => f.write_str(text),
        false => write_quoted(f, text),
    }
}

/// Writes a text in quotes; always on one line.
pub(super) fn write_quoted(f: &mut impl Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            ' ' => f.write_char(' ')?,
            c if c.is_control() || c.is_whitespace() => write!(f, "{}", c.escape_unicode())?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

/// Writes a text with its wildcards. `""` keeps neighbouring wildcards apart,
/// which would otherwise be read as one.
pub(super) fn write_text(f: &mut impl Write, text: &Text, stops: Stops) -> fmt::Result {
    if let Some(literal) = text.literal() {
        return write_literal(f, literal, stops);
    }
    let last = text.pieces().len() - 1;
    for (i, piece) in text.pieces().iter().enumerate() {
        if i > 0 {
            f.write_char('*')?;
        }
        if !piece.is_empty() || (0 < i && i < last) {
            write_literal(f, piece, stops)?;
        }
    }
    Ok(())
}

/// Writes a text so that it begins with a quote, for places where it would
/// mean something else bare.
pub(super) fn write_text_quoted(f: &mut impl Write, text: &Text, stops: Stops) -> fmt::Result {
    let Some((first, rest)) = text.pieces().split_first() else {
        return Ok(());
    };
    write_quoted(f, first)?;
    if rest.is_empty() {
        return Ok(());
    }
    // What follows the first piece is a text of its own that begins with `*`.
    let rest = std::iter::once("").chain(rest.iter().map(|piece| &**piece));
    write_text(f, &Text::from_pieces(rest), stops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_would_mean_something_else_are_quoted() {
        let cases = [
            ("cart", "cart"),
            ("/users/{}/x,y=1;z", "/users/{}/x,y=1;z"),
            ("a>b", "a>b"),
            ("é", "é"),
            ("", r#""""#),
            (">", r#"">""#),
            ("=", r#""=""#),
            ("#1", r##""#1""##),
            ("{}", r#""{}""#),
            (",a", r#"",a""#),
            ("^a", r#""^a""#),
            ("*", r#""*""#),
            ("a b", r#""a b""#),
            ("a\n\u{1}\u{2028}", r#""a\n\u{1}\u{2028}""#),
            (r#"a"\b"#, r#""a\"\\b""#),
        ];
        for (text, expected) in cases {
            let mut written = String::new();
            write_literal(&mut written, text, IN_FRAME).unwrap();
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn wildcards_stand_outside_of_quotes() {
        let cases = [
            (&["", ""][..], "*", r#"""*"#),
            (&["a", ""], "a*", r#""a"*"#),
            (&["a*", "b c", ""], r#""a*"*"b c"*"#, r#""a*"*"b c"*"#),
            (&["", "", ""], r#"*""*"#, r#"""*""*"#),
            (&["a"], "a", r#""a""#),
        ];
        for (pieces, plain, quoted) in cases {
            let text = Text::from_pieces(pieces.iter().copied());
            let (mut one, mut other) = (String::new(), String::new());
            write_text(&mut one, &text, IN_FRAME).unwrap();
            write_text_quoted(&mut other, &text, IN_FRAME).unwrap();
            assert_eq!((&*one, &*other), (plain, quoted));
        }
    }
}
