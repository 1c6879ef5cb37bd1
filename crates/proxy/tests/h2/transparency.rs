//! What passes is what was sent.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Version};

use crate::support::{Served, callee, caller, pass_through, read, request, soon};

/// A callee that tells what it was asked.
async fn told() -> (
    std::net::SocketAddr,
    tokio::sync::mpsc::UnboundedReceiver<Told>,
) {
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let callee = callee(move |served: Served| {
        let tell = tell.clone();
        async move {
            let Served {
                head,
                mut body,
                mut respond,
            } = served;
            let bare = body.is_end_stream();
            let data = read(&mut body).await.unwrap();
            let trailers = body.trailers().await.unwrap();
            tell.send(Told {
                head,
                bare,
                data,
                trailers,
            })
            .unwrap();
            respond.send_response(Response::new(()), true).unwrap();
        }
    })
    .await;
    (callee, told)
}

struct Told {
    head: http::request::Parts,
    bare: bool,
    data: Bytes,
    trailers: Option<HeaderMap>,
}

#[tokio::test]
async fn the_head_of_a_request() {
    let (callee, mut told) = told().await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let sent = Request::builder()
        .method("PURGE")
        .uri("https://user@shop.example:8443/a/%2Fb;c?d=e&f=%20")
        .header("x-first", "1")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .header("te", "trailers")
        .header(
            "x-bytes",
            http::HeaderValue::from_bytes(b"\xff\xfe").unwrap(),
        )
        .header("x-last", "")
        .body(())
        .unwrap();
    let copy = sent.headers().clone();
    let (answer, _) = caller.send(sent, true).await;
    let answer = soon(answer).await.unwrap();
    assert!(answer.body().is_end_stream(), "END_STREAM with the head");
    let Told { head, bare, .. } = told.recv().await.unwrap();
    assert_eq!(head.method, "PURGE");
    assert_eq!(
        head.uri,
        "https://user@shop.example:8443/a/%2Fb;c?d=e&f=%20"
    );
    assert!(bare, "END_STREAM with the head");
    let lines = |headers: &HeaderMap| -> Vec<_> {
        headers
            .iter()
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect()
    };
    assert_eq!(lines(&head.headers), lines(&copy));
}

#[tokio::test]
async fn a_request_without_an_authority() {
    let (callee, mut told) = told().await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let mut sent = Request::new(());
    *sent.uri_mut() = "/path".parse().unwrap();
    *sent.version_mut() = Version::HTTP_11;
    sent.headers_mut()
        .insert("host", "old.example".parse().unwrap());
    let (answer, _) = caller.send(sent, true).await;
    soon(answer).await.unwrap();
    let Told { head, .. } = told.recv().await.unwrap();
    assert_eq!(head.uri, "/path");
    assert_eq!(head.headers["host"], "old.example");
}

#[tokio::test]
async fn connect_and_asterisk() {
    let (callee, mut told) = told().await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    for (method, uri) in [("CONNECT", "far.example:80"), ("OPTIONS", "*")] {
        let sent = Request::builder().method(method).uri(uri);
        let sent = sent.version(Version::HTTP_11).body(()).unwrap();
        let (answer, _) = caller.send(sent, true).await;
        soon(answer).await.unwrap();
        let Told { head, .. } = told.recv().await.unwrap();
        assert_eq!(
            (head.method.as_str(), head.uri.to_string().as_str()),
            (method, uri)
        );
    }
}

#[tokio::test]
async fn the_body_and_the_trailers_of_a_request() {
    let (callee, mut told) = told().await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let trailers = HeaderMap::from_iter([(
        http::HeaderName::from_static("checksum"),
        http::HeaderValue::from_static("7"),
    )]);
    let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
    for data in ["a", "b", "c"] {
        upload.send_data(data.into(), false).unwrap();
    }
    upload.send_trailers(trailers.clone()).unwrap();
    soon(answer).await.unwrap();
    let told = told.recv().await.unwrap();
    assert_eq!(told.data, "abc");
    assert_eq!(told.trailers, Some(trailers));
}

#[tokio::test]
async fn an_answer_to_head_keeps_its_length() {
    let callee = callee(|mut served| async move {
        let head = Response::builder().header("content-length", "1000000");
        let head = head.body(()).unwrap();
        served.respond.send_response(head, true).unwrap();
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, _) = caller.send(request("HEAD", "/"), true).await;
    let answer = soon(answer).await.unwrap();
    assert_eq!(answer.headers()["content-length"], "1000000");
    assert!(answer.body().is_end_stream());
}

#[tokio::test]
async fn the_head_of_an_answer_and_an_empty_body() {
    for status in [200, 204, 304, 404, 503, 999] {
        let callee = callee(move |mut served| async move {
            let head = Response::builder()
                .status(status)
                .header("set-cookie", "a=1")
                .header("set-cookie", "b=2")
                .header("grpc-status", "5");
            let head = head.body(()).unwrap();
            served.respond.send_response(head, true).unwrap();
        })
        .await;
        let front = pass_through(callee);
        let mut caller = caller(front.address).await;
        let (answer, _) = caller.send(request("GET", "/"), true).await;
        let answer = soon(answer).await.unwrap();
        assert_eq!(answer.status(), status);
        let cookies: Vec<_> = answer.headers().get_all("set-cookie").iter().collect();
        assert_eq!(cookies, ["a=1", "b=2"]);
        assert_eq!(answer.headers()["grpc-status"], "5");
        assert!(answer.body().is_end_stream(), "trailers only");
    }
}

#[tokio::test]
async fn interim_answers() {
    let callee = callee(|mut served| async move {
        for status in [100, 103, 103] {
            let interim = Response::builder().status(status).header("link", "</a>");
            let interim = interim.body(()).unwrap();
            served.respond.send_informational(interim).unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        served.start(true);
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (mut answer, _) = caller.send(request("GET", "/"), true).await;
    for status in [100, 103, 103] {
        let interim = soon(std::future::poll_fn(|cx| answer.poll_informational(cx))).await;
        let interim = interim.unwrap().unwrap();
        assert_eq!(interim.status(), status);
        assert_eq!(interim.headers()["link"], "</a>");
    }
    assert_eq!(soon(answer).await.unwrap().status(), StatusCode::OK);
}
