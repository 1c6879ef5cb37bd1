//! Before: the callee is never reached. After: it worked once, and its answer
//! is replaced.

use murphy_model::Reply;

use crate::support::{ALL, Protocol, World};

#[tokio::test]
async fn after_the_callee_has_worked_once_and_the_caller_sees_the_fault() {
    for (mode, status) in [("after:503", 503), ("after:404", 404)] {
        for protocol in ALL {
            let world = World::failing(mode).await;
            let seen = world.call(protocol).await;
            assert_eq!(seen.status, Some(status), "{mode} {protocol:?}");
            assert_eq!(seen.text(), "Injected fault");
            assert_eq!(seen.header("callee"), None);
            assert_eq!(world.served(), 1, "{mode} {protocol:?}");
        }
    }
    let world = World::failing("after:grpc:ABORTED").await;
    let seen = world.call(Protocol::Grpc).await;
    assert_eq!((seen.grpc_status(), world.served()), (Some("10"), 1));
    let (call, _) = world.last().await;
    assert_eq!(
        call.reply,
        Some(Reply::Grpc(murphy_model::GrpcCode::new(10).unwrap()))
    );
}
