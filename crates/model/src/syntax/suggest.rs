//! "Did you mean …?": the known word nearest to a mistyped one.

/// Longer words are no typing mistakes, and comparing them costs.
const LONGEST: usize = 40;

/// The candidate that differs from `word` in few enough letters to be meant,
/// whatever the case; the first of several.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return None;
    }
    let tolerated = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters to add, drop or replace (Levenshtein), row by row.
fn distance(word: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, c) in candidate.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, w) in word.iter().enumerate() {
            let replaced = diagonal + usize::from(*w != c);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        let known = ["reset", "close", "hang", "503", "500"];
        let cases = [
            ("rest", Some("reset")),
            ("RESET", Some("reset")),
            ("hangs", Some("hang")),
            ("5O3", Some("503")),
            ("", None),
            ("explode", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1000), known), None);
    }
}
