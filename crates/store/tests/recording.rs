//! What a recorder was told is what the store tells, in the same process, in
//! the next one, and after a campaign went on.

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use std::sync::Arc;

use murphy_model::{Certificate, Event, Faultload, Identity, Incomplete, PathTemplates, Sink};
use murphy_store::{CampaignHead, CampaignId, CampaignState, Fingerprint, Store, StoreError};
use support::{Directory, certificate, end, ended, ended_with, execution, finding, head};

fn identity() -> Identity {
    Identity {
        predecessors: true,
        templates: PathTemplates::with(["/users/{}".to_owned()]),
        masked: vec!["time".to_owned()],
        ..Identity::default()
    }
}

fn chosen() -> Event {
    Event::IdentityChosen {
        identity: identity(),
        masked: vec!["`time` differs between references".to_owned()],
    }
}

/// How many findings a campaign has.
fn found(store: &Store, campaign: &CampaignId) -> usize {
    store.ended(campaign).unwrap().unwrap().findings.len()
}

/// Reads through a second store, which shares nothing with the first but the
/// file.
#[test]
fn what_was_noted_is_read_back() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    let campaign = recorder.campaign().clone();
    for number in 0..3 {
        let observed = Arc::new(execution(number, 4));
        let number = number as usize + 1;
        recorder.note(&Event::ReferenceRan { number, observed });
    }
    recorder.note(&chosen());
    for number in 10..310 {
        recorder.note(&ended(number, execution(number, 5)));
    }
    recorder.flush();

    let reader = Store::open(&directory.state()).unwrap();
    assert_eq!(
        reader.campaigns().unwrap()[0].state,
        CampaignState::UnderWay
    );
    recorder.note(&end(&["M-aa0001", "M-aa0002"]));
    drop(recorder);

    let (found, masked) = reader.identity(&campaign).unwrap().unwrap();
    assert_eq!(found, identity());
    assert_eq!(masked, ["`time` differs between references"]);
    let executions = reader.executions(&campaign).unwrap();
    assert_eq!(executions.len(), 300);
    for i in 10..310 {
        let expected = execution(i, 5);
        assert_eq!(executions[&expected.execution.faultload], expected);
    }
    let campaigns = reader.campaigns().unwrap();
    let [entry] = &campaigns[..] else {
        panic!("{campaigns:?}");
    };
    assert_eq!(entry.state, CampaignState::Ended);
    assert_eq!(
        (&entry.campaign, entry.begun),
        (&campaign, head("", "").begun)
    );
    assert_eq!((entry.findings, entry.executions), (2, 9));
    let result = reader.ended(&campaign).unwrap().unwrap();
    assert_eq!(result.findings[1], finding("M-aa0002"));
    assert_eq!(result.certificate, certificate());
    let events = reader.events(&campaign).unwrap();
    assert_eq!(events.len(), 3 + 1 + 300 + 1);
    assert_eq!(events[3], chosen());
    assert_eq!(events[304], end(&["M-aa0001", "M-aa0002"]));
    assert_eq!(store.trouble(), None);
}

#[test]
fn the_minimal_combinations_of_a_certificate_are_read_back() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let minimal: Vec<Faultload> = [
        "a GET / > b GET / = 503, a GET / > c GET / = reset",
        "a GET / > d GET / = hang",
    ]
    .map(|text| text.parse().unwrap())
    .to_vec();
    let keep = |scenario, minimal: Option<Vec<Faultload>>| {
        let mut recorder = store.begin(&head(scenario, "f")).unwrap();
        let campaign = recorder.campaign().clone();
        let certificate = Certificate {
            minimal,
            ..certificate()
        };
        recorder.note(&ended_with(certificate, &[]));
        drop(recorder);
        campaign
    };
    let lineage = keep("checkout", Some(minimal.clone()));
    let tree = keep("browse", None);
    let reader = Store::open(&directory.state()).unwrap();
    let read = |campaign| reader.ended(campaign).unwrap().unwrap().certificate.minimal;
    assert_eq!(read(&lineage), Some(minimal));
    assert_eq!(read(&tree), None);
}

#[test]
fn an_interrupted_campaign_goes_on_where_it_stopped() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let same = Fingerprint::of(["same"]);
    let mut first = store.begin(&head("checkout", "same")).unwrap();
    let campaign = first.campaign().clone();
    first.note(&ended(1, execution(1, 4)));
    assert_eq!(store.unfinished(&same).unwrap(), None, "it is under way");
    let refused = store.resume(&campaign).unwrap_err();
    assert!(
        matches!(refused, StoreError::UnderWay { pid, .. } if pid == std::process::id() as i32)
    );
    drop(first);

    assert_eq!(store.unfinished(&Fingerprint::of(["other"])).unwrap(), None);
    assert_eq!(store.unfinished(&same).unwrap().as_ref(), Some(&campaign));
    let mut second = store.resume(&campaign).unwrap();
    second.note(&Event::ExecutionEnded {
        ticket: 1,
        observed: Arc::new(execution(1, 4)),
        stored: true,
    });
    second.note(&ended(2, execution(2, 9)));
    second.note(&end(&[]));
    drop(second);

    let executions = store.executions(&campaign).unwrap();
    assert_eq!(executions.len(), 2);
    for expected in [execution(1, 4), execution(2, 9)] {
        assert_eq!(executions[&expected.execution.faultload], expected);
    }
    store.tell(std::slice::from_ref(&campaign)).unwrap();
    assert_eq!(store.unfinished(&same).unwrap(), None, "it is over");
    let refused = store.resume(&campaign).unwrap_err();
    assert!(matches!(refused, StoreError::Ended { .. }));
}

#[test]
fn the_last_campaign_that_ended_is_told_with_all_it_saw() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    assert!(store.last_ended("checkout").unwrap().is_none());
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    let observed = Arc::new(execution(1, 4));
    recorder.note(&Event::ReferenceRan {
        number: 1,
        observed,
    });
    recorder.note(&chosen());
    recorder.note(&ended(2, execution(2, 6)));
    recorder.note(&end(&[]));
    let campaign = recorder.campaign().clone();
    drop(recorder);
    // Neither one that did not end nor another scenario's.
    drop(store.begin(&head("checkout", "f")).unwrap());
    let mut other = store.begin(&head("other", "f")).unwrap();
    other.note(&end(&[]));
    drop(other);

    let last = store.last_ended("checkout").unwrap().unwrap();
    assert_eq!(last.entry.campaign, campaign);
    assert_eq!(last.identity, Some(identity()));
    let expected = execution(2, 6);
    assert_eq!(last.executions[&expected.execution.faultload], expected);
}

#[test]
fn old_campaigns_are_let_go_unless_someone_is_at_them() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap().keeping(3);
    let numbered = |number: u64| CampaignHead {
        settings: number.to_string(),
        ..head("checkout", "f")
    };
    let at_it = store.begin(&numbered(0)).unwrap();
    for number in 1..8 {
        let mut recorder = store.begin(&numbered(number)).unwrap();
        recorder.note(&ended(1, execution(number, 4)));
        recorder.note(&end(&["M-aa0001"]));
    }
    drop(store.begin(&head("other", "f")).unwrap());
    let numbers = |store: &Store| -> Vec<u64> {
        let checkout = store.campaigns().unwrap().into_iter();
        let checkout = checkout.filter(|entry| entry.scenario == "checkout");
        checkout
            .map(|entry| entry.settings.parse().unwrap())
            .collect()
    };
    // Three, and the one that began last.
    assert_eq!(numbers(&store), [7, 6, 5, 4, 0]);
    drop(at_it);
    let store = store.keeping(1);
    drop(store.begin(&numbered(8)).unwrap());
    assert_eq!(numbers(&store), [7]);
    let left: i64 = rusqlite::Connection::open(directory.file())
        .unwrap()
        .query_row("SELECT count(DISTINCT campaign) FROM event", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 1, "what belonged to the others is gone too");
}

/// What the thread that writes has cost so far, where the system tells.
fn writer_cpu_time() -> Option<Duration> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let named = |path: &PathBuf| {
        let name = std::fs::read_to_string(path.join("comm"));
        name.is_ok_and(|name| name.trim() == "murphy-store")
    };
    let nanos = |path: PathBuf| -> Option<u64> {
        let stat = std::fs::read_to_string(path.join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse().ok()
    };
    let writers = tasks.flatten().map(|task| task.path()).filter(named);
    writers.filter_map(nanos).max().map(Duration::from_nanos)
}

#[test]
fn a_campaign_that_was_stopped_has_a_result_and_can_go_on() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let same = Fingerprint::of(["f"]);
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    let campaign = recorder.campaign().clone();
    recorder.note(&ended(1, execution(1, 4)));
    let stopped = Certificate {
        incomplete: Some(Incomplete::Stopped { waiting: 3 }),
        ..certificate()
    };
    recorder.note(&ended_with(stopped, &["M-aa0001"]));
    drop(recorder);
    let state = || store.campaigns().unwrap()[0].state;
    assert_eq!(state(), CampaignState::Stopped);
    assert!(state().has_result());
    assert_eq!(found(&store, &campaign), 1);
    assert_eq!(store.unfinished(&same).unwrap().as_ref(), Some(&campaign));

    let mut recorder = store.resume(&campaign).unwrap();
    assert_eq!(state(), CampaignState::UnderWay);
    assert_eq!(store.executions(&campaign).unwrap().len(), 1);
    recorder.note(&end(&["M-aa0001", "M-aa0002"]));
    drop(recorder);
    assert_eq!(state(), CampaignState::Ended);
    assert_eq!(found(&store, &campaign), 2);
    store.tell(&[campaign]).unwrap();
    assert_eq!(store.unfinished(&same).unwrap(), None);
}

/// Killed after its end, a run has reported nothing: that can be made good.
#[test]
fn a_campaign_whose_end_was_never_told_can_go_on() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let same = Fingerprint::of(["f"]);
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    let campaign = recorder.campaign().clone();
    recorder.note(&ended(1, execution(1, 4)));
    recorder.note(&end(&["M-aa0001"]));
    let state = || store.campaigns().unwrap()[0].state;
    assert_eq!(state(), CampaignState::Ended);
    assert_eq!(store.unfinished(&same).unwrap(), None, "its run goes on");
    drop(recorder);
    assert_eq!(store.unfinished(&same).unwrap().as_ref(), Some(&campaign));

    let mut recorder = store.resume(&campaign).unwrap();
    assert_eq!(store.executions(&campaign).unwrap().len(), 1);
    recorder.note(&end(&["M-aa0001"]));
    drop(recorder);
    assert_eq!(found(&store, &campaign), 1, "not twice");
    store.tell(std::slice::from_ref(&campaign)).unwrap();
    assert_eq!(store.unfinished(&same).unwrap(), None);
}

/// Services that did not start leave nothing that could be resumed.
#[test]
fn a_start_that_came_to_nothing_is_in_the_way_of_none() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap().keeping(1);
    let unfinished = || store.unfinished(&Fingerprint::of(["f"])).unwrap();
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    let killed = recorder.campaign().clone();
    recorder.note(&ended(1, execution(1, 4)));
    drop(recorder);
    for _ in 0..3 {
        drop(store.begin(&head("checkout", "f")).unwrap());
    }
    assert_eq!(unfinished(), Some(killed.clone()));
    assert_eq!(store.campaigns().unwrap().len(), 1, "nothing else is kept");

    // Killed at the start, it could not clean up after itself.
    std::mem::forget(store.begin(&head("checkout", "f")).unwrap());
    let connection = rusqlite::Connection::open(directory.file()).unwrap();
    let gone = "UPDATE campaign SET owner_pid = NULL";
    connection.execute(gone, []).unwrap();
    assert_eq!(store.campaigns().unwrap().len(), 2);
    assert_eq!(unfinished(), Some(killed));
    drop(store.begin(&head("checkout", "f")).unwrap());
    assert_eq!(store.campaigns().unwrap().len(), 1);
}

/// A campaign is found by the beginning of its name, without one the newest
/// with a result is meant.
#[test]
fn a_campaign_is_found_by_the_beginning_of_its_name() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    assert!(store.named(None).unwrap().is_none());
    let record = |result: bool| {
        let mut recorder = store.begin(&head("checkout", "f")).unwrap();
        recorder.note(&ended(1, execution(1, 4)));
        if result {
            recorder.note(&end(&[]));
        }
        recorder.campaign().clone()
    };
    let (with_result, without) = (record(true), record(false));
    let named = |prefix| store.named(prefix).unwrap().map(|entry| entry.campaign);
    assert_eq!(named(None), Some(with_result.clone()));
    assert_eq!(named(Some(without.as_str())).as_ref(), Some(&without));
    assert_eq!(
        named(Some(&with_result.as_str()[..19])).as_ref(),
        Some(&with_result)
    );
    assert_eq!(named(Some("1999")), None);
    let error = store.named(Some("2026")).unwrap_err();
    assert!(
        matches!(error, StoreError::AmbiguousCampaign { .. }),
        "{error:?}"
    );
}

/// What was run before the search started over is not reused.
#[test]
fn a_search_that_started_over_forgets_its_executions() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    recorder.note(&ended(1, execution(1, 4)));
    recorder.note(&Event::Restarted {
        executions: 1,
        masked: Vec::new(),
    });
    recorder.note(&ended(1, execution(2, 4)));
    let executions = store.executions(recorder.campaign()).unwrap();
    let expected = execution(2, 4);
    assert_eq!(executions.len(), 1);
    assert_eq!(executions[&expected.execution.faultload], expected);
}

/// No bound is asserted: what it takes depends on the machine. Shown with
/// `--nocapture`.
#[test]
fn a_large_campaign_is_kept_as_a_whole() {
    const EXECUTIONS: u64 = 2440;
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let mut recorder = store.begin(&head("netflix", "f")).unwrap();
    let campaign = recorder.campaign().clone();
    let events: Vec<Event> = (0..EXECUTIONS)
        .map(|i| ended(i, execution(i, 12)))
        .collect();
    let began = Instant::now();
    for event in &events {
        recorder.note(event);
    }
    let noted = began.elapsed();
    recorder.flush();
    let written = began.elapsed();
    let cost = writer_cpu_time();
    drop(recorder);
    let began = Instant::now();
    let executions = store.executions(&campaign).unwrap();
    let read = began.elapsed();
    assert_eq!(executions.len() as u64, EXECUTIONS);
    drop(store);
    let size = std::fs::metadata(directory.file()).unwrap().len();
    println!(
        "{EXECUTIONS} executions of 12 calls: noted in {noted:?}, written after {written:?} ({cost:?} of CPU), read in {read:?}, {} KiB",
        size / 1024
    );
}
