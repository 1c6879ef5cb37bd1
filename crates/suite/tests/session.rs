//! Whole sessions over a simulated suite: an application in memory that calls a
//! simulated cloud through an SDK that retries, with planted bugs, a flaky
//! test, and a test that fails for what another one left behind.
//!
//! Proves that exactly what was planted is found, whatever the number of rounds
//! under way and the order in which they come back; that batches and groups say
//! what single executions say; and that stopping and resuming lose nothing.

mod simulated;

use std::collections::{BTreeMap, BTreeSet};

use murphy_suite::{
    Aim, Coverage, Next, Policy, Reason, Round, RoundKind, Session, SuiteFinding, SuiteReport,
    SuiteSettings, Verdict,
};

use simulated::{TESTS, run_round, test_infos};

fn settings() -> SuiteSettings {
    SuiteSettings {
        name: "shop".to_owned(),
        runner: "simulated".to_owned(),
        ..SuiteSettings::default()
    }
}

/// Drives a session with so many rounds under way; which of them comes back
/// first is luck.
fn drive(session: &mut Session, under_way: usize, seed: u64) -> Vec<Round> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut waiting, mut all) = (Vec::<Round>::new(), Vec::new());
    loop {
        let next = match waiting.len() < under_way {
            true => session.next(),
            false => Next::Wait,
        };
        match next {
            Next::Round(round) => {
                all.push(round.clone());
                waiting.push(round);
            }
            Next::Done => return all,
            Next::Wait => {
                let round = waiting.swap_remove(random.usize(..waiting.len()));
                session.learn(round.id, run_round(&round));
            }
        }
    }
}

fn report(settings: SuiteSettings, under_way: usize, seed: u64) -> SuiteReport {
    let mut session = Session::new(test_infos(), settings);
    drive(&mut session, under_way, seed);
    session.report()
}

fn verdicts(settings: SuiteSettings) -> BTreeMap<(String, Aim), Verdict> {
    let mut session = Session::new(test_infos(), settings);
    drive(&mut session, 1, 0);
    let verdicts = session.verdicts();
    verdicts
        .map(|(test, aim, verdict)| ((test.to_owned(), aim.clone()), *verdict))
        .collect()
}

/// What a finding is about, in a line.
fn line(finding: &SuiteFinding) -> String {
    let policies: Vec<&str> = finding.policy.iter().map(|policy| policy.name()).collect();
    let tests: Vec<&str> = finding.tests.iter().map(String::as_str).collect();
    format!(
        "{:?} {} {} at {} [{}] {}: {}",
        finding.oracle,
        finding.class.name(),
        finding.operation,
        finding.site,
        policies.join(" "),
        tests.join(" "),
        finding.exception.as_deref().unwrap_or("-"),
    )
}

fn lines(findings: &[SuiteFinding]) -> Vec<String> {
    findings.iter().map(line).collect()
}

#[test]
fn exactly_what_was_planted_is_found() {
    let report = report(settings(), 1, 0);
    assert_eq!(
        lines(&report.findings),
        [
            "O1 unrelated-exception cloud.create at logs.py:5:create [p1] create: AlreadyExists",
            "O3 state-divergence cloud.ensure at cache.py:3:ensure [p3] cache: NotFound",
            "O3 silent-violation cloud.exists at store.py:9:exists [p3 p4] exists: AssertionError",
            "O8 no-handling cloud.poll at poll.py:1:poll [p3 p4] poll: hang",
            "O2 silent-violation cloud.receive at queue.py:7:receive [p1] queue: TypeError",
        ]
    );
    assert!(report.findings.iter().all(|finding| finding.confirmed));
    assert_eq!(
        lines(&report.warnings),
        [
            "O1 unrelated-exception cloud.pay at pay.py:1:pay [p1] token: AlreadyExists",
            "O7 state-divergence cloud.read at policy.py:4:read [p2 p3 p4] policy: -",
            "O6 silent-violation cloud.receive at queue.py:7:receive [p1] queue: -",
            "O6 silent-violation cloud.send at queue.py:2:send [p1] queue: -",
        ]
    );
    assert_eq!(report.suite.flaky, ["sometimes"]);
    assert_eq!(report.suite.baseline_failures, ["broken"]);
    assert_eq!(report.executed.misaimed, 0);
    assert!(report.executed.collateral > 0);
    assert!(report.propagated > 10, "{}", report.propagated);
    let audit = report.audit.expect("groups are audited");
    assert_eq!((audit.sampled, audit.agreed), (1, 1));
}

#[test]
fn what_is_not_held_against_the_application_is_listed_with_its_reason() {
    let report = report(settings(), 1, 0);
    let tests = |reason| -> BTreeSet<String> {
        let excluded = report.excluded.iter();
        let of_reason = excluded.filter(|excluded| excluded.reason == reason);
        of_reason
            .flat_map(|excluded| excluded.tests.clone())
            .collect()
    };
    let expected: [(Reason, &[&str]); 7] = [
        (Reason::BaselineFailing, &["broken"]),
        (Reason::Flaky, &["sometimes"]),
        (Reason::NotConfirmed, &["unlucky"]),
        (Reason::ReferenceError, &["missing"]),
        (Reason::EmulatorSuspect, &["token"]),
        (Reason::NotRetried, &["stream"]),
        (Reason::TestCode, &["z_victim"]),
    ];
    for (reason, expected) in expected {
        let expected = expected.iter().map(|test| (*test).to_owned()).collect();
        assert_eq!(tests(reason), expected, "{reason:?}");
    }
}

#[test]
fn the_report_is_the_same_for_any_number_of_rounds_under_way_and_any_order() {
    let expected = report(settings(), 1, 0);
    for under_way in [1, 4, 8] {
        for seed in 0..4 {
            assert_eq!(
                report(settings(), under_way, seed),
                expected,
                "{under_way} {seed}"
            );
        }
    }
}

#[test]
fn groups_and_batches_say_what_single_executions_say() {
    let alone = SuiteSettings {
        group: false,
        batch: false,
        ..settings()
    };
    let batched = SuiteSettings {
        group: false,
        ..settings()
    };
    let expected = verdicts(alone.clone());
    assert!(expected.len() > 60, "{}", expected.len());
    assert_eq!(verdicts(batched), expected);
    assert_eq!(verdicts(settings()), expected);
    assert_eq!(
        lines(&report(settings(), 1, 0).findings),
        lines(&report(alone.clone(), 1, 0).findings)
    );
    let rounds = |settings| report(settings, 1, 0).executed.rounds;
    assert!(
        rounds(settings()) * 2 < rounds(alone),
        "batches spare start-ups"
    );
}

#[test]
fn an_audit_finds_what_a_group_has_hidden_and_its_other_sites_are_run_alone() {
    let hides = || {
        vec![murphy_suite::TestInfo {
            id: "hides".to_owned(),
        }]
    };
    let found = |audit| {
        let settings = SuiteSettings {
            policies: vec![Policy::P1],
            audit,
            ..settings()
        };
        let mut session = Session::new(hides(), settings);
        drive(&mut session, 2, 1);
        let report = session.report();
        let audit = report.audit.map(|audit| (audit.sampled, audit.agreed));
        (lines(&report.findings), audit)
    };
    let bug = "O2 silent-violation cloud.receive at hides.py:7:receive [p1] hides: TypeError";
    assert_eq!(found(0.0), (vec![], None));
    assert_eq!(found(1.0), (vec![bug.to_owned()], Some((2, 1))));
}

#[test]
fn a_group_needs_one_round_for_all_that_is_masked() {
    let only_p1 = SuiteSettings {
        policies: vec![Policy::P1],
        audit: 0.0,
        ..settings()
    };
    let mut session = Session::new(test_infos(), only_p1);
    let rounds = drive(&mut session, 1, 0);
    let group = |round: &&Round| round.kind == RoundKind::Group;
    let first = rounds.iter().find(group).expect("there is a group");
    let many = first
        .cases
        .iter()
        .find(|case| case.test == "many")
        .expect("it is in it");
    assert_eq!(many.aims.len(), 6);
    let of_many = rounds.iter().filter(|round| {
        round.kind != RoundKind::Reference && round.cases.iter().any(|case| case.test == "many")
    });
    assert_eq!(of_many.count(), 1);
}

#[test]
fn tests_that_disturb_each_other_never_share_a_round_again() {
    let mut session = Session::new(test_infos(), settings());
    let rounds = drive(&mut session, 1, 0);
    let both = |round: &&Round| {
        let has = |test: &str| round.cases.iter().any(|case| case.test == test);
        round.kind == RoundKind::Batch && has("a_leaver") && has("z_victim")
    };
    let places: Vec<usize> = rounds
        .iter()
        .enumerate()
        .filter(|(_, round)| both(round))
        .map(|(at, _)| at)
        .collect();
    let alone = rounds
        .iter()
        .position(|round| round.kind == RoundKind::Alone && round.cases[0].test == "z_victim");
    let alone = alone.expect("the victim is run again alone");
    assert!(!places.is_empty(), "they shared a round");
    assert!(
        places.iter().all(|place| *place < alone),
        "{places:?} {alone}"
    );
}

#[test]
fn a_session_that_is_interrupted_goes_on_where_it_was() {
    let expected = report(settings(), 1, 0);
    let mut first = Session::new(test_infos(), settings());
    let mut stored = BTreeMap::new();
    for _ in 0..9 {
        let Next::Round(round) = first.next() else {
            panic!("there are more rounds than that");
        };
        let runs = run_round(&round);
        stored.insert(round.id, runs.clone());
        first.learn(round.id, runs);
    }
    first.stop();
    assert_eq!(first.next(), Next::Done);
    assert!(first.report().stopped);
    assert!(first.report().executed.cases > 0);

    let mut second = Session::new(test_infos(), settings());
    let mut executed = 0;
    loop {
        match second.next() {
            Next::Round(round) => {
                let runs = stored.remove(&round.id).unwrap_or_else(|| {
                    executed += 1;
                    run_round(&round)
                });
                second.learn(round.id, runs);
            }
            Next::Wait => unreachable!("nothing is under way"),
            Next::Done => break,
        }
    }
    assert!(stored.is_empty() && executed > 0);
    assert_eq!(second.report(), expected);
}

#[test]
fn a_session_can_be_stopped_at_any_round_and_reports_what_was_done() {
    let whole = report(settings(), 1, 0);
    let total = {
        let mut session = Session::new(test_infos(), settings());
        drive(&mut session, 1, 0).len()
    };
    for stop in 0..total {
        let mut session = Session::new(test_infos(), settings());
        for _ in 0..stop {
            if let Next::Round(round) = session.next() {
                session.learn(round.id, run_round(&round));
            }
        }
        // One more is under way, and never comes back.
        let _ = session.next();
        session.break_off();
        assert_eq!(session.next(), Next::Done);
        let report = session.report();
        let ids = |report: &SuiteReport| -> BTreeSet<String> {
            report
                .findings
                .iter()
                .filter(|one| one.confirmed)
                .map(|one| one.id.clone())
                .collect()
        };
        assert!(report.stopped && ids(&report).is_subset(&ids(&whole)));
        assert!(report.executed.rounds <= whole.executed.rounds);
    }
}

#[test]
fn a_round_that_broke_off_is_run_again_one_by_one() {
    let expected = report(settings(), 1, 0);
    let mut session = Session::new(test_infos(), settings());
    let mut is_broken = false;
    loop {
        match session.next() {
            Next::Round(round) => {
                let mut runs = run_round(&round);
                if round.kind == RoundKind::Batch && !is_broken {
                    is_broken = true;
                    runs.truncate(2);
                }
                session.learn(round.id, runs);
            }
            Next::Wait => unreachable!("nothing is under way"),
            Next::Done => break,
        }
    }
    assert!(is_broken);
    let report = session.report();
    assert_eq!(lines(&report.findings), lines(&expected.findings));
    assert!(report.executed.rounds > expected.executed.rounds);
}

#[test]
fn a_system_test_must_handle_what_is_injected() {
    let system = SuiteSettings {
        system: true,
        ..settings()
    };
    let report = report(system, 1, 0);
    assert_eq!(report.propagated, 0);
    let propagated = report
        .findings
        .iter()
        .filter(|finding| line(finding).starts_with("O4 no-handling"));
    assert!(propagated.count() >= 8);
}

#[test]
fn a_known_finding_is_excluded() {
    let id = report(settings(), 1, 0).findings[0].id.clone();
    assert!(id.starts_with("M-") && id.len() == 8, "{id}");
    let known = SuiteSettings {
        known: [id.clone()].into(),
        ..settings()
    };
    let report = report(known, 1, 0);
    assert!(report.findings.iter().all(|finding| finding.id != id));
    assert!(
        report
            .excluded
            .iter()
            .any(|excluded| excluded.reason == Reason::Known)
    );
}

#[test]
fn a_finding_shows_its_attempts_and_replays() {
    let report = report(settings(), 1, 0);
    for finding in &report.findings {
        let round = Round {
            id: 0,
            kind: RoundKind::Alone,
            cases: vec![finding.replay.clone()],
        };
        for _ in 0..10 {
            let run = &run_round(&round)[0];
            assert!(
                run.result.is_failure() && run.record.has_landed(),
                "{}",
                line(finding)
            );
        }
        assert!(finding.evidence.iter().any(|rung| rung.injected.is_some()));
    }
    let create = report
        .findings
        .iter()
        .find(|one| one.operation == "cloud.create")
        .unwrap();
    let ladder: Vec<String> = create
        .evidence
        .iter()
        .map(|rung| {
            let injected = rung
                .injected
                .map_or("-".to_owned(), |mode| mode.to_string());
            format!("{} {injected} {:?}", rung.attempt, rung.status)
        })
        .collect();
    assert_eq!(ladder, ["1 after:close Some(200)", "2 - Some(409)"]);
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let report = report(settings(), 1, 0);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<SuiteReport>(&text).unwrap(), report);
}

#[test]
fn every_coverage_is_planned_and_costs_no_more_than_the_next() {
    let cases = |coverage| {
        let settings = SuiteSettings {
            coverage,
            ..settings()
        };
        let mut session = Session::new(test_infos(), settings);
        for _ in 0..2 {
            if let Next::Round(round) = session.next() {
                session.learn(round.id, run_round(&round));
            }
        }
        session.plan().cases
    };
    let counts = [
        Coverage::C1,
        Coverage::C3,
        Coverage::C4,
        Coverage::C5,
        Coverage::C6,
    ]
    .map(cases);
    assert!(counts[0] > 0 && counts.is_sorted(), "{counts:?}");
    assert!(cases(Coverage::C2) <= counts[1] && cases(Coverage::Quick) <= counts[3]);
}

#[test]
fn a_suite_of_which_no_test_passes_ends_after_its_references() {
    let broken: Vec<_> = test_infos()
        .into_iter()
        .filter(|test| test.id == "broken")
        .collect();
    assert_eq!((TESTS.len() > 10, broken.len()), (true, 1));
    let mut session = Session::new(broken, settings());
    assert_eq!(drive(&mut session, 1, 0).len(), 2);
    let report = session.report();
    assert_eq!((report.suite.passing, report.executed.rounds), (0, 0));
}
