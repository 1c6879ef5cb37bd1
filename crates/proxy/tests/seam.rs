//! A proxy does not know where its control plane is: one that answers after a
//! round trip, and loses some answers so that they are asked for again, gives
//! the same record as one in the same process.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use murphy_proxy::Settings;
use murphy_registry::{
    Answer, Arrival, CallKey, ContextHint, Control, Decision, Ending, Origin, Owner, Registry,
    Unknown,
};
use support::{ALL, End, Protocol, World, serve};

const ROUND_TRIP: Duration = Duration::from_millis(3);

/// The registry at the other end of a bad network.
struct Remote {
    registry: Arc<Registry>,
    asked: Arc<AtomicU32>,
}

impl Control for Remote {
    fn idle(&self) -> bool {
        self.registry.idle()
    }

    fn recognise(&self, hints: &[ContextHint], origin: &Origin) -> Option<Owner> {
        self.registry.recognise(hints, origin)
    }

    fn arrive(&self, arrival: Arrival) -> Answer<Result<Decision, Unknown>> {
        let registry = self.registry.clone();
        let asked = self.asked.clone();
        Answer::Pending(Box::pin(async move {
            // Every answer is lost once.
            for _ in 0..2 {
                tokio::time::sleep(ROUND_TRIP).await;
                asked.fetch_add(1, Ordering::Relaxed);
                registry.arrive(arrival.clone()).get().await?;
            }
            registry.arrive(arrival).get().await
        }))
    }

    fn finish(&self, key: CallKey, ending: Ending) -> Answer<()> {
        let registry = self.registry.clone();
        Answer::Pending(Box::pin(async move {
            tokio::time::sleep(ROUND_TRIP).await;
            registry.finish(key, ending.clone()).get().await;
            registry.finish(key, ending).get().await;
        }))
    }
}

#[tokio::test]
async fn a_control_plane_a_round_trip_away_gives_the_same_record() {
    let modes = [
        "503",
        "reset",
        "after:close",
        "delay:10ms",
        "after:truncate:3",
        "hang",
    ];
    for mode in modes {
        for protocol in ALL {
            let patience = Duration::from_millis(if mode == "hang" { 100 } else { 5_000 });
            let near = World::failing(mode).await;
            let seen_near = near.call_within(protocol, patience).await;
            let far = far(mode).await;
            let seen_far = far.call_within(protocol, patience).await;
            assert_eq!(seen_near.end, seen_far.end, "{mode} {protocol:?}");
            assert_eq!(seen_near.status, seen_far.status, "{mode} {protocol:?}");
            let (near, far) = (near.recorded().await, far.recorded().await);
            assert_eq!(near.trace, far.trace, "{mode} {protocol:?}");
            assert!(far.quiet);
        }
    }
}

/// As [`World::failing`], with a control plane far away.
async fn far(mode: &str) -> World {
    let served = Arc::default();
    let callee = serve(Arc::clone(&served)).await;
    let asked = Arc::new(AtomicU32::new(0));
    let control = {
        let asked = asked.clone();
        move |registry: Arc<Registry>| -> Arc<dyn Control> { Arc::new(Remote { registry, asked }) }
    };
    let faults = format!("** > back * #* = {mode}");
    let world = World::controlled(callee, served, &faults, Settings::default(), control).await;
    assert!(asked.load(Ordering::Relaxed) >= 2, "it was really asked");
    world
}

#[tokio::test]
async fn what_belongs_to_nobody_never_waits_for_it() {
    let world = far("503").await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let seen = world.stranger(protocol).await;
        assert_eq!(
            (seen.status, seen.end),
            (Some(200), End::Proper),
            "{protocol:?}"
        );
    }
    assert_eq!(world.recorded().await.trace.calls().len(), 1);
}
