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
