//! The four shapes of gRPC, and answers that come earlier than they have to.
//! A proxy that reads a request before it sends it, or an answer before it
//! passes it on, hangs in all but the first.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use crate::support::{callee, caller, pass_through, piece, read, request, soon};

fn trailers(status: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(
        http::HeaderName::from_static("grpc-status"),
        HeaderValue::from_static(status),
    )])
}

#[tokio::test]
async fn unary() {
    let callee = callee(|mut served| async move {
        let body = read(&mut served.body).await.unwrap();
        let mut answer = served.start(false);
        answer.send_data(body, false).unwrap();
        answer.send_trailers(trailers("0")).unwrap();
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let answer = caller.post("/s/M", Bytes::from("hello")).await.unwrap();
    assert_eq!(answer.body, "hello");
    assert_eq!(answer.trailers, Some(trailers("0")));
}

#[tokio::test]
async fn server_streaming() {
    let (next, pace) = tokio::sync::mpsc::unbounded_channel();
    let pace = std::sync::Arc::new(tokio::sync::Mutex::new(pace));
    let callee = callee(move |mut served| {
        let pace = pace.clone();
        async move {
            let mut answer = served.start(false);
            let mut pace = pace.lock().await;
            while let Some(message) = pace.recv().await {
                answer.send_data(message, false).unwrap();
            }
            answer.send_trailers(trailers("0")).unwrap();
        }
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, _upload) = caller.send(request("POST", "/s/M"), true).await;
    let mut body = soon(answer).await.unwrap().into_body();
    for message in ["one", "two", "three"] {
        next.send(Bytes::from(message)).unwrap();
        assert_eq!(piece(&mut body).await, message);
    }
    drop(next);
    assert!(soon(body.data()).await.is_none());
    assert_eq!(soon(body.trailers()).await.unwrap(), Some(trailers("0")));
}

#[tokio::test]
async fn client_streaming() {
    let (seen, mut arrived) = tokio::sync::mpsc::unbounded_channel();
    let callee = callee(move |mut served| {
        let seen = seen.clone();
        async move {
            while let Some(Ok(message)) = served.body.data().await {
                seen.send(message).unwrap();
            }
            served.start(true);
        }
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/s/M"), false).await;
    for message in ["one", "two", "three"] {
        upload.send_data(Bytes::from(message), false).unwrap();
        assert_eq!(soon(arrived.recv()).await.unwrap(), message);
    }
    upload.send_data(Bytes::new(), true).unwrap();
    assert!(soon(answer).await.unwrap().body().is_end_stream());
}

#[tokio::test]
async fn both_ways_in_turn() {
    let callee = callee(|mut served| async move {
        let mut answer = served.start(false);
        while let Some(Ok(ping)) = served.body.data().await {
            let pong = [b"re: ", &ping[..]].concat();
            answer.send_data(pong.into(), false).unwrap();
        }
        answer.send_trailers(trailers("0")).unwrap();
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/s/M"), false).await;
    let mut body = soon(answer).await.unwrap().into_body();
    for turn in 0..100 {
        upload.send_data(format!("{turn}").into(), false).unwrap();
        assert_eq!(piece(&mut body).await, format!("re: {turn}"));
    }
    upload.send_trailers(trailers("9")).unwrap();
    assert!(soon(body.data()).await.is_none());
    assert_eq!(soon(body.trailers()).await.unwrap(), Some(trailers("0")));
}

#[tokio::test]
async fn the_callee_speaks_first() {
    let callee = callee(|mut served| async move {
        let mut answer = served.start(false);
        answer.send_data("welcome".into(), false).unwrap();
        let last = piece(&mut served.body).await;
        answer.send_data(last, true).unwrap();
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/s/M"), false).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(piece(&mut body).await, "welcome");
    upload.send_data("bye".into(), true).unwrap();
    assert_eq!(piece(&mut body).await, "bye");
}

#[tokio::test]
async fn an_answer_that_ends_before_its_request() {
    let (seen, mut arrived) = tokio::sync::mpsc::unbounded_channel();
    let callee = callee(move |mut served| {
        let seen = seen.clone();
        async move {
            served.start(false).send_data("early".into(), true).unwrap();
            seen.send(read(&mut served.body).await).unwrap();
        }
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(read(&mut body).await.unwrap(), "early");
    assert!(body.is_end_stream());
    // The rest still reaches the callee, which reads on.
    upload.send_data("late".into(), true).unwrap();
    assert_eq!(soon(arrived.recv()).await.unwrap().unwrap(), "late");
}

#[tokio::test]
async fn a_callee_that_wants_no_more_of_the_request() {
    let callee = callee(|mut served| async move {
        served
            .start(false)
            .send_data("enough".into(), true)
            .unwrap();
        // Dropped unread: `h2` resets the stream with NO_ERROR.
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(read(&mut body).await.unwrap(), "enough");
    let reason = soon(std::future::poll_fn(|cx| upload.poll_reset(cx))).await;
    assert_eq!(reason.unwrap(), h2::Reason::NO_ERROR);
}
