//! `.env` files: one `NAME=value` a line.
//!
//! Owns how they are read, and no more of their dialects than addresses need:
//! comments, `export`, quotes. Values that go on over several lines are keys
//! and certificates, and lead nowhere.

/// A variable of such a file, with its line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its line, from 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// Its value, without quotes.
    pub value: String,
}

/// Whether a file is one of them: `.env`, `.env.example`, `shop.env`.
pub fn is_one(name: &str) -> bool {
    name == ".env" || name.starts_with(".env.") || name.ends_with(".env")
}

/// The variables of a file.
pub fn read(text: &str) -> Vec<Entry> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(at, line)| entry(at + 1, line)).collect()
}

fn entry(line: usize, text: &str) -> Option<Entry> {
    let text = text.trim();
    let text = text.strip_prefix("export ").unwrap_or(text).trim_start();
    let (name, value) = text.split_once('=')?;
    let name = name.trim_end();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    Some(Entry {
        line,
        name: name.to_owned(),
        value: unquoted(value.trim()).to_owned(),
    })
}

/// A value without its quotes, or without the comment behind it.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or_default();
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_with_their_lines() {
        let text = "# where\n\nCART_URL=http://localhost:5001 # the cart\nexport A = 'b c'\nE=\n\
                    not a variable\nQ=\"x # y\"\n";
        let found: Vec<_> = read(text)
            .into_iter()
            .map(|it| (it.line, it.name, it.value))
            .collect();
        let expected = [
            (3, "CART_URL", "http://localhost:5001"),
            (4, "A", "b c"),
            (5, "E", ""),
            (7, "Q", "x # y"),
        ];
        let expected = expected.map(|(line, name, value)| (line, name.into(), value.into()));
        assert_eq!(found, expected);
    }
}
