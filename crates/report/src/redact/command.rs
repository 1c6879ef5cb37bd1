//! Commands as they were typed, without the values of options that tell.
//!
//! Owns the difference between a command and a sentence about one: here the
//! word behind `--password` is the password, whatever it looks like.

use super::{MARK, field};
use crate::shell::quoted;

/// The command as one would type it, its secrets replaced by [`MARK`].
pub fn command<W: AsRef<str>>(words: &[W]) -> String {
    let shown = values_hidden(words).map(|word| match word {
        MARK => word.to_owned(),
        _ => quoted(word),
    });
    let shown: Vec<String> = shown.collect();
    super::owned(&shown.join(" "))
}

/// The same without quotes, for a line that is only read.
pub fn spoken<W: AsRef<str>>(words: &[W]) -> String {
    let shown: Vec<&str> = values_hidden(words).collect();
    super::owned(&shown.join(" "))
}

/// The words, with those behind telling options hidden.
fn values_hidden<W: AsRef<str>>(words: &[W]) -> impl Iterator<Item = &str> {
    let words = words.iter().map(AsRef::as_ref);
    words.scan(false, |hide, word| {
        let is_value = *hide && !word.starts_with('-');
        *hide = is_telling_option(word);
        Some(if is_value { MARK } else { word })
    })
}

fn is_telling_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && field::is_telling_name(name)
}

#[cfg(test)]
mod tests {
    use super::{command, spoken};

    #[test]
    fn the_word_behind_a_telling_option_is_hidden() {
        let cases: [(&[&str], &str); 5] = [
            (
                &["login", "--password", "x", "-q"],
                "login --password [redacted] -q",
            ),
            (&["login", "--password=x"], "login --password=[redacted]"),
            (
                &["login", "--token", "--verbose"],
                "login --token --verbose",
            ),
            (&["pytest", "-k", "a b"], "pytest -k \"a b\""),
            (
                &["curl", "http://a/?token=x1"],
                "curl \"http://a/?token=[redacted]\"",
            ),
        ];
        for (words, shown) in cases {
            assert_eq!(command(words), shown);
        }
        let words = ["sh", "-c", "a b", "--token", "x"];
        assert_eq!(spoken(&words), "sh -c a b --token [redacted]");
    }
}
