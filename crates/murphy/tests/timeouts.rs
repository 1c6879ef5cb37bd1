//! The oracles on what proxies notice: a real system on sockets, with times.
//!
//! Proves that a misconfigured timeout is found where callers really go away,
//! that one which is in order is not, and that the profile measures patience.
//! A simulation has no clock and would pass without any of the details.

use std::sync::Arc;

use murphy::campaign::World;
use murphy::demo::{ExampleWorld, Options};
use murphy_corpus::sockets::{self, Source};
use murphy_model::{EdgeProfile, Faultload, Finding, Observed};
use murphy_oracle::{Findings, Profile, Reference, Settings};

/// A tenth of the time: the gateway waits 100 ms for the profile, which waits
/// 1.5 s for telemetry, as the gateway does for the list.
const PACE: f64 = 0.1;

const GATEWAY: &str = "mobile-client GET /netflix/homepage/users/chris_rivers > \
    api-gateway GET /homepage/users/chris_rivers";

async fn netflix(settings: &str) -> ExampleWorld {
    let app = murphy_corpus::find("netflix").unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    let options = Options {
        services: sockets::Options {
            pace: PACE,
            ..sockets::Options::default()
        },
        ..Options::default()
    };
    let source = Source::App(app, settings);
    ExampleWorld::start(source, options).await.unwrap()
}

async fn run(world: &ExampleWorld, faultload: &Faultload) -> Observed {
    world.run(0, faultload, world.identity()).await.unwrap()
}

/// What is found, and what every edge does, under each of these faults at a
/// service that the gateway or the profile calls.
async fn judged(settings: &str, faults: &[&str]) -> (Vec<Finding>, Vec<EdgeProfile>) {
    let world = netflix(settings).await;
    let first = run(&world, &Faultload::none()).await;
    let reference = Arc::new(Reference::of([&first]));
    let mut findings = Findings::with("netflix", Settings::default(), reference.clone());
    let mut profile = Profile::new(reference);
    for (i, fault) in faults.iter().enumerate() {
        let observed = run(&world, &format!("** > {fault}").parse().unwrap()).await;
        assert!(!observed.execution.trace.injected().is_empty(), "{fault}");
        findings.judge(i + 1, &observed);
        profile.take(&observed);
    }
    (findings.into_findings(), profile.rows())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_leaves_before_its_callee_is_done_is_found() {
    let faults = [
        "telemetry * = delay:2s",
        "telemetry * = hang",
        "my-list * = hang",
        "bookmarks * = 500",
    ];
    let (found, profile) = judged("bugs=on", &faults).await;
    let oracles: Vec<&str> = found.iter().map(|f| &*f.oracle).collect();
    assert_eq!(oracles, ["timeout-inversion"], "{found:#?}");
    let edge = found[0].edge.as_ref().unwrap().without_predecessors();
    let expected = format!("{GATEWAY} > user-profile GET /users/chris_rivers");
    assert_eq!(edge.to_string(), expected);
    assert_eq!(found[0].seen, 2, "with delay and with hang");
    let of = |service: &str| {
        let mut rows = profile.iter();
        let row = rows.find(|row| &*row.edge.callee.service == service);
        row.unwrap_or_else(|| panic!("{service} was called"))
    };
    // How long each took is the machine's affair; which took longer is not.
    let patience = |service: &str| of(service).timeout.unwrap();
    let (short, long) = (patience("user-profile"), patience("my-list"));
    assert!(short.most < long.least, "{short:?} {long:?}");
    assert!(of("bookmarks").fallbacks == 1 && of("bookmarks").timeout.is_none());
    assert!(of("my-list").attempts == 2, "asked again after no answer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_longer_than_the_callee_is_in_order() {
    let faults = ["user-profile * = hang", "my-list * = delay:2s"];
    let (found, _) = judged("", &faults).await;
    assert_eq!(found, []);
}
