//! The callee gets the request twice.

use crate::support::{ALL, ANSWER, End, World};

#[tokio::test]
async fn the_callee_works_twice_and_the_caller_sees_one_answer() {
    for protocol in ALL {
        let world = World::failing("duplicate").await;
        let seen = world.call(protocol).await;
        assert_eq!(
            (seen.end, seen.status),
            (End::Proper, Some(200)),
            "{protocol:?}"
        );
        assert!(seen.text().ends_with(ANSWER));
        assert_eq!(world.served(), 2, "{protocol:?}");
        let (_, detail) = world.last().await;
        assert_eq!(detail.landed, Some(true));
        let calls = world.recorded().await.trace.calls().len();
        assert_eq!(calls, 2, "the entry and one call, delivered twice");
    }
}
