//! What is left out when the bodies of answers are compared.
//!
//! Owns the masks, by what was asked for: a field that differs from one run
//! without faults to the next says nothing about a fault. Which fields those
//! are is found out by the campaign.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{PayloadHash, Place, Point};

/// What is left out of the answers of one interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMask {
    /// JSON fields of these names, wherever they occur.
    Fields(Vec<String>),
    /// All of it: bodies differ in more than single fields.
    Everything,
}

/// What is left out of answers, by what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnswerMasks(BTreeMap<Place, AnswerMask>);

impl AnswerMasks {
    /// These masks.
    pub fn new(masks: impl IntoIterator<Item = (Place, AnswerMask)>) -> Self {
        AnswerMasks(masks.into_iter().collect())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Place, &AnswerMask)> {
        self.0.iter()
    }

    /// What tells the body of an answer to the call at `point` from others;
    /// `None` where bodies say nothing.
    pub fn hash(&self, point: &Point, body: &[u8]) -> Option<PayloadHash> {
        if self.0.is_empty() {
            return Some(PayloadHash::of_answer(body, &[]));
        }
        match self.0.get(&Place::of(point)) {
            None => Some(PayloadHash::of_answer(body, &[])),
            Some(AnswerMask::Fields(fields)) => Some(PayloadHash::of_answer(body, fields)),
            Some(AnswerMask::Everything) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_fields_make_no_difference_and_others_do() {
        let point: Point = "a GET / > b GET /x".parse().unwrap();
        let other: Point = "a GET / > b GET /y".parse().unwrap();
        let mask = AnswerMask::Fields(vec!["at".to_owned()]);
        let masks = AnswerMasks::new([(Place::of(&point), mask)]);
        let hash = |at: &Point, body: &str| masks.hash(at, body.as_bytes());
        let (one, two) = (r#"{"at":1,"n":1}"#, r#"{"n":1,"at":2}"#);
        assert_eq!(hash(&point, one), hash(&point, two));
        assert_ne!(hash(&other, one), hash(&other, two));
        assert_ne!(hash(&point, one), hash(&point, r#"{"at":1,"n":2}"#));
        assert_ne!(hash(&point, ""), None, "nothing is a body, too");
    }

    #[test]
    fn bodies_that_say_nothing_are_not_compared() {
        let point: Point = "b GET /x".parse().unwrap();
        let masks = AnswerMasks::new([(Place::of(&point), AnswerMask::Everything)]);
        assert_eq!(masks.hash(&point, b"x"), None);
    }
}
