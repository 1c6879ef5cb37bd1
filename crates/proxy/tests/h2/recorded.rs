//! What the control plane gets to know, and when: of a request enough to tell
//! it apart, of an answer its status before its end is sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use murphy_model::{GrpcCode, Reply};
use murphy_proxy::Settings;

use crate::support::{
    Script, Served, callee, caller, campaign, front, one_thread, piece, read, request, soon,
};

/// How long the control plane takes to hear of an ending.
const FAR: Duration = Duration::from_millis(80);

fn grpc_status(status: &'static str) -> (HeaderName, HeaderValue) {
    (
        HeaderName::from_static("grpc-status"),
        HeaderValue::from_static(status),
    )
}

/// Answers in the shape that the path names.
async fn shaped(mut served: Served) {
    let trailers = HeaderMap::from_iter([grpc_status("5")]);
    match served.head.uri.path() {
        "/bare" => {
            served.start(true);
        }
        "/data" => served.start(false).send_data("x".into(), true).unwrap(),
        "/end" => {
            let mut answer = served.start(false);
            answer.send_data("x".into(), false).unwrap();
            tokio::time::sleep(Duration::from_millis(30)).await;
            answer.send_data(Bytes::new(), true).unwrap();
        }
        "/trailers" => {
            let mut answer = served.start(false);
            answer.send_data("x".into(), false).unwrap();
            answer.send_trailers(trailers).unwrap();
        }
        "/trailers-only" => {
            let mut head = Response::new(());
            *head.headers_mut() = trailers;
            served.respond.send_response(head, true).unwrap();
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_ending_is_reported_before_its_last_frame_is_sent() {
    let callee = callee(shaped).await;
    let far = Arc::new(Script::far(FAR));
    let front = front(callee, far.clone(), one_thread());
    let mut caller = caller(front.address).await;
    for (number, path) in ["/bare", "/data", "/end", "/trailers", "/trailers-only"]
        .into_iter()
        .enumerate()
    {
        let (answer, _) = caller.send(request("GET", path), true).await;
        let mut body = soon(answer).await.unwrap().into_body();
        read(&mut body).await.unwrap();
        soon(body.trailers()).await.unwrap();
        let known = far.endings().len();
        assert_eq!(known, number + 1, "{path}");
    }
}

#[tokio::test]
async fn and_what_comes_before_the_last_frame_does_not_wait_for_it() {
    let callee = callee(shaped).await;
    let far = Arc::new(Script::far(FAR));
    let front = front(callee, far.clone(), one_thread());
    let mut caller = caller(front.address).await;
    for path in ["/end", "/trailers"] {
        let begun = Instant::now();
        let (answer, _) = caller.send(request("GET", path), true).await;
        let mut body = soon(answer).await.unwrap().into_body();
        assert_eq!(piece(&mut body).await, "x");
        assert!(begun.elapsed() < FAR, "{path}");
        assert_eq!(read(&mut body).await.unwrap(), "");
        soon(body.trailers()).await.unwrap();
        assert!(begun.elapsed() >= FAR, "{path}");
    }
}

fn grpc(path: &str) -> Request<()> {
    let mut request = request("POST", path);
    let kind = HeaderValue::from_static("application/grpc");
    request.headers_mut().insert("content-type", kind);
    request
}

#[tokio::test]
async fn the_grpc_status_is_read_from_trailers_or_the_head() {
    let callee = callee(shaped).await;
    let not_found = Reply::Grpc(GrpcCode::named("NOT_FOUND").unwrap());
    for (path, reply) in [
        ("/trailers", not_found),
        ("/trailers-only", not_found),
        ("/data", Reply::Broken),
    ] {
        let campaign = campaign(callee);
        let mut caller = caller(campaign.front.address).await;
        let (answer, _) = caller.send(grpc(path), true).await;
        crate::support::Answer::read(answer).await.unwrap();
        let recorded = campaign.recorded().await;
        assert_eq!(recorded.trace.final_reply(), Some(reply), "{path}");
    }
}

/// A gRPC message with its prefix.
fn message(text: &str) -> Bytes {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    [&[0], &length[..], text.as_bytes()].concat().into()
}

/// A body as a caller sends it.
struct Body {
    grpc: bool,
    /// Sent at once, one frame each.
    frames: Vec<Bytes>,
    /// Whether the last of them ends it; otherwise an empty one does later.
    ends: bool,
}

#[tokio::test]
async fn so_much_of_a_request_is_read_and_all_of_it_is_sent_on() {
    const LIMIT: usize = 100;
    let long = Bytes::from("l".repeat(LIMIT + 1));
    let joined = [message("one"), message("two")].concat();
    let cut_up = |bytes: &[u8]| bytes.iter().map(|b| vec![*b].into()).collect();
    let body = |grpc, frames: Vec<Bytes>, ends| Body { grpc, frames, ends };
    let cases: Vec<(&str, Body, &str, bool)> = vec![
        (
            "whole",
            body(false, vec!["ab".into(), "cd".into()], true),
            "abcd",
            false,
        ),
        ("open", body(false, vec!["ab".into()], false), "ab", true),
        (
            "at the limit",
            body(false, vec![long.slice(1..)], true),
            &long_text(LIMIT),
            false,
        ),
        (
            "over it",
            body(false, vec![long.clone()], true),
            &long_text(LIMIT),
            true,
        ),
        ("nothing yet", body(false, vec![], false), "", true),
        (
            "a message",
            body(true, vec![message("one")], true),
            "one",
            false,
        ),
        (
            "its end comes later",
            body(true, vec![message("one")], false),
            "one",
            false,
        ),
        (
            "another follows",
            body(true, vec![joined.clone().into()], true),
            "one",
            false,
        ),
        (
            "byte by byte",
            body(true, cut_up(&joined), true),
            "one",
            false,
        ),
        (
            "half a message",
            body(true, vec![message("one").slice(..6)], false),
            "o",
            true,
        ),
        ("no message", body(true, vec![], false), "", true),
    ]
    .into_iter()
    .map(|(name, body, read, cut)| (name, body, leak(read), cut))
    .collect();
    let callee = callee(|served: Served| served.echo()).await;
    for (name, body, seen, cut) in cases {
        let far = Arc::new(Script::far(FAR));
        let settings = Settings {
            body_limit: LIMIT,
            body_patience: Duration::from_millis(100),
            ..one_thread()
        };
        let front = front(callee, far.clone(), settings);
        let mut caller = caller(front.address).await;
        let request = if body.grpc {
            grpc("/s/M")
        } else {
            request("POST", "/")
        };
        let (answer, mut upload) = caller.send(request, false).await;
        let count = body.frames.len();
        for (number, frame) in body.frames.iter().enumerate() {
            let last = body.ends && number + 1 == count;
            upload.send_data(frame.clone(), last).unwrap();
        }
        if !body.ends {
            tokio::time::sleep(Duration::from_millis(200)).await;
            upload.send_data("!".into(), true).unwrap();
        }
        let answer = crate::support::Answer::read(answer).await.unwrap();
        let end: &[u8] = if body.ends { b"" } else { b"!" };
        assert_eq!(answer.body, [&body.frames.concat(), end].concat(), "{name}");
        let arrival = far.last_arrival();
        assert_eq!(
            (&arrival.body[..], arrival.body_cut),
            (seen.as_bytes(), cut),
            "{name}"
        );
    }
}

fn long_text(length: usize) -> String {
    "l".repeat(length)
}

/// Cases live as long as the test.
fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

#[tokio::test]
async fn a_request_without_a_body_is_not_waited_for() {
    let callee = callee(shaped).await;
    let far = Arc::new(Script::far(FAR));
    let front = front(callee, far.clone(), one_thread());
    let mut caller = caller(front.address).await;
    let begun = Instant::now();
    caller.get("/bare").await.unwrap();
    assert!(
        begun.elapsed() < Duration::from_millis(900),
        "no patience needed"
    );
    let arrival = far.last_arrival();
    assert_eq!((&arrival.body[..], arrival.body_cut), (&b""[..], false));
}

#[tokio::test]
async fn the_trailers_of_a_request_that_was_read_are_sent_on() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let callee = callee(move |mut served: Served| {
        let tell = tell.clone();
        async move {
            let body = read(&mut served.body).await.unwrap();
            let trailers = served.body.trailers().await.unwrap();
            tell.send((body, trailers)).unwrap();
            served.start(true);
        }
    })
    .await;
    let far = Arc::new(Script::far(FAR));
    let front = front(callee, far, one_thread());
    let mut caller = caller(front.address).await;
    for data in ["", "some"] {
        let trailers = HeaderMap::from_iter([grpc_status("7")]);
        let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
        if !data.is_empty() {
            upload.send_data(data.into(), false).unwrap();
        }
        upload.send_trailers(trailers.clone()).unwrap();
        soon(answer).await.unwrap();
        assert_eq!(told.recv().await.unwrap(), (data.into(), Some(trailers)));
    }
}

#[tokio::test]
async fn a_caller_that_waits_for_permission_to_send_gets_it() {
    let callee = callee(|served: Served| served.echo()).await;
    let campaign = campaign(callee);
    let mut caller = caller(campaign.front.address).await;
    let mut asking = request("POST", "/");
    let expect = HeaderValue::from_static("100-continue");
    asking.headers_mut().insert("expect", expect);
    let (mut answer, mut upload) = caller.send(asking, false).await;
    let interim = soon(std::future::poll_fn(|cx| answer.poll_informational(cx))).await;
    assert_eq!(interim.unwrap().unwrap().status(), 100);
    upload.send_data("then".into(), true).unwrap();
    let answer = crate::support::Answer::read(answer).await.unwrap();
    assert_eq!(answer.body, "then");
}

#[tokio::test]
async fn a_message_whose_end_comes_alone_can_be_delivered_twice() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let callee = callee(move |mut served: Served| {
        let tell = tell.clone();
        async move {
            tell.send(read(&mut served.body).await.unwrap()).unwrap();
            let mut head = Response::new(());
            head.headers_mut().extend([grpc_status("0")]);
            served.respond.send_response(head, true).unwrap();
        }
    })
    .await;
    let script = Arc::new(Script::failing("duplicate"));
    let front = front(callee, script.clone(), one_thread());
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(grpc("/s/M"), false).await;
    upload.send_data(message("once"), false).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    upload.send_data(Bytes::new(), true).unwrap();
    crate::support::Answer::read(answer).await.unwrap();
    for _ in 0..2 {
        assert_eq!(soon(told.recv()).await.unwrap(), message("once"));
    }
    let ending = script.endings()[0];
    assert_eq!((ending.landed, ending.reply), (true, Reply::GrpcOk));
}
