//! What the tests of the store and of the JSON form share: a directory of
//! their own, and executions with a bit of everything in them.

#![allow(dead_code)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use murphy_model::{
    Besides, BugClass, Call, CallId, Certificate, Detail, Ended, Event, Execution, Fault,
    Faultload, Finding, Link, Mode, Observed, Organic, Point, Reply, Severity, Trace, Verdict,
};
use murphy_store::{CampaignHead, FILE, Fingerprint};
use tempfile::TempDir;

/// A directory that goes away with its owner.
pub(crate) struct Directory(TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Directory(TempDir::new().unwrap())
    }

    /// The state directory in it, which is not there at first.
    pub(crate) fn state(&self) -> PathBuf {
        self.0.path().join(".murphy")
    }

    /// The store's file in it.
    pub(crate) fn file(&self) -> PathBuf {
        self.state().join(FILE)
    }
}

pub(crate) fn head(scenario: &str, fingerprint: &str) -> CampaignHead {
    CampaignHead {
        scenario: scenario.to_owned(),
        fingerprint: Fingerprint::of([fingerprint]),
        settings: format!("{{\"scenario\":\"{scenario}\"}}"),
        begun: UNIX_EPOCH + Duration::from_secs(1_794_798_902),
    }
}

/// The i-th execution of a test: always the same for the same i, and different
/// for different ones in every part, so that a mixture would be noticed.
pub(crate) fn execution(i: u64, calls: u32) -> Observed {
    let entry: Point = "shop POST /checkout".parse().unwrap();
    let point = |n: u32| -> Point {
        let text = format!(
            "shop POST /checkout > service-{n} GET /items/{{}} #{} {{body={:032x}}}",
            1 + i % 3,
            n % 7
        );
        text.parse().unwrap()
    };
    let fault = Fault::at(
        point(1 + (i % 5) as u32),
        Mode::status(500 + (i % 90) as u16),
    );
    // The number itself makes the faultload one of its kind.
    let other = Fault::every(&format!("a GET /{i}x").parse().unwrap(), Mode::RESET);
    let mut list = vec![Call {
        point: entry,
        parent: None,
        arrived: 0,
        finished: Some(2 * calls + 1),
        reply: Some(Reply::Status(200 + (i % 300) as u16)),
        injected: None,
        body: None,
    }];
    list.extend((1..calls).map(|n| Call {
        point: point(n),
        parent: Some(CallId(0)),
        arrived: 2 * n,
        finished: (n % 4 != 3).then_some(2 * n + 1),
        reply: (n % 4 != 3).then_some(Reply::TimedOut),
        injected: (n == 1).then(|| fault.clone()),
        body: None,
    }));
    let details = (0..calls).map(|n| Detail {
        arrived: Duration::from_nanos(i * 1000 + u64::from(n)),
        finished: Some(Duration::from_nanos(i * 2000)),
        gave_up: (n % 3 == 1).then_some(Duration::from_micros(i)),
        organic: (n % 5 == 2).then_some(Organic::Refused),
        landed: (n == 1).then_some(true),
        body_cut: n % 6 == 5,
        idempotency_key: None,
        link: if n % 2 == 0 {
            Link::Certain
        } else {
            Link::Inferred
        },
    });
    Observed {
        execution: Execution {
            faultload: Faultload::new([fault, other.clone()]).unwrap(),
            trace: Trace::new(list),
            verdict: match i % 3 {
                0 => Verdict::Passed,
                1 => Verdict::Failed {
                    why: format!("expected 200 in execution {i}"),
                },
                _ => Verdict::NotExercised {
                    missing: vec![other],
                },
            },
        },
        details: details.collect(),
        quiet: i.is_multiple_of(2),
        took: Duration::from_nanos(i),
        output: i.is_multiple_of(4).then(|| format!("output of {i}\n")),
        logged: i.is_multiple_of(6).then(|| format!("logged in {i}\n")),
    }
}

pub(crate) fn ended(number: u64, observed: Observed) -> Event {
    Event::ExecutionEnded {
        ticket: number,
        observed: Arc::new(observed),
        stored: false,
    }
}

pub(crate) fn finding(id: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        severity: Severity::Fail,
        class: BugClass::NoHandling,
        oracle: "scenario".into(),
        faultload: "shop POST /checkout > cart GET /cart = 503"
            .parse()
            .unwrap(),
        summary: "expected 200, got 500".to_owned(),
        edge: None,
        execution: 3,
        shown: Arc::default(),
        seen: 7,
        also: vec![
            "shop POST /checkout > cart GET /cart = reset"
                .parse()
                .unwrap(),
        ],
    }
}

pub(crate) fn certificate() -> Certificate {
    Certificate {
        points: 4,
        conditional: 1,
        space: 3_u32.pow(4).into(),
        explored: 9,
        considered: 12,
        pruned: [("downstream".into(), 3)].into(),
        skips: None,
        not_exercised: 1,
        speculative: 0,
        bound: Some(2),
        incomplete: None,
        assumptions: vec!["services are deterministic".to_owned()],
        flags: Vec::new(),
        audit: None,
        minimal: None,
    }
}

pub(crate) fn end(findings: &[&str]) -> Event {
    ended_with(certificate(), findings)
}

pub(crate) fn ended_with(certificate: Certificate, findings: &[&str]) -> Event {
    Event::Ended(Box::new(Ended {
        certificate,
        findings: findings.iter().map(|id| finding(id)).collect(),
        took: Duration::from_millis(1500),
        failed: 7,
        injected: true,
        modes: vec!["503".to_owned()],
        points: vec!["shop POST /checkout > cart GET /cart".parse().unwrap()],
        profile: Vec::new(),
        besides: Besides::default(),
        prefixes: Default::default(),
        broken: None,
    }))
}
