//! Rules about responses: what the scenario may get, see and wait for.
//!
//! Owns the rules' meaning; there are none until someone configures them,
//! because only they know which answers are acceptable under faults.

use std::time::Duration;

use murphy_model::{BugClass, CallId, GrpcCode, Place, Reply, Verdict};

use crate::blame::unhandled;
use crate::case::Case;
use crate::complaint::Complaint;
use crate::scenario;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let status = disallowed_status(case);
    let words = forbidden_word(case);
    let time = too_long(case);
    status.into_iter().chain(words).chain(time).collect()
}

fn disallowed_status(case: &Case<'_>) -> Option<Complaint> {
    let allowed = &case.settings.response.status_classes;
    if allowed.is_empty() {
        return None;
    }
    let trace = case.trace();
    let is_refused = |id: &CallId| !allowed.contains(&status_class(trace.call(*id).reply));
    let entry = trace.entries().find(is_refused)?;
    let reply = trace.call(entry).reply;
    let said = reply.map_or("nothing".to_owned(), |reply| reply.to_string());
    let classes: Vec<String> = allowed.iter().map(|class| format!("{class}xx")).collect();
    Some(Complaint::new(
        format!(
            "{} answered {said}; allowed is {}",
            case.name(entry),
            classes.join(", ")
        ),
        scenario::class(reply),
        unhandled(trace).or(Some(entry)),
    ))
}

/// The first digit of the status, or of the one nearest to it in meaning.
fn status_class(reply: Option<Reply>) -> u8 {
    match reply {
        Some(Reply::Status(status)) => (status / 100) as u8,
        Some(Reply::GrpcOk) => 2,
        Some(Reply::Grpc(code)) if is_callers_mistake(code) => 4,
        _ => 5,
    }
}

fn is_callers_mistake(code: GrpcCode) -> bool {
    const MISTAKES: [&str; 9] = [
        "CANCELLED",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNAUTHENTICATED",
    ];
    MISTAKES.contains(&code.name())
}

fn forbidden_word(case: &Case<'_>) -> Option<Complaint> {
    let observed = case.observed;
    let complaint = match &observed.execution.verdict {
        Verdict::Failed { why } | Verdict::Refused { why } => why.as_str(),
        _ => "",
    };
    let said = [observed.output.as_deref().unwrap_or(""), complaint].map(str::to_lowercase);
    let is_said = |word: &&String| {
        let word = word.to_lowercase();
        said.iter().any(|text| text.contains(&word)) && !case.reference.prints(&word)
    };
    let word = case.settings.response.keywords.iter().find(is_said)?;
    Some(Complaint::new(
        format!("the scenario printed or received `{word}`"),
        BugClass::UnrelatedException,
        unhandled(case.trace()),
    ))
}

fn too_long(case: &Case<'_>) -> Option<Complaint> {
    let mut requests = requests(case).into_iter();
    requests.find_map(|request| {
        let how = over_time(&request, case)?;
        Some(slow(format!("{} took {how}", request.name), case))
    })
}

/// Something whose time is limited.
struct Request {
    name: String,
    took: Duration,
    /// How long it takes without faults.
    usual: Option<Duration>,
}

/// The requests of the scenario. Where their times are not known, the scenario
/// counts as one.
fn requests(case: &Case<'_>) -> Vec<Request> {
    let observed = case.observed;
    if observed.details.is_empty() {
        return vec![Request {
            name: "the scenario".to_owned(),
            took: observed.took,
            usual: case.reference.slowest(),
        }];
    }
    let request = |id: CallId| {
        let place = Place::of(&case.trace().call(id).point);
        Some(Request {
            name: case.name(id),
            took: observed.time_of(id)?,
            usual: case.reference.slowest_request(&place),
        })
    };
    case.trace().entries().filter_map(request).collect()
}

fn over_time(request: &Request, case: &Case<'_>) -> Option<String> {
    let rules = &case.settings.response;
    if let Some(longest) = rules.longest
        && request.took > longest
    {
        return Some(format!("longer than {longest:?}"));
    }
    let (factor, usual) = (rules.longest_factor?, request.usual?);
    (request.took.as_secs_f64() > usual.as_secs_f64() * factor)
        .then(|| format!("more than {factor} times as long as without faults"))
}

fn slow(summary: String, case: &Case<'_>) -> Complaint {
    Complaint::new(summary, BugClass::Timeout, unhandled(case.trace()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ResponseRules, Settings};
    use crate::testing::{Story, call, judged};

    fn answers(reply: &str) -> Story {
        Story::new(vec![call("a GET /").answers(reply)])
    }

    fn prints(output: &str) -> Story {
        let mut story = answers("200");
        story.output = Some(output.to_owned());
        story
    }

    fn logs(logged: &str) -> Story {
        let mut story = answers("200");
        story.logged = Some(logged.to_owned());
        story
    }

    fn takes(ms: u64) -> Story {
        let mut story = answers("200");
        story.took = Duration::from_millis(ms);
        story
    }

    /// Two requests of 300 ms each, with half a second between them.
    fn two_requests() -> Story {
        let calls = vec![
            call("a GET /").during(0, 3),
            call("a GET /next").during(8, 11),
        ];
        let mut story = Story::new(calls).detailed();
        story.took = Duration::from_millis(1_100);
        story
    }

    #[test]
    fn a_limit_is_one_of_each_request_and_not_of_the_whole_test() {
        let complaints = |rules: ResponseRules, reference: Story| {
            let settings = Settings {
                response: rules,
                ..Settings::default()
            };
            let said = judged(judge, &settings, &[reference], &two_requests());
            let texts = said.into_iter().map(|complaint| complaint.summary);
            texts.collect::<Vec<_>>()
        };
        let within = |ms| ResponseRules {
            longest: Some(Duration::from_millis(ms)),
            ..ResponseRules::default()
        };
        assert!(complaints(within(500), two_requests()).is_empty());
        assert_eq!(
            complaints(within(200), two_requests()),
            ["`a GET /` took longer than 200ms"]
        );
        let times = || ResponseRules {
            longest_factor: Some(2.0),
            ..ResponseRules::default()
        };
        assert!(complaints(times(), two_requests()).is_empty());
        let quick = Story::new(vec![
            call("a GET /").during(0, 3),
            call("a GET /next").during(8, 9),
        ]);
        assert_eq!(
            complaints(times(), quick.detailed()),
            ["`a GET /next` took more than 2 times as long as without faults"]
        );
    }

    #[test]
    fn each_rule_speaks_of_what_breaks_it_and_of_nothing_else() {
        let statuses = ResponseRules {
            status_classes: vec![2, 4],
            ..ResponseRules::default()
        };
        let words = ResponseRules {
            keywords: vec!["Traceback".to_owned()],
            ..ResponseRules::default()
        };
        let absolute = ResponseRules {
            longest: Some(Duration::from_millis(50)),
            ..ResponseRules::default()
        };
        let relative = ResponseRules {
            longest_factor: Some(3.0),
            ..ResponseRules::default()
        };
        let none = ResponseRules::default();
        let usual = || answers("200");
        let cases = [
            (&statuses, usual(), answers("201"), 0),
            (&statuses, usual(), answers("404"), 0),
            (&statuses, usual(), answers("503"), 1),
            (&statuses, usual(), answers("reset"), 1),
            (&statuses, usual(), answers("NOT_FOUND"), 0),
            (&statuses, usual(), answers("INTERNAL"), 1),
            (&words, usual(), prints("TRACEBACK (most recent)"), 1),
            (&words, usual(), answers("200").fails("a traceback"), 1),
            (&words, usual(), prints("1 passed"), 0),
            (&words, usual(), logs("Traceback of a service"), 0),
            (&words, prints("no traceback"), prints("Traceback"), 0),
            (&absolute, usual(), takes(51), 1),
            (&absolute, usual(), takes(49), 0),
            (&relative, takes(10), takes(31), 1),
            (&relative, takes(10), takes(29), 0),
            (&none, usual(), answers("500"), 0),
        ];
        for (i, (rules, reference, story, expected)) in cases.into_iter().enumerate() {
            let settings = Settings {
                response: rules.clone(),
                ..Settings::default()
            };
            let said = judged(judge, &settings, &[reference], &story);
            assert_eq!(said.len(), expected, "case {i}: {said:?}");
        }
    }
}
