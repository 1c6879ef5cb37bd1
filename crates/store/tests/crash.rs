//! Killed at any moment, a process leaves a store behind that opens, with
//! whole executions in it, and a campaign that can go on.

mod support;

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use murphy_model::{Faultload, Observed, Sink};
use murphy_store::{CampaignState, Fingerprint, Store};
use support::{Directory, ended, execution, head};

const STATE: &str = "MURPHY_TEST_STATE";
const FIRST: &str = "MURPHY_TEST_FIRST";
const CALLS: u32 = 8;
const KILLS: u64 = 20;

fn start(directory: &Directory, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_process_that_records_until_it_is_killed",
            "--ignored",
        ])
        .env(STATE, directory.state())
        .env(FIRST, first.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the other half of the tests that kill it"]
fn a_process_that_records_until_it_is_killed() {
    let (Some(state), Ok(first)) = (std::env::var_os(STATE), std::env::var(FIRST)) else {
        return;
    };
    let first: u64 = first.parse().unwrap();
    let store = Store::open(state.as_ref()).unwrap();
    let fingerprint = Fingerprint::of([&*first.to_string()]);
    let mut recorder = match store.unfinished(&fingerprint).unwrap() {
        Some(campaign) => store.resume(&campaign).unwrap(),
        None => store.begin(&head("crash", &first.to_string())).unwrap(),
    };
    let done = store.executions(recorder.campaign()).unwrap().len() as u64;
    for i in first + done.. {
        recorder.note(&ended(i, execution(i, CALLS)));
        assert_eq!(store.trouble(), None);
        // Something between them, as in a campaign; a thousand a second.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Every execution is as it was noted, and they came in order: what is missing
/// is missing at the end.
fn assert_whole(executions: &HashMap<Faultload, Observed>, first: u64) {
    for i in first..first + executions.len() as u64 {
        let expected = execution(i, CALLS);
        let found = executions.get(&expected.execution.faultload);
        assert_eq!(
            found,
            Some(&expected),
            "execution {i} of {}",
            executions.len()
        );
    }
}

/// Two campaigns in two processes at once, killed and resumed again and again.
#[test]
fn whatever_the_moment_the_store_opens_and_executions_are_whole() {
    let directory = Directory::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut before = [0, 0];
    for kill in 0..KILLS {
        let firsts = [1_000_000, 2_000_000];
        let mut children = firsts.map(|first| start(&directory, first));
        std::thread::sleep(Duration::from_millis(random.u64(20..250)));
        for child in &mut children {
            child.kill().unwrap();
        }
        for child in &mut children {
            child.wait().unwrap();
        }
        let store = Store::open(&directory.state()).unwrap();
        let check: String = rusqlite::Connection::open(directory.file())
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok", "after kill {kill}");
        for entry in store.campaigns().unwrap() {
            assert_eq!(entry.state, CampaignState::Interrupted);
        }
        for (n, first) in firsts.into_iter().enumerate() {
            let fingerprint = Fingerprint::of([&*first.to_string()]);
            let Some(campaign) = store.unfinished(&fingerprint).unwrap() else {
                assert_eq!(before[n], 0, "a campaign is gone");
                continue;
            };
            let executions = store.executions(&campaign).unwrap();
            assert_whole(&executions, first);
            assert!(executions.len() >= before[n], "executions were lost");
            before[n] = executions.len();
        }
        assert!(
            store.campaigns().unwrap().len() <= 2,
            "resumed, not begun anew"
        );
    }
    println!("executions kept over {KILLS} kills: {before:?}");
    assert!(
        before.iter().all(|kept| *kept > 0),
        "nothing was ever written"
    );
}

/// What was written does not wait for the end of a campaign.
#[test]
fn a_crash_costs_moments_only() {
    let directory = Directory::new();
    let mut child = start(&directory, 1_000_000);
    let patience = Instant::now() + Duration::from_secs(60);
    let kept = || {
        let store = Store::open(&directory.state()).unwrap();
        let campaign = store.campaigns().unwrap().first()?.campaign.clone();
        Some(store.executions(&campaign).unwrap().len())
    };
    while kept().unwrap_or_default() < 100 {
        assert!(Instant::now() < patience, "nothing is written");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(kept().unwrap() >= 100);
}
