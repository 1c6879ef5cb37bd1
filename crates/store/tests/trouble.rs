//! A store that cannot be used says which file, why, and what to do; one that
//! fails on the way does not take the campaign with it.

mod support;

use std::fs;
use std::process::Command;
use std::thread;

use murphy_model::Sink;
use murphy_store::{CampaignId, Store, StoreError};
use support::{Directory, end, ended, execution, head};

#[test]
fn a_file_that_is_no_store_is_named_with_a_way_out() {
    let directory = Directory::new();
    fs::create_dir_all(directory.state()).unwrap();
    let file = directory.file();
    fs::write(
        &file,
        "this is not a database, and long enough to be one".repeat(100),
    )
    .unwrap();
    let error = Store::open(&directory.state()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(&file.display().to_string()));
    assert!(error.hint().contains("move it out of the way"));
    fs::remove_file(&file).unwrap();
    assert!(Store::open(&directory.state()).is_ok(), "the way out works");
}

#[test]
fn a_damaged_page_is_an_error_and_not_a_wrong_answer() {
    let directory = Directory::new();
    let store = Store::open(&directory.state()).unwrap();
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    for i in 0..200 {
        recorder.note(&ended(i, execution(i, 12)));
    }
    let campaign = recorder.campaign().clone();
    drop(recorder);
    let file = directory.file();
    drop(store);
    wait_for_checkpoint(&file);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x5a);
    fs::write(&file, bytes).unwrap();
    let store = Store::open(&directory.state()).unwrap();
    let error = store.executions(&campaign).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

/// The writer's thread may close its connection a moment after the store.
fn wait_for_checkpoint(file: &std::path::Path) {
    let log = file.with_extension("db-wal");
    for _ in 0..500 {
        if !log.exists() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} is still there", log.display());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let directory = Directory::new();
    fs::write(directory.state(), "a file where the directory should be").unwrap();
    let error = Store::open(&directory.state()).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    fs::remove_file(directory.state()).unwrap();
    fs::create_dir_all(directory.file()).unwrap();
    let error = Store::open(&directory.state()).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    assert!(
        error
            .hint()
            .contains(&directory.state().display().to_string())
    );
}

#[test]
fn a_file_of_a_later_version_is_left_alone() {
    let directory = Directory::new();
    drop(Store::open(&directory.state()).unwrap());
    let connection = rusqlite::Connection::open(directory.file()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(&directory.state()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error:?}"
    );
}

#[test]
fn a_file_of_an_earlier_version_is_refused_with_a_way_out() {
    let directory = Directory::new();
    drop(Store::open(&directory.state()).unwrap());
    for version in 1..=3 {
        let connection = rusqlite::Connection::open(directory.file()).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
        let error = Store::open(&directory.state()).unwrap_err();
        assert!(
            matches!(error, StoreError::Older { found, .. } if found == version),
            "{error:?}"
        );
        assert!(error.hint().contains("delete it or move it away"));
    }
    fs::remove_file(directory.file()).unwrap();
    assert!(Store::open(&directory.state()).is_ok(), "the way out works");
}

#[test]
fn a_campaign_that_is_not_there_is_named() {
    let directory = Directory::new();
    assert!(Store::open_existing(&directory.state()).unwrap().is_none());
    let store = Store::open(&directory.state()).unwrap();
    let error = store
        .executions(&CampaignId::new("20260101-000000-0000"))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no campaign `20260101-000000-0000`")
    );
    let ignored = fs::read_to_string(directory.state().join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n", "a store is not for version control");
}

/// Four campaigns in four stores of one file, all writing at once.
#[test]
fn campaigns_at_the_same_time_do_not_disturb_each_other() {
    let directory = Directory::new();
    let state = &directory.state();
    let campaigns: Vec<(u64, CampaignId)> = thread::scope(|scope| {
        let write = |first: u64| {
            move || {
                let store = Store::open(state).unwrap();
                let mut recorder = store.begin(&head("checkout", "f")).unwrap();
                for i in first..first + 300 {
                    recorder.note(&ended(i, execution(i, 6)));
                    if i % 50 == 0 {
                        recorder.flush();
                    }
                }
                recorder.note(&end(&[]));
                recorder.flush();
                assert_eq!(store.trouble(), None);
                (first, recorder.campaign().clone())
            }
        };
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(write(n * 1000))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let store = Store::open(state).unwrap();
    assert_eq!(store.campaigns().unwrap().len(), 4);
    for (first, campaign) in campaigns {
        let executions = store.executions(&campaign).unwrap();
        assert_eq!(executions.len(), 300);
        for i in first..first + 300 {
            let expected = execution(i, 6);
            assert_eq!(executions[&expected.execution.faultload], expected);
        }
    }
}

const STATE: &str = "MURPHY_TEST_STATE";
const EXECUTIONS: u64 = 3000;

/// The system refuses to let files grow beyond a limit, as a full disk would.
/// The process notes everything all the same and is told of the trouble; what
/// was written before is whole.
#[test]
fn a_store_that_fails_on_the_way_lets_the_campaign_go_on() {
    let directory = Directory::new();
    // 2 MiB; the signal that would end the process is ignored.
    let limited = "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\"";
    let child = Command::new("bash")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "in_a_process_with_little_room",
            "--ignored",
            "--nocapture",
        ])
        .env(STATE, directory.state())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    assert!(said.contains("all noted"), "{said}");
    let store = Store::open(&directory.state()).unwrap();
    let campaign = store.campaigns().unwrap()[0].campaign.clone();
    let executions = store.executions(&campaign).unwrap();
    assert!(
        (1..EXECUTIONS as usize).contains(&executions.len()),
        "{}",
        executions.len()
    );
    for observed in executions.values() {
        let i = observed.took.as_nanos() as u64;
        assert_eq!(*observed, execution(i, 6));
    }
}

#[test]
#[ignore = "the other half of a_store_that_fails_on_the_way_lets_the_campaign_go_on"]
fn in_a_process_with_little_room() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let store = Store::open(state.as_ref()).unwrap();
    let mut recorder = store.begin(&head("checkout", "f")).unwrap();
    for i in 0..EXECUTIONS {
        recorder.note(&ended(i, execution(i, 6)));
    }
    recorder.flush();
    let trouble = store.trouble().expect("the disk is full");
    assert!(trouble.to_string().contains("store.db"), "{trouble}");
    drop(recorder);
    println!("all noted; {trouble}");
}
