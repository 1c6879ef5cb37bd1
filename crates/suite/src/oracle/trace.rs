//! What the calls of an execution say, compared with those of the reference.

use murphy_model::Reply;

use super::Evidence;
use crate::attempt::Attempt;
use crate::cloud_call::CallOutcome;
use crate::reference::change;
use crate::site::TestPhase;

/// O6: whether the caller got another answer than the one that was lost.
pub(super) fn answers_differ(evidence: &Evidence<'_>) -> bool {
    let mut attempts = evidence.attempts();
    let (Some(first), Some(last)) = (attempts.next(), attempts.next_back()) else {
        return false;
    };
    let (Some(lost), Some(end)) = (first.end.as_ref().and_then(|end| end.lost), &last.end) else {
        return false;
    };
    // What the service made up for its work (the id of a message, of an upload)
    // differs from run to run, too: that it differs here is what counts.
    let bodies_differ = match (lost.body, end.body) {
        (Some(lost), Some(delivered)) => lost != delivered,
        _ => false,
    };
    let is_masked = evidence.outcome() == CallOutcome::Masked;
    is_masked && (end.reply != Reply::Status(lost.status) || bodies_differ)
}

/// The attempts of other calls after the last one of this call, as long as the
/// test is at it.
fn later<'e>(evidence: &Evidence<'e>) -> impl Iterator<Item = (usize, &'e Attempt)> {
    let record = &evidence.run.record;
    let place = evidence.place;
    let last = record.calls[place].attempts.last();
    let after = last.map_or(0, |last| last.0 as usize + 1);
    let attempts = record.attempts.iter().skip(after);
    let of_others = attempts.filter(move |attempt| {
        let phase = record.calls[attempt.call].phase;
        let is_at_it = matches!(phase, TestPhase::Call | TestPhase::SetupFunction);
        attempt.call != place && is_at_it
    });
    of_others.map(|attempt| (attempt.call, attempt))
}

/// Whether a service refuses a later call that it does not refuse without faults.
pub(super) fn has_later_error(evidence: &Evidence<'_>) -> bool {
    let record = &evidence.run.record;
    later(evidence).any(|(call, attempt)| {
        let status = attempt.status().filter(|status| *status >= 400);
        let is_known = |status| {
            let site = record.calls[call].site.clone();
            evidence.reference.errors.contains(&(site, status))
        };
        status.is_some_and(|status| !is_known(status))
    })
}

/// O7: whether something is written later that is not written without faults.
///
/// Where writes differ from run to run anyway, only one to the very resource
/// that could not be read counts.
pub(super) fn changes_differ(evidence: &Evidence<'_>) -> bool {
    let reference = evidence.reference;
    let read = evidence
        .attempts()
        .next()
        .filter(|first| !first.is_mutating());
    later(evidence)
        .filter(|(_, attempt)| attempt.is_mutating())
        .filter(|(_, attempt)| !reference.changes.contains(&change(attempt)))
        .any(|(_, attempt)| {
            // Under a new name every time, but with what is written without faults.
            let is_usual = reference
                .changes
                .iter()
                .any(|(method, .., body)| *method == attempt.method && *body == attempt.body_hash);
            let is_same_path = read.is_some_and(|read| read.path == attempt.path);
            let is_of_read = is_same_path && !is_usual;
            let key = (attempt.method.clone(), attempt.path.clone());
            let is_known = reference
                .changes
                .iter()
                .any(|(method, path, ..)| (method, path) == (&key.0, &key.1));
            let is_volatile = match is_known {
                true => reference.volatile_paths.contains(&key),
                // New names every time: another one says nothing.
                false => !reference.volatile_paths.is_empty(),
            };
            is_of_read || !is_volatile
        })
}
