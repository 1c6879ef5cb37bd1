//! The body trickles.

use std::time::Duration;

use murphy_model::Reply;

use crate::support::{ALL, ANSWER, End, Protocol, World};

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
        let (call, detail) = world.last().await;
        let own = if protocol == Protocol::Grpc {
            Reply::GrpcOk
        } else {
            Reply::Status(200)
        };
        assert_eq!((call.reply, detail.landed), (Some(own), Some(true)));
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
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::TimedOut));
        assert!(detail.gave_up.is_some());
    }
}
