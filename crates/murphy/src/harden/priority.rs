//! Which scenarios must not fail.
//!
//! Owns what high priority means: named as such, or among the most frequent.
//! FastFI ranks requests by how often they are seen and covers all that brings
//! the high ones down; where to draw the line it leaves open, and so does
//! this: [`MOST`] is a rule of thumb. Frequencies decide nothing else; what is
//! not of high priority counts alike, as in its equation 5.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use murphy_config::{FilePlace, Usage};

/// The most frequent scenarios are of high priority until they make up this
/// share of all requests: four fifths.
const MOST: (u128, u128) = (4, 5);

/// The fewest scenarios that make up four fifths of all requests; of equally
/// frequent ones those first by name.
pub fn most_frequent(counts: &BTreeMap<String, u64>) -> Vec<String> {
    let total: u128 = counts.values().map(|count| u128::from(*count)).sum();
    let mut by_count: Vec<(&String, &u64)> = counts.iter().filter(|(_, n)| **n > 0).collect();
    by_count.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut sum = 0;
    let before = |(name, count): (&String, &u64)| {
        let enough = sum * MOST.1 >= total * MOST.0;
        sum += u128::from(*count);
        (!enough).then(|| name.clone())
    };
    by_count.into_iter().map_while(before).collect()
}

/// How often each scenario is asked for, by a file that was typed.
pub fn read_frequencies(path: &Path) -> Result<BTreeMap<String, u64>, Usage> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        Usage::new(format!("cannot read `{file}`: {error}"))
            .at("--frequency", &file, &file, "a file is expected")
            .hint("write a file with lines of a scenario and how often it is asked for: `checkout 1200`")
    })?;
    counts(&file, &text)
}

/// Lines of a name and a number; blank ones and those with `#` in front say
/// nothing, and a name that comes twice is asked for by both.
fn counts(file: &str, text: &str) -> Result<BTreeMap<String, u64>, Usage> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let parts = words.rsplit_once(char::is_whitespace);
        let parts = parts.and_then(|(name, count)| Some((name.trim(), count.parse().ok()?)));
        let Some((name, count)) = parts else {
            let place = FilePlace {
                file,
                text,
                span,
                label: "a scenario and a whole number are expected".to_owned(),
            };
            return Err(
                Usage::new("a line says not how often a scenario is asked for")
                    .in_file(place)
                    .hint("write for example `checkout 1200`"),
            );
        };
        let sum: &mut u64 = counts.entry(name.to_owned()).or_default();
        *sum = sum.saturating_add(count);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Counts<'c> = &'c [(&'c str, u64)];

    fn most(counts: Counts<'_>) -> Vec<String> {
        let counts = counts.iter().map(|(name, n)| ((*name).to_owned(), *n));
        most_frequent(&counts.collect())
    }

    #[test]
    fn the_most_frequent_make_up_four_fifths_of_all_requests() {
        let cases: [(Counts<'_>, &[&str]); 6] = [
            (&[], &[]),
            (&[("a", 0)], &[]),
            (&[("a", 79), ("b", 11), ("c", 10)], &["a", "b"]),
            (&[("a", 10), ("b", 80), ("c", 10)], &["b"]),
            // Nobody stands out: by name.
            (
                &[("c", 1), ("b", 1), ("a", 1), ("d", 1), ("e", 1)],
                &["a", "b", "c", "d"],
            ),
            (&[("a", u64::MAX), ("b", u64::MAX)], &["a", "b"]),
        ];
        for (counts, names) in cases {
            assert_eq!(most(counts), names, "{counts:?}");
        }
    }

    #[test]
    fn lines_of_a_name_and_a_number_are_read() {
        let read = counts("f", "# traffic\n\nbuy 12\r\nlook around\t7\nbuy 3").unwrap();
        let expected = [("buy".to_owned(), 15), ("look around".to_owned(), 7)];
        assert_eq!(read, expected.into());
        for (text, place) in [
            ("buy 1\n12 buy\n", "f:2:1"),
            ("buy", "f:1:1"),
            ("buy -1", "f:1:1"),
        ] {
            let refused = counts("f", text).unwrap_err().to_string();
            assert!(refused.contains(place), "{refused}");
        }
    }
}
