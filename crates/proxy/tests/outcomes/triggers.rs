//! Which attempts are injected, and which paths are ignored.

use std::time::Duration;

use murphy_proxy::Settings;

use crate::support::{ALL, HTTP, World};

#[tokio::test]
async fn the_nth_the_first_n_or_every_attempt() {
    let cases = [
        ("#2", [200, 503, 200]),
        ("#..2", [503, 503, 200]),
        ("#*", [503; 3]),
    ];
    for (attempts, expected) in cases {
        for protocol in ALL {
            let faults = format!("** > back * {attempts} = 503");
            let world = World::with(&faults, Settings::default()).await;
            for status in expected {
                let seen = world.call(protocol).await;
                assert_eq!(seen.status, Some(status), "{attempts} {protocol:?}");
            }
            let recorded = world.recorded().await;
            let counts: Vec<u32> = recorded.trace.calls()[1..]
                .iter()
                .map(|call| call.point.frame().count)
                .collect();
            assert_eq!(counts, [1, 2, 3]);
            assert!(recorded.details.iter().all(|it| it.finished.is_some()));
        }
    }
}

#[tokio::test]
async fn health_checks_are_ignored_unless_asked_for() {
    let patience = Duration::from_secs(5);
    for protocol in HTTP {
        let world = World::failing("503").await;
        let seen = world.call_path(protocol, "/healthz?full=1", patience).await;
        assert_eq!(seen.status, Some(200), "{protocol:?}");
        let calls = world.recorded().await.trace.calls().len();
        assert_eq!(calls, 1, "only the entry is recorded");

        let asked = Settings {
            ignored: vec![],
            ..Settings::default()
        };
        let world = World::with("** > back * #1 = 503", asked).await;
        let seen = world.call_path(protocol, "/healthz", patience).await;
        assert_eq!(seen.status, Some(503), "{protocol:?}");
    }
}
