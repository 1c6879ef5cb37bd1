//! The connection ends without an answer: reset.

use murphy_model::Reply;

use crate::support::{ALL, End, World};

#[tokio::test]
async fn the_caller_sees_it_before_and_after_the_callee_worked() {
    for (mode, served) in [("reset", 0), ("after:reset", 1)] {
        for protocol in ALL {
            let world = World::failing(mode).await;
            let seen = world.call(protocol).await;
            assert_eq!(seen.end, End::Reset, "{mode} {protocol:?}");
            assert_eq!(seen.status, None, "{mode} {protocol:?}");
            assert_eq!(world.served(), served, "{mode} {protocol:?}");
            let (call, detail) = world.last().await;
            assert_eq!(call.reply, Some(Reply::Reset));
            assert_eq!((detail.landed, detail.gave_up), (Some(true), None));
        }
    }
}
