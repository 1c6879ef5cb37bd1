//! The body trickles.

use std::time::Duration;

use crate::support::{ALL, ANSWER, End, World};

#[tokio::test]
async fn the_body_comes_at_the_rate() {
    // 57 bytes at 200 a second.
    let expected = Duration::from_millis(ANSWER.len() as u64 * 5);
    for protocol in ALL {
        let world = World::failing("after:slow:200").await;
        let seen = world.call(protocol).await;
        assert_eq!(
            (seen.end, seen.status),
            (End::Proper, Some(200)),
            "{protocol:?}"
        );
        assert!(seen.text().ends_with(ANSWER), "{protocol:?}");
        assert!(seen.took >= expected, "{protocol:?}: {:?}", seen.took);
        world.assert_own_answer_was_spoiled(protocol).await;
    }
}

#[tokio::test]
async fn the_head_comes_at_once_and_the_caller_may_give_up_in_the_body() {
    for protocol in ALL {
        let world = World::failing("after:slow:1").await;
        let seen = world
            .call_within(protocol, Duration::from_millis(300))
            .await;
        assert_eq!(
            (seen.end, seen.status),
            (End::GaveUp, Some(200)),
            "{protocol:?}"
        );
        world.assert_given_up().await;
    }
}
