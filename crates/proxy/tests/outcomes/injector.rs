//! An injector decides in place of a faultload: call by call, and once more
//! when the answer is there that is to be lost.

use std::sync::{Arc, Mutex};

use murphy_model::{CallId, Mode, Reply};
use murphy_proxy::Settings;
use murphy_registry::{Arrival, Ending, Injector, LostAnswer, SharedInjector};

use crate::support::{ANSWER, End, HTTP, PATIENCE, World, http1};

/// Fails the calls to `back` in this mode, unless their answers are errors of
/// at least this status.
struct Fails {
    mode: Mode,
    unless: u16,
    arrived: Vec<(CallId, Vec<(&'static str, String)>)>,
    ended: Vec<(CallId, Ending)>,
}

impl Injector for Fails {
    fn arrive(&mut self, call: CallId, arrival: &Arrival) -> Option<Mode> {
        let is_back = &*arrival.destination == "back";
        is_back.then(|| self.arrived.push((call, arrival.noted.clone())));
        is_back.then_some(self.mode)
    }

    fn is_still_to_fail(&mut self, _: CallId, status: u16) -> bool {
        status < self.unless
    }

    fn finish(&mut self, call: CallId, ending: &Ending) {
        self.ended.push((call, ending.clone()));
    }
}

/// A world in which it decides, and a hand on it.
async fn world(mode: &str, unless: u16) -> (World, Arc<Mutex<Fails>>) {
    let fails = Arc::new(Mutex::new(Fails {
        mode: mode.parse().unwrap(),
        unless,
        arrived: Vec::new(),
        ended: Vec::new(),
    }));
    let settings = Settings {
        noted: &["x-murphy-call", "x-other"],
        ..Settings::default()
    };
    let mut world = World::with("none", settings).await;
    world.decided_by(SharedInjector::new(fails.clone())).await;
    (world, fails)
}

fn last(fails: &Mutex<Fails>) -> Ending {
    fails.lock().unwrap().ended.last().unwrap().1.clone()
}

#[tokio::test]
async fn it_is_shown_every_call_and_what_came_of_it() {
    for protocol in HTTP {
        let (world, fails) = world("503", 600).await;
        assert_eq!(world.call(protocol).await.status, Some(503));
        assert_eq!(world.served(), 0);
        let ending = last(&fails);
        assert_eq!(
            (ending.reply, ending.landed, ending.lost),
            (Reply::Status(503), true, None)
        );
    }
}

#[tokio::test]
async fn what_was_lost_is_reported() {
    for protocol in HTTP {
        let (world, fails) = world("after:close", 600).await;
        let seen = world.call(protocol).await;
        assert_eq!((seen.status, seen.end), (None, End::Closed), "{protocol:?}");
        let Some(LostAnswer { status, body }) = last(&fails).lost else {
            panic!("an answer was lost");
        };
        assert_eq!((status, world.served()), (200, 1));
        assert_eq!((&body.bytes[..], body.cut), (ANSWER.as_bytes(), false));
    }
}

#[tokio::test]
async fn an_answer_with_nothing_to_lose_is_passed_on() {
    for protocol in HTTP {
        let (world, fails) = world("after:close", 200).await;
        let seen = world.call(protocol).await;
        assert_eq!((seen.status, seen.text()), (Some(200), ANSWER.to_owned()));
        let ending = last(&fails);
        assert_eq!((ending.landed, ending.lost), (false, None));
        let (_, detail) = world.last().await;
        assert_eq!(detail.landed, Some(false), "{protocol:?}");
    }
}

/// Sends these headers to `back`, as part of the execution.
async fn send(world: &World, path: &str, headers: &[(&'static str, &str)]) -> crate::support::Seen {
    let own = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    let headers: Vec<_> = world.context().into_iter().chain(own).collect();
    http1(world.back(), "GET", path, &headers, PATIENCE).await
}

#[tokio::test]
async fn a_library_raises_the_time_out_when_told_to() {
    for (mode, served) in [("hang", 0), ("after:hang", 1)] {
        let (world, fails) = world(mode, 600).await;
        let headers = [("x-murphy-pid", "7"), ("x-murphy-raises", "timeout")];
        let seen = send(&world, "/work", &headers).await;
        assert_eq!(seen.header("x-murphy-lost"), Some("timeout"), "{mode}");
        assert_eq!((seen.status, seen.text().as_str()), (Some(504), ""));
        let ending = last(&fails);
        assert_eq!((ending.reply, ending.gave_up), (Reply::TimedOut, false));
        assert_eq!((ending.landed, world.served()), (true, served));
    }
}

#[tokio::test]
async fn headers_of_libraries_are_noted_where_wanted_and_go_no_further() {
    let (world, fails) = world("after:close", 200).await;
    let headers = [
        ("x-murphy-pid", "7"),
        ("x-murphy-call", "7-1"),
        ("x-murphy-stack", "a.py:1:f"),
        ("x-other", "kept"),
    ];
    let echoed = send(&world, "/echo", &headers).await.text();
    assert!(!echoed.contains("x-murphy"), "{echoed}");
    assert!(echoed.contains("x-other: kept"), "{echoed}");
    let noted = fails.lock().unwrap().arrived.last().unwrap().1.clone();
    let wanted = [("x-murphy-call", "7-1"), ("x-other", "kept")];
    assert_eq!(noted, wanted.map(|(name, value)| (name, value.to_owned())));
    // Also of a call that belongs to nobody.
    let of_nobody = [("x-murphy-pid", "7".to_owned())];
    let echoed = http1(world.back(), "GET", "/echo", &of_nobody, PATIENCE).await;
    assert!(!echoed.text().contains("x-murphy"), "{echoed:?}");
}
