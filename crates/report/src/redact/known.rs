//! Values that are secret because of the variable they are in.
//!
//! Owns which variables tell. What is in them is hidden wherever it is printed,
//! in whatever form; that holds for the whole process, since everything that it
//! writes must know.

use std::ops::Range;
use std::sync::{Arc, RwLock};

use super::{MARK, field};

/// Shorter values are parts of ordinary words.
const SHORTEST: usize = 6;

static VALUES: RwLock<Option<Arc<Vec<String>>>> = RwLock::new(None);

/// Hides the values of those of these variables whose names tell that they are
/// secret, wherever they appear from now on.
pub fn hide_values_of(variables: impl IntoIterator<Item = (String, String)>) {
    let tell = variables.into_iter().filter(|(name, _)| tells(name));
    let values = tell.map(|(_, value)| value.trim().to_owned());
    let values = values.filter(|value| value.len() >= SHORTEST && !MARK.contains(value.as_str()));
    let mut all = VALUES.write().unwrap_or_else(|e| e.into_inner());
    let mut more = all.as_deref().cloned().unwrap_or_default();
    more.extend(values);
    // Where one begins with another, the longer one must go first.
    more.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    more.dedup();
    *all = Some(Arc::new(more));
}

/// A desktop's session is a name, and what is kept in a file is not in the
/// variable.
fn tells(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    field::is_telling_name(name) && !upper.ends_with("SESSION")
}

/// What is hidden now.
pub(super) fn values() -> Option<Arc<Vec<String>>> {
    VALUES.read().unwrap_or_else(|e| e.into_inner()).clone()
}

/// The value that stands at this place, if one does.
pub(super) fn at(
    values: &Option<Arc<Vec<String>>>,
    bytes: &[u8],
    at: usize,
) -> Option<Range<usize>> {
    let here = |value: &&String| bytes[at..].starts_with(value.as_bytes());
    let found = values.as_deref()?.iter().find(here)?;
    Some(at..at + found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_telling_variables_are_hidden_wherever_they_appear() {
        let variables = [
            ("KNOWN_TEST_DB_PASSWORD", "correct-horse-5"),
            ("KNOWN_TEST_API_KEY", "correct-horse-5-battery"),
            ("KNOWN_TEST_SESSION", "gnome-shell"),
            ("KNOWN_TEST_TOKEN", "abc"),
            ("KNOWN_TEST_HOME", "/home/jim-doe"),
        ];
        hide_values_of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let cases = [
            ("dsn is db/correct-horse-5@x", "dsn is db/[redacted]@x"),
            ("correct-horse-5-battery!", "[redacted]!"),
            (
                "gnome-shell abc /home/jim-doe",
                "gnome-shell abc /home/jim-doe",
            ),
        ];
        for (text, clean) in cases {
            assert_eq!(super::super::text(text), clean);
        }
    }
}
