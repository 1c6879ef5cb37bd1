//! A Murphy that is killed leaves processes behind; the next one stops them.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use murphy_system::clean_up;
use support::*;

#[test]
fn role() {
    play_role();
}

/// Not a test of its own: the Murphy that gets killed. It starts a system and
/// waits.
#[test]
fn owner() {
    let Ok(state) = std::env::var("OWNER_STATE") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // A command that would outlive its own end, and leaves its group.
        let scenario = support::scenario(murphy_system::spec::ScenarioKind::Command(shell(
            "setsid sleep 1000 & sleep 1000",
        )));
        let world = start(shop(FORWARDED), scenario, &state).await.unwrap();
        println!(
            "at {} {}",
            world.system().direct("shop").unwrap(),
            world.system().direct("cart").unwrap()
        );
        run(&world, "").await;
    });
}

#[test]
fn what_a_killed_owner_left_behind_is_stopped_by_the_next() {
    let folder = folder();
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["owner", "--exact", "--nocapture"])
        .env("OWNER_STATE", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let line = lines
        .map_while(Result::ok)
        .find(|line| line.contains("at 127."));
    let line = line.expect("the owner starts its system");
    let at = line.split_once("at 127.").unwrap().1;
    let places: Vec<String> = format!("127.{at}").split(' ').map(str::to_owned).collect();
    let own = format!("MURPHY_OWNER={}-", owner.id());
    let marked = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let marked = processes.filter(|it| {
            let environment = std::fs::read(it.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&own)
        });
        marked.count()
    };
    assert!(
        soon(|| marked() >= 4),
        "two services, a test and what it started"
    );

    assert!(clean_up(folder.path()).is_empty(), "the owner lives");
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(
        places.iter().all(|it| !is_free(it)),
        "services outlive their owner"
    );

    let done = clean_up(folder.path());
    let mut stopped: Vec<&str> = done[0]
        .stopped
        .iter()
        .map(|(_, what)| what.as_str())
        .collect();
    stopped.sort_unstable();
    assert_eq!((done.len(), done[0].owner), (1, owner.id() as i32));
    for what in ["cart", "shop", "sleep 1000"] {
        assert!(stopped.contains(&what), "{what} in {stopped:?}");
    }
    for address in &places {
        assert!(is_free(address), "{address} is still bound");
    }
    assert_eq!(marked(), 0);
    assert!(
        clean_up(folder.path()).is_empty(),
        "there is nothing left to do"
    );
}
