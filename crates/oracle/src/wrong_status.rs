//! Wrong status: a callee's 503, 504 or 429 handed on as one's own answer.
//!
//! Owns what "handed on" means: a service that was reached and ran answers its
//! caller with the very status that a call of its got, and so on up to the
//! scenario. Each of these statuses says that the one who answers is
//! unavailable, slow or overloaded, which is not true of it; clients and load
//! balancers act on that. An error that was turned into one of them is a
//! decision and no complaint.

use murphy_model::{BugClass, CallId, Reply};

use crate::case::Case;
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let entries = case.trace().entries();
    entries.filter_map(|entry| handed_on(case, entry)).collect()
}

/// Follows the status from an entry call down to where it came from.
fn handed_on(case: &Case<'_>, entry: CallId) -> Option<Complaint> {
    let trace = case.trace();
    let reply = trace.call(entry).reply.filter(is_about_oneself)?;
    let same_below = |id: CallId| {
        let mut below = trace.children(Some(id));
        below.find(|child| trace.call(*child).reply == Some(reply))
    };
    let mut source = same_below(entry)?;
    while !case.landed(source) {
        source = same_below(source)?;
    }
    let (caller, callee) = (case.caller(source), case.name(source));
    Some(Complaint::new(
        format!("{caller} answers {reply} because {callee} did, although it ran itself"),
        BugClass::NoHandling,
        Some(source),
    ))
}

/// Whether the status says something about whoever sends it.
fn is_about_oneself(reply: &Reply) -> bool {
    match reply {
        Reply::Status(status) => [429, 503, 504].contains(status),
        Reply::Grpc(code) => {
            ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"].contains(&code.name())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn only_a_status_that_came_from_below_is_handed_on() {
        let story = |a: &str, b: &str, mode: &str| {
            Story::new(vec![
                call("a GET /").answers(a),
                call("a GET / > b GET /").answers(b),
                call("a GET / > b GET / > c GET /").struck(mode),
            ])
        };
        let cases = [
            ("handed on twice", story("503", "503", "503"), 1),
            ("overload", story("429", "429", "429"), 1),
            (
                "over gRPC",
                story("UNAVAILABLE", "UNAVAILABLE", "grpc:UNAVAILABLE"),
                1,
            ),
            ("turned into 503 below", story("503", "503", "500"), 0),
            ("turned into another error", story("502", "503", "503"), 0),
            ("made up for", story("200", "503", "503"), 0),
            ("a status about the work", story("500", "500", "500"), 0),
        ];
        for (name, story, expected) in cases {
            let said = judged(judge, &Settings::default(), &[], &story);
            assert_eq!(said.len(), expected, "{name}: {said:?}");
        }
        let said = judged(
            judge,
            &Settings::default(),
            &[],
            &story("503", "503", "503"),
        );
        assert_eq!(
            said[0].summary,
            "`b` answers 503 because `c GET /` did, although it ran itself"
        );
    }
}
