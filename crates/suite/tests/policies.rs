//! Every policy against all sequences of answers that a service can give to two
//! calls of one site. The expectation is the table of policies written down
//! once more, as plain cases; a shot that binds, counts or releases wrongly
//! differs in some sequence.

use std::time::Duration;

use murphy_model::Reply;
use murphy_suite::{
    Aim, AimEnd, Caller, End, Injection, Lost, LostAnswer, Policy, Record, Request, Shot, SiteKey,
    TestPhase,
};

/// What happens to one attempt, as the caller and the service see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// The service's own answer arrives.
    Answer(u16),
    /// The service answers, and the answer is lost.
    Lost(u16),
    /// The service is not asked, and an error arrives.
    Refused,
    /// The service is not asked, and nothing arrives.
    Nothing,
}

const MAX_ATTEMPTS: usize = 3;
const ANSWERS: [u16; 3] = [200, 404, 503];

/// An SDK that asks again after a 503 or no answer, at most twice.
fn run(policy: Policy, how: Injection, answers: &[Vec<u16>]) -> (Vec<Vec<Seen>>, Record) {
    let mut shot = Shot::new(vec![aim(policy)], how);
    let mut story = Vec::new();
    for (number, answers) in answers.iter().enumerate() {
        let mut attempts = Vec::new();
        for status in answers.iter().take(MAX_ATTEMPTS) {
            let seen = attempt(&mut shot, number, *status);
            attempts.push(seen);
            if matches!(seen, Seen::Answer(200 | 404)) {
                break;
            }
        }
        story.push(attempts);
    }
    (story, shot.record())
}

fn attempt(shot: &mut Shot, call: usize, status: u16) -> Seen {
    let (id, mode) = shot.arrive(request(call));
    let mode = mode.map(|mode| mode.to_string());
    let seen = match mode.as_deref() {
        None => Seen::Answer(status),
        Some("503") => Seen::Refused,
        Some("close") => Seen::Nothing,
        Some("after:close") if shot.answered(id, status) => Seen::Lost(status),
        Some("after:close") => Seen::Answer(status),
        Some(other) => panic!("no policy injects {other}"),
    };
    let (reply, lost) = match seen {
        Seen::Answer(status) => (Reply::Status(status), None),
        Seen::Lost(status) => (Reply::Closed, Some(Lost { status, body: None })),
        Seen::Refused => (Reply::Status(503), None),
        Seen::Nothing => (Reply::Closed, None),
    };
    shot.finish(
        id,
        End {
            at: Duration::ZERO,
            reply,
            body: None,
            lost,
            code: None,
            landed: !matches!(seen, Seen::Answer(_)),
            gave_up: false,
        },
    );
    seen
}

fn site() -> SiteKey {
    SiteKey {
        service: "s3".to_owned(),
        operation: "s3.PutObject".to_owned(),
        stack: vec!["store.py:1:put".to_owned()],
    }
}

fn aim(policy: Policy) -> Aim {
    Aim {
        site: site(),
        phase: TestPhase::Call,
        ordinal: 1,
        policy,
        line: None,
    }
}

fn request(call: usize) -> Request {
    Request {
        service: "s3".to_owned(),
        caller: Caller {
            call: Some(format!("1-{call}")),
            operation: Some("s3.PutObject".to_owned()),
            stack: site().stack,
            ..Caller::default()
        },
        ..Request::default()
    }
}

/// The table: which call is bound, then what becomes of each attempt.
fn expected(policy: Policy, p2_paper: bool, answers: &[Vec<u16>]) -> Vec<Vec<Seen>> {
    let needs_success = matches!(policy, Policy::P1 | Policy::P2 | Policy::P4);
    let bound = match needs_success {
        true => answers.iter().position(|answers| answers[0] == 200),
        false => Some(0),
    };
    let attempt = |call: usize, n: usize, status: u16| match (policy, n) {
        _ if bound != Some(call) => Seen::Answer(status),
        (Policy::P1 | Policy::P2 | Policy::P4, 0) => Seen::Lost(status),
        (Policy::P1 | Policy::P5, 1..) => Seen::Answer(status),
        (Policy::P2, _) if p2_paper && status != 200 => Seen::Answer(status),
        (Policy::P2, _) => Seen::Lost(status),
        (Policy::P3 | Policy::P4 | Policy::P5, _) => Seen::Refused,
        (Policy::P6, _) => Seen::Nothing,
    };
    let calls = answers.iter().enumerate();
    calls
        .map(|(call, answers)| {
            let mut seen = Vec::new();
            for (n, status) in answers.iter().take(MAX_ATTEMPTS).enumerate() {
                seen.push(attempt(call, n, *status));
                if matches!(seen.last(), Some(Seen::Answer(200 | 404))) {
                    break;
                }
            }
            seen
        })
        .collect()
}

/// All sequences of three answers.
fn sequences() -> Vec<Vec<u16>> {
    let mut all = vec![vec![]];
    for _ in 0..MAX_ATTEMPTS {
        all = all
            .iter()
            .flat_map(|so_far: &Vec<u16>| ANSWERS.map(|next| [so_far.clone(), vec![next]].concat()))
            .collect();
    }
    all
}

#[test]
fn every_policy_does_to_all_sequences_of_answers_what_its_row_says() {
    let mut landed = 0;
    for policy in Policy::ALL {
        for p2_paper in [false, true] {
            for first in sequences() {
                for second in sequences() {
                    let how = Injection {
                        lost: LostAnswer::Close,
                        p2_paper,
                        ..Injection::default()
                    };
                    let answers = [first.clone(), second];
                    let (seen, record) = run(policy, how, &answers);
                    let expected = expected(policy, p2_paper, &answers);
                    assert_eq!(seen, expected, "{policy:?} {p2_paper} {answers:?}");
                    let is_hit =
                        |call: &Vec<Seen>| call.iter().any(|seen| !matches!(seen, Seen::Answer(_)));
                    let end = record.aims[0].end;
                    match expected.iter().position(is_hit) {
                        Some(call) => assert_eq!(end, AimEnd::Landed { call }),
                        None => assert_eq!(end, AimEnd::NotExercised { released: 2 }),
                    }
                    landed += usize::from(record.has_landed());
                }
            }
        }
    }
    // 2 x 27 x 27 for P3, P5 and P6; P1, P2 and P4 need one first answer that is 200.
    let all = 2 * 27 * 27;
    assert_eq!(landed, 3 * all + 3 * (all - 2 * 18 * 18));
}
