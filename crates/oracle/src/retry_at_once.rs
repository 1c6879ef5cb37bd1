//! A broken connection is met with the same call at once: a fallback that
//! goes to the server that just failed.
//!
//! Owns how soon is at once. Asking again on a fresh connection is good
//! practice where an idle one was closed, so it is a remark and no failure;
//! but where a server is down, whoever asks it again without a pause only adds
//! to its load, and what was meant as a fallback is none. Known only where
//! calls have times.

use std::time::Duration;

use murphy_model::{BugClass, CallId, Reply};

use crate::attempts::retries;
use crate::case::Case;
use crate::complaint::Complaint;

/// Shorter than any pause that is meant as one.
const AT_ONCE: Duration = Duration::from_millis(10);

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let runs = retries(case.trace(), case.reference);
    let hasty = runs.iter().filter_map(|run| {
        let mut pairs = run.windows(2);
        pairs.find(|pair| is_hasty(case, pair[0], pair[1]))
    });
    hasty.map(|pair| complaint(case, pair[1])).collect()
}

fn is_hasty(case: &Case<'_>, first: CallId, again: CallId) -> bool {
    let broken = matches!(
        case.trace().call(first).reply,
        Some(Reply::Reset | Reply::Closed)
    );
    let ended = case.observed.detail(first).and_then(|it| it.finished);
    let next = case.observed.detail(again).map(|it| it.arrived);
    let pause = next
        .zip(ended)
        .map(|(next, ended)| next.saturating_sub(ended));
    broken && case.landed(first) && pause.is_some_and(|pause| pause < AT_ONCE)
}

fn complaint(case: &Case<'_>, again: CallId) -> Complaint {
    let (caller, callee) = (case.caller(again), case.name(again));
    let summary = format!(
        "{caller} asks {callee} again at once after the connection broke: a fallback should go elsewhere, or wait"
    );
    Complaint::new(summary, BugClass::Retry, Some(again))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    fn retried(mode: &str, pause: Option<u64>) -> Vec<Complaint> {
        let story = Story::new(vec![
            call("a GET /").during(1, 9),
            call("a GET / > b GET /x").injected(mode).during(2, 3),
            call("a GET / > b GET /x #2").during(4, 5),
        ]);
        let story = match pause {
            Some(pause) => story.ticking(pause),
            None => story,
        };
        let usual = Story::new(vec![call("a GET /"), call("a GET / > b GET /x")]);
        judged(judge, &Settings::default(), &[usual], &story)
    }

    #[test]
    fn only_a_broken_connection_met_without_a_pause_is_remarked_on() {
        let cases = [
            ("reset", Some(0), 1),
            ("close", Some(9), 1),
            ("reset", Some(10), 0),
            ("reset", None, 0),
            ("503", Some(0), 0),
            ("hang", Some(0), 0),
        ];
        for (mode, pause, expected) in cases {
            assert_eq!(retried(mode, pause).len(), expected, "{mode} {pause:?}");
        }
    }
}
