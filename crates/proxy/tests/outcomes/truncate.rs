//! The body breaks off.

use murphy_model::Reply;

use crate::support::{ALL, ANSWER, End, Protocol, World};

/// How a body that is cut ends: over HTTP/2 some callers would take a cancelled
/// stream for one that has ended.
fn cut(protocol: Protocol) -> End {
    match protocol {
        Protocol::Http1 => End::Closed,
        Protocol::Http2 | Protocol::Grpc => End::Reset,
    }
}

#[tokio::test]
async fn exactly_so_many_bytes_come() {
    for bytes in [0, 1, 20] {
        for protocol in ALL {
            let world = World::failing(&format!("after:truncate:{bytes}")).await;
            let seen = world.call(protocol).await;
            assert_eq!(
                (seen.status, seen.end),
                (Some(200), cut(protocol)),
                "{bytes} {protocol:?}"
            );
            assert_eq!(seen.body.len(), bytes, "{protocol:?}");
            assert_eq!(world.served(), 1);
            let (call, detail) = world.last().await;
            assert_eq!(
                (call.reply, detail.landed),
                (Some(Reply::Broken), Some(true))
            );
        }
    }
}

#[tokio::test]
async fn a_shorter_body_still_ends_improperly() {
    for protocol in ALL {
        let world = World::failing("after:truncate:100000").await;
        let seen = world.call(protocol).await;
        assert_eq!(seen.end, cut(protocol), "{protocol:?}");
        if protocol != Protocol::Grpc {
            assert_eq!(seen.body.len(), ANSWER.len() - 1, "{protocol:?}");
        }
        assert!(seen.trailers.is_empty());
    }
}
