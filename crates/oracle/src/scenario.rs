//! The scenario's own verdict: the test that was given is the first oracle.
//!
//! Owns how its complaint is classified. Nothing is inferred: what the
//! scenario is content with is not held against the system.

use murphy_model::{BugClass, Execution, Reply, Verdict};

/// The oracle's name in findings.
pub const NAME: &str = "scenario";

/// What the scenario complained about, and the class of bug that suggests;
/// `None` if it was content.
pub fn judge(execution: &Execution) -> Option<(&str, BugClass)> {
    match &execution.verdict {
        Verdict::Failed { why } => Some((why, class(execution.trace.final_reply()))),
        Verdict::Passed | Verdict::NotExercised { .. } => None,
    }
}

/// The class by what the scenario got as its last answer.
fn class(reply: Option<Reply>) -> BugClass {
    match reply {
        None | Some(Reply::Reset | Reply::Closed | Reply::TimedOut) => BugClass::NoHandling,
        Some(Reply::Status(500..)) => BugClass::NoHandling,
        Some(reply) if reply.is_ok() => BugClass::SilentViolation,
        Some(_) => BugClass::Unclassified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_tells_the_class() {
        let cases = [
            (None, BugClass::NoHandling),
            (Some(Reply::TimedOut), BugClass::NoHandling),
            (Some(Reply::Status(500)), BugClass::NoHandling),
            (Some(Reply::Status(503)), BugClass::NoHandling),
            (Some(Reply::Status(200)), BugClass::SilentViolation),
            (Some(Reply::GrpcOk), BugClass::SilentViolation),
            (Some(Reply::Status(404)), BugClass::Unclassified),
            (Some(Reply::Broken), BugClass::Unclassified),
        ];
        for (reply, expected) in cases {
            assert_eq!(class(reply), expected, "{reply:?}");
        }
    }
}
