//! Faults of calls to services that speak TLS: what a caller sees is the same
//! as without.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use murphy_proxy::Settings;
use rustls::version::TLS13;

use crate::authority::Authority;
use crate::server::{Served, config, serve};
use crate::support::{self, ALL, Seen, World};
use crate::upstream::trusting;

pub(crate) const MODES: [&str; 12] = [
    "503",
    "reset",
    "close",
    "hang",
    "delay:100ms",
    "truncate:20",
    "malformed",
    "duplicate",
    "after:503",
    "after:reset",
    "after:close",
    "after:truncate:20",
];

/// What can be compared.
pub(crate) fn seen(seen: &Seen) -> String {
    format!("{:?} {:?} {:?}", seen.status, seen.text(), seen.end)
}

#[tokio::test]
async fn callers_see_the_same_as_without_tls() {
    let authority = Authority::new();
    for mode in MODES {
        for protocol in ALL {
            let faults = format!("** > back * #* = {mode}");
            let patience = match mode {
                "hang" => Duration::from_millis(200),
                _ => support::PATIENCE,
            };
            let plain = World::with(&faults, Settings::default()).await;
            let without = plain.call_within(protocol, patience).await;
            let served = Served::default();
            let identity = authority.sign(&["a.example"]);
            let callee = serve(config(identity, &[&TLS13], None), &served).await;
            let tls = Some(trusting(&authority, "a.example"));
            let requests = served.requests.clone();
            let world = World::over(callee, tls, requests, &faults, Settings::default()).await;
            let with = world.call_within(protocol, patience).await;
            let case = format!("{mode} over {protocol:?}");
            assert_eq!(seen(&with), seen(&without), "{case}");
            let ((call, detail), (other_call, other)) = (world.last().await, plain.last().await);
            assert_eq!(call.reply, other_call.reply, "{case}");
            assert_eq!(detail.landed, other.landed, "{case}");
            assert_eq!(detail.organic, other.organic, "{case}");
            assert_eq!(served.requests.load(SeqCst), plain.served(), "{case}");
        }
    }
}
