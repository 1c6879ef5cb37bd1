//! The finding that is meant by what was typed.
//!
//! Owns that the beginning of a name is enough, with or without its `M-`, as
//! long as it means one finding; and what is said where it does not. Where the
//! names come from (replay files, a campaign, a baseline) is for others.

use std::collections::BTreeSet;

use murphy_model::nearest_first;

/// More names than this are not read.
const MOST_NAMED: usize = 5;

/// A name that does not mean one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// Several begin so: these.
    Ambiguous(Vec<String>),
    /// None begins so.
    Unknown {
        /// Those that look most like it.
        nearest: Vec<String>,
        /// How many others there are.
        others: usize,
    },
}

impl NameError {
    /// Whether several could be meant.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, NameError::Ambiguous(_))
    }

    /// The way out; `None` where there are no findings at all.
    pub fn hint(&self) -> Option<String> {
        match self {
            NameError::Ambiguous(names) => {
                Some(format!("write more of its digits: {}", names.join(", ")))
            }
            NameError::Unknown { nearest, .. } if nearest.is_empty() => None,
            NameError::Unknown { nearest, .. } if nearest.len() == 1 => {
                Some(format!("there is only {}", nearest[0]))
            }
            NameError::Unknown { nearest, others: 0 } => {
                Some(format!("there are {}", nearest.join(", ")))
            }
            NameError::Unknown { nearest, others } => Some(format!(
                "the nearest are {}, and there are {others} more",
                nearest.join(", ")
            )),
        }
    }
}

/// The one of these names that is meant: typed in full, or the only one that
/// begins so. `M-` may be left out, and case does not matter.
pub fn find_name<'k>(
    typed: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Result<&'k str, NameError> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    let typed = typed.trim().to_lowercase();
    let with_mark = format!("m-{typed}");
    let begins = |name: &&&str| {
        let name = name.to_lowercase();
        name.starts_with(&typed) || name.starts_with(&with_mark)
    };
    // Of nothing, everything is the beginning.
    let is_name = !typed.is_empty() && typed != "m-" && typed != "m";
    let found: Vec<&str> = known.iter().filter(begins).copied().collect();
    let is_whole = |name: &&&str| {
        let name = name.to_lowercase();
        name == typed || name == with_mark
    };
    match (found.iter().find(is_whole), &found[..]) {
        (Some(whole), _) => Ok(whole),
        (None, [only]) if is_name => Ok(only),
        (None, several) if several.len() > 1 => Err(NameError::Ambiguous(owned(several))),
        _ => {
            let nearest = nearest_first(&typed, known.iter().copied());
            let (named, others) = nearest.split_at(nearest.len().min(MOST_NAMED));
            Err(NameError::Unknown {
                nearest: owned(named),
                others: others.len(),
            })
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["M-77aa01", "M-9b6263", "M-9b7211", "M-9b72118"];

    #[test]
    fn the_beginning_of_a_name_is_enough() {
        let cases = [
            ("M-77aa01", "M-77aa01"),
            ("M-7", "M-77aa01"),
            ("77", "M-77aa01"),
            ("m-9B62", "M-9b6263"),
            ("9b72118", "M-9b72118"),
            // A whole name is never the beginning of another.
            ("M-9b7211", "M-9b7211"),
            ("9b7211", "M-9b7211"),
        ];
        for (typed, meant) in cases {
            assert_eq!(find_name(typed, KNOWN), Ok(meant), "{typed}");
        }
    }

    #[test]
    fn what_means_several_names_them() {
        let error = find_name("9b", KNOWN).unwrap_err();
        assert!(error.is_ambiguous());
        assert_eq!(
            error.hint().unwrap(),
            "write more of its digits: M-9b6263, M-9b7211, M-9b72118"
        );
    }

    #[test]
    fn what_means_none_names_the_nearest() {
        let error = find_name("M-9b6264", KNOWN).unwrap_err();
        let hint = error.hint().unwrap();
        assert!(hint.starts_with("there are M-9b6263, "), "{hint}");
        let many: Vec<String> = (0..9).map(|n| format!("M-{n}00000")).collect();
        let error = find_name("x", many.iter().map(String::as_str)).unwrap_err();
        assert!(error.hint().unwrap().ends_with("and there are 4 more"));
        assert_eq!(find_name("x", []).unwrap_err().hint(), None);
        for nothing in ["", " ", "M-"] {
            assert!(find_name(nothing, ["M-77aa01"]).is_err(), "{nothing:?}");
        }
    }
}
