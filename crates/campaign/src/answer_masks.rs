//! What varies in the bodies of answers without faults, and is left out when
//! they are compared.
//!
//! Owns the comparison of the references' answers, field by field, as
//! [`crate::infer_identity`] compares their requests. What a body that differs for
//! another reason means is the search's business.

use std::collections::{BTreeMap, BTreeSet};

use murphy_model::{AnswerMask, AnswerMasks, PayloadHash, Place, Trace};
use murphy_registry::Recorded;

use crate::infer_identity::{aligned, differing_fields};
use crate::reference::ResolvedIdentity;

/// Masks what differs between the answers of the references, and hashes the
/// bodies of the first of them, whose calls are `trace`, accordingly.
pub(crate) fn apply(
    chosen: &mut ResolvedIdentity,
    trace: Trace,
    references: &[&Recorded],
) -> Trace {
    let masks = inferred(&trace, references);
    for (place, mask) in &masks {
        chosen.masked.push(match mask {
            AnswerMask::Fields(fields) => {
                let fields = fields.join("`, `");
                format!("`{fields}` in the answers of {place}: differs between executions")
            }
            AnswerMask::Everything => format!(
                "the bodies of answers of {place}: they differ in more than single fields between executions, so they are compared by status"
            ),
        });
    }
    let masks = AnswerMasks::new(masks);
    let trace = match references.first() {
        Some(first) if !first.answers.is_empty() => rehashed(trace, first, &masks),
        _ => trace,
    };
    chosen.identity.answers = masks;
    trace
}

/// The names of fields that differ, by what was asked for, and whether that
/// is all that differs.
#[derive(Default)]
struct Differing {
    fields: BTreeSet<String>,
    bodies: Vec<(bytes::Bytes, bytes::Bytes)>,
}

impl Differing {
    fn mask(self) -> AnswerMask {
        let fields: Vec<String> = self.fields.into_iter().collect();
        let hash = |body: &[u8]| PayloadHash::of_answer(body, &fields);
        let masked = |(left, right): &(bytes::Bytes, bytes::Bytes)| hash(left) == hash(right);
        match self.bodies.iter().all(masked) {
            true => AnswerMask::Fields(fields),
            false => AnswerMask::Everything,
        }
    }
}

fn inferred(trace: &Trace, references: &[&Recorded]) -> BTreeMap<Place, AnswerMask> {
    let mut differing: BTreeMap<Place, Differing> = BTreeMap::new();
    let Some((first, others)) = references.split_first() else {
        return BTreeMap::new();
    };
    let answer = |of: &Recorded, at: usize| of.answers.get(at).cloned().flatten();
    for other in others {
        for (left, right) in aligned(first, other) {
            let (Some(one), Some(two)) = (answer(first, left), answer(other, right)) else {
                continue;
            };
            if PayloadHash::of_answer(&one, &[]) == PayloadHash::of_answer(&two, &[]) {
                continue;
            }
            let place = Place::of(&trace.calls()[left].point);
            let known = differing.entry(place).or_default();
            known.fields.extend(differing_fields(&one, &two));
            known.bodies.push((one, two));
        }
    }
    let masks = differing.into_iter();
    masks.map(|(place, it)| (place, it.mask())).collect()
}

fn rehashed(trace: Trace, recorded: &Recorded, masks: &AnswerMasks) -> Trace {
    let mut calls = trace.calls().to_vec();
    for (call, answer) in calls.iter_mut().zip(&recorded.answers) {
        let body = answer.as_ref();
        call.body = body.and_then(|body| masks.hash(&call.point, body));
    }
    Trace::new(calls)
}
