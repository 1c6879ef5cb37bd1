//! No answer until the caller gives up.

use std::time::Duration;

use murphy_model::Reply;

use crate::support::{ALL, End, World};

#[tokio::test]
async fn the_caller_s_patience_is_measured() {
    let patience = Duration::from_millis(150);
    for (mode, served) in [("hang", 0), ("after:hang", 1)] {
        for protocol in ALL {
            let world = World::failing(mode).await;
            let seen = world.call_within(protocol, patience).await;
            assert_eq!(
                (seen.end, seen.status),
                (End::GaveUp, None),
                "{mode} {protocol:?}"
            );
            assert_eq!(world.served(), served, "{mode} {protocol:?}");
            let (call, detail) = world.last().await;
            assert_eq!(call.reply, Some(Reply::TimedOut));
            assert_eq!(detail.landed, Some(true));
            let measured = detail.gave_up.expect("the caller gave up");
            let low = patience - Duration::from_millis(100);
            assert!(
                measured > low && measured < patience * 20,
                "{mode} {protocol:?}: {measured:?}"
            );
        }
    }
}
