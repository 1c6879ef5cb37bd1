//! Words for a shell: commands that are printed must work when pasted.

/// The word, quoted if a POSIX shell would otherwise change it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,./:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Inside double quotes these still mean something, `!` even to history.
    match word.contains(['"', '$', '`', '\\', '!']) {
        false => format!("\"{word}\""),
        true => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_only_as_far_as_needed() {
        let cases = [
            ("500,503", "500,503"),
            ("", "\"\""),
            ("** > a GET /x = 503", "\"** > a GET /x = 503\""),
            ("a {after=\"b\"}", "'a {after=\"b\"}'"),
            ("it's $1", r"'it'\''s $1'"),
        ];
        for (word, shown) in cases {
            assert_eq!(quoted(word), shown);
        }
    }
}
