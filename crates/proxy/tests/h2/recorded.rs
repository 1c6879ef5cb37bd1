//! What the control plane gets to know, and when: of a request enough to tell
//! it apart, of an answer its status before its end is sent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use murphy_model::{GrpcCode, Reply};
use murphy_proxy::Settings;
use murphy_registry::Arrival;

use crate::support::{
    Received, Script, Served, callee, caller, campaign, front, one_thread, read, request, soon,
};

/// How long the control plane takes to note an ending.
const SLOW: Duration = Duration::from_millis(200);

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
    let script = Arc::new(Script::slow(SLOW));
    let front = front(callee, script.clone(), one_thread());
    let mut caller = caller(front.address).await;
    for (number, path) in ["/bare", "/data", "/end", "/trailers", "/trailers-only"]
        .into_iter()
        .enumerate()
    {
        let (answer, _) = caller.send(request("GET", path), true).await;
        let mut body = soon(answer).await.unwrap().into_body();
        read(&mut body).await.unwrap();
        soon(body.trailers()).await.unwrap();
        let known = script.endings().len();
        assert_eq!(known, number + 1, "{path}");
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
        Received::read(answer).await.unwrap();
        let recorded = campaign.recorded().await;
        assert_eq!(recorded.trace.final_reply(), Some(reply), "{path}");
    }
}

/// A gRPC message with its prefix.
fn message(text: &str) -> Bytes {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    [&[0], &length[..], text.as_bytes()].concat().into()
}

/// A body as a caller sends it, frame by frame.
struct Body {
    grpc: bool,
    frames: Vec<Bytes>,
    /// Whether the last of them ends it; if not, more comes when the call has
    /// been named.
    ends: bool,
}

fn plain(frames: &[&'static str], ends: bool) -> Body {
    Body {
        grpc: false,
        frames: frames.iter().map(|frame| Bytes::from(*frame)).collect(),
        ends,
    }
}

fn messages(frames: Vec<Bytes>, ends: bool) -> Body {
    Body {
        grpc: true,
        frames,
        ends,
    }
}

/// How much of a body is read before a call is named.
const LIMIT: usize = 10;

#[tokio::test]
async fn so_much_of_a_request_is_read_and_all_of_it_is_sent_on() {
    let one = message("one");
    let two = Bytes::from([message("one"), message("two")].concat());
    let cut_up = (0..two.len()).map(|at| two.slice(at..=at)).collect();
    let cases: [(&str, Body, &str, bool); 11] = [
        ("whole", plain(&["ab", "cd"], true), "abcd", false),
        ("open", plain(&["ab"], false), "ab", true),
        ("nothing yet", plain(&[], false), "", true),
        (
            "at the limit",
            plain(&["0123456789"], true),
            "0123456789",
            false,
        ),
        ("over it", plain(&["0123456789+"], true), "0123456789", true),
        ("message", messages(vec![one.clone()], true), "one", false),
        (
            "end later",
            messages(vec![one.clone()], false),
            "one",
            false,
        ),
        ("another message", messages(vec![two], true), "one", false),
        ("byte by byte", messages(cut_up, true), "one", false),
        (
            "half a message",
            messages(vec![one.slice(..6)], false),
            "o",
            true,
        ),
        ("no message", messages(vec![], false), "", true),
    ];
    let callee = callee(|served: Served| served.echo()).await;
    for (name, body, seen, cut) in cases {
        let arrival = arrival(callee, &body).await;
        let read = (&arrival.body[..], arrival.body_cut);
        assert_eq!(read, (seen.as_bytes(), cut), "{name}");
    }
}

/// Sends a request that comes back as its answer, and tells how it was named.
async fn arrival(callee: SocketAddr, body: &Body) -> Arrival {
    let script = Arc::new(Script::default());
    let settings = Settings {
        body_limit: LIMIT,
        body_patience: Duration::from_millis(200),
        ..one_thread()
    };
    let front = front(callee, script.clone(), settings);
    let mut caller = caller(front.address).await;
    let head = if body.grpc {
        grpc("/s/M")
    } else {
        request("POST", "/")
    };
    let (answer, mut upload) = caller.send(head, false).await;
    for (number, frame) in body.frames.iter().enumerate() {
        let last = body.ends && number + 1 == body.frames.len();
        upload.send_data(frame.clone(), last).unwrap();
    }
    let arrival = soon(script.arrival()).await;
    if !body.ends {
        upload.send_data("!".into(), true).unwrap();
    }
    let answer = Received::read(answer).await.unwrap();
    let rest = if body.ends { "" } else { "!" };
    assert_eq!(
        answer.body,
        [&body.frames.concat(), rest.as_bytes()].concat()
    );
    arrival
}

#[tokio::test]
async fn a_request_without_a_body_is_not_waited_for() {
    let callee = callee(shaped).await;
    let script = Arc::new(Script::slow(SLOW));
    let front = front(callee, script.clone(), one_thread());
    let mut caller = caller(front.address).await;
    let begun = Instant::now();
    caller.get("/bare").await.unwrap();
    assert!(begun.elapsed() < one_thread().body_patience);
    let arrival = soon(script.arrival()).await;
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
    let script = Arc::new(Script::slow(SLOW));
    let front = front(callee, script, one_thread());
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
    let answer = Received::read(answer).await.unwrap();
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
    Received::read(answer).await.unwrap();
    for _ in 0..2 {
        assert_eq!(soon(told.recv()).await.unwrap(), message("once"));
    }
    let ending = script.endings().remove(0);
    assert_eq!((ending.landed, ending.reply), (true, Reply::GrpcOk));
}
