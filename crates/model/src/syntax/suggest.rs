//! "Did you mean …?": the known word nearest to a mistyped one.

use strsim::levenshtein;

/// Longer words are no typing mistakes, and comparing them costs.
const LONGEST: usize = 40;

/// The candidate that differs from `word` in few enough letters to be meant,
/// whatever the case; the first of several.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let tolerated = (length / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// All candidates, those that differ from `word` in the fewest letters first.
pub fn nearest_first<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Vec<&'c str> {
    let word: String = word.to_lowercase().chars().take(LONGEST).collect();
    let mut all: Vec<&str> = candidates.into_iter().collect();
    all.sort_by_cached_key(|candidate| levenshtein(&word, &candidate.to_lowercase()));
    all
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

    #[test]
    fn the_nearest_come_first_and_none_is_left_out() {
        let known = ["M-77aa01", "M-9b6263", "M-9b7263"];
        assert_eq!(
            nearest_first("M-9b7264", known),
            ["M-9b7263", "M-9b6263", "M-77aa01"]
        );
    }
}
