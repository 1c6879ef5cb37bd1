//! An HTTP status in place of the answer.

use std::collections::BTreeMap;

use murphy_model::Reply;
use murphy_proxy::{InjectedAnswer, MARKER, Settings};

use crate::support::{ALL, End, HTTP, PATIENCE, Protocol, World};

#[tokio::test]
async fn the_status_comes_with_a_plain_text_and_a_marker() {
    for protocol in ALL {
        let world = World::failing("503").await;
        let seen = world.call(protocol).await;
        assert_eq!(seen.status, Some(503), "{protocol:?}");
        assert_eq!(seen.text(), "Injected fault");
        assert_eq!(
            seen.header("content-type"),
            Some("text/plain; charset=utf-8")
        );
        assert_eq!(seen.header(MARKER), Some("503"));
        assert_eq!(seen.header("retry-after"), Some("1"));
        assert_eq!(world.served(), 0);
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::Status(503)));
        assert_eq!(detail.landed, Some(true));
    }
}

#[tokio::test]
async fn every_status_can_be_injected() {
    for status in [200, 204, 301, 304, 400, 404, 418, 429, 500, 502, 504, 599] {
        for protocol in ALL {
            let world = World::failing(&status.to_string()).await;
            let seen = world.call(protocol).await;
            assert_eq!(seen.status, Some(status), "{protocol:?}");
            assert_eq!(seen.end, End::Proper, "{status} {protocol:?}");
            assert_eq!(world.served(), 0);
        }
    }
}

#[tokio::test]
async fn body_and_headers_can_be_set_and_the_marker_switched_off() {
    let own = InjectedAnswer {
        headers: vec![
            (
                http::header::CONTENT_TYPE,
                "application/problem+json".parse().unwrap(),
            ),
            (http::header::RETRY_AFTER, "120".parse().unwrap()),
        ],
        body: r#"{"title":"busy"}"#.to_owned(),
    };
    for protocol in ALL {
        let settings = Settings {
            marker: false,
            answers: BTreeMap::from([(429, own.clone())]),
            ..Settings::default()
        };
        let world = World::with("** > back * #1 = 429", settings).await;
        let seen = world.call(protocol).await;
        assert_eq!(seen.status, Some(429));
        assert_eq!(seen.text(), r#"{"title":"busy"}"#);
        assert_eq!(
            seen.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(seen.header("retry-after"), Some("120"));
        assert_eq!(seen.header(MARKER), None);
    }
}

#[tokio::test]
async fn an_answer_to_head_has_no_body() {
    let world = World::failing("500").await;
    let seen = world.head().await;
    assert_eq!((seen.status, seen.text().as_str()), (Some(500), ""));
}

#[tokio::test]
async fn others_are_not_injected() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let world = World::failing("503").await;
        let seen = world.stranger(protocol).await;
        assert_eq!(seen.status, Some(200), "{protocol:?}");
        assert_eq!(world.served(), 1);
    }
}

/// A URL that was signed for S3.
const SIGNED: &str =
    "/shop/tea?X-Amz-Credential=AKID%2F20260101%2Feu-central-1%2Fs3%2Faws4_request";

#[tokio::test]
async fn a_call_to_a_cloud_service_gets_its_dialect_and_the_marker() {
    for protocol in HTTP {
        for mode in ["503", "after:503"] {
            let world = World::failing(mode).await;
            let seen = world.call_path(protocol, SIGNED, PATIENCE).await;
            assert_eq!((seen.status, seen.end), (Some(503), End::Proper));
            assert!(seen.text().contains("<Code>SlowDown</Code>"), "{seen:?}");
            assert_eq!(seen.header("content-type"), Some("application/xml"));
            assert_eq!(seen.header("retry-after"), None, "{protocol:?}");
            assert_eq!(seen.header(MARKER), Some(mode));
            // The id names the call.
            let id = seen.header("x-amz-request-id").unwrap();
            let execution = format!("murphy-{}-", world.execution);
            assert!(id.starts_with(&execution), "{id}");
            assert!(
                seen.text()
                    .contains(&format!("<RequestId>{id}</RequestId>"))
            );
        }
    }
}

#[tokio::test]
async fn a_status_that_the_cloud_service_does_not_use_is_plain() {
    for protocol in HTTP {
        let world = World::failing("418").await;
        let seen = world.call_path(protocol, SIGNED, PATIENCE).await;
        assert_eq!(seen.text(), "Injected fault", "{protocol:?}");
    }
}

#[tokio::test]
async fn a_users_own_answer_wins_over_the_dialect() {
    let own = InjectedAnswer {
        headers: Vec::new(),
        body: "mine".to_owned(),
    };
    for protocol in HTTP {
        let settings = Settings {
            answers: BTreeMap::from([(503, own.clone())]),
            ..Settings::default()
        };
        let world = World::with("** > back * #* = 503", settings).await;
        let seen = world.call_path(protocol, SIGNED, PATIENCE).await;
        assert_eq!(seen.text(), "mine", "{protocol:?}");
    }
}

#[tokio::test]
async fn head_gets_the_headers_of_a_dialect_and_no_body() {
    let world = World::failing("503").await;
    let seen = world.head_path(SIGNED).await;
    assert_eq!((seen.status, seen.text().as_str()), (Some(503), ""));
    assert!(seen.header("x-amz-request-id").is_some());
    assert_eq!(seen.end, End::Proper);
}
