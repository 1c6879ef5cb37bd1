//! The body is not what its content type says.

use murphy_model::Reply;

use crate::support::{ALL, ANSWER, End, Protocol, World};

#[tokio::test]
async fn status_and_length_hold_and_the_content_does_not() {
    for protocol in ALL {
        let world = World::failing("after:malformed").await;
        let seen = world.call(protocol).await;
        assert_eq!(
            (seen.end, seen.status),
            (End::Proper, Some(200)),
            "{protocol:?}"
        );
        assert_eq!(seen.header("callee"), Some("itself"));
        assert_eq!(world.served(), 1);
        let (call, detail) = world.last().await;
        assert_eq!(detail.landed, Some(true));
        if protocol == Protocol::Grpc {
            assert_eq!(seen.body[..5], [0, 0, 0, 0, ANSWER.len() as u8]);
            assert!(seen.body[5..].iter().all(|byte| *byte == 0xff));
            assert_eq!(seen.grpc_status(), Some("0"));
            assert_eq!(call.reply, Some(Reply::GrpcOk));
        } else {
            assert_eq!(seen.body.len(), ANSWER.len());
            assert!(seen.text().starts_with("Injected fault"), "{}", seen.text());
            assert_eq!(call.reply, Some(Reply::Status(200)));
        }
    }
}
