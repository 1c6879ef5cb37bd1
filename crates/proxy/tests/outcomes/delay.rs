//! The answer comes late.

use std::time::Duration;

use murphy_model::Reply;

use crate::support::{ALL, ANSWER, End, Protocol, World};

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
async fn a_caller_with_less_patience_gives_up() {
    for protocol in ALL {
        let world = World::failing("delay:10s").await;
        let seen = world
            .call_within(protocol, Duration::from_millis(100))
            .await;
        assert_eq!(seen.end, End::GaveUp, "{protocol:?}");
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::TimedOut));
        assert!(detail.gave_up.is_some());
    }
}
