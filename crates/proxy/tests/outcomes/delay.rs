//! The answer comes late.

use std::time::Duration;

use crate::support::{ALL, ANSWER, End, World};

#[tokio::test]
async fn the_callee_s_own_answer_comes_late() {
    for protocol in ALL {
        let world = World::failing("delay:200ms").await;
        let seen = world.call(protocol).await;
        assert_eq!(
            (seen.end, seen.status),
            (End::Proper, Some(200)),
            "{protocol:?}"
        );
        assert!(seen.took >= Duration::from_millis(200), "{protocol:?}");
        assert!(seen.text().ends_with(ANSWER));
        assert_eq!(world.served(), 1);
        world.assert_own_answer_was_spoiled(protocol).await;
    }
}

#[tokio::test]
async fn a_caller_with_less_patience_gives_up() {
    for protocol in ALL {
        let world = World::failing("delay:10s").await;
        let seen = world
            .call_within(protocol, Duration::from_millis(100))
            .await;
        assert_eq!(seen.end, End::GaveUp, "{protocol:?}");
        world.assert_given_up().await;
    }
}
