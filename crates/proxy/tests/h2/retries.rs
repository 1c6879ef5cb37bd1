//! Requests that a callee cannot have seen are sent again, once, on another
//! connection; all others are not. Without it every callee that closes a
//! connection in good order would look like one that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::support::{Served, caller, pass_through, serve_connection, soon};

/// What a callee does with one of its connections.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Serves it.
    Serve,
    /// Says goodbye as soon as it is asked something, without having seen it.
    GoAway,
    /// Resets whatever it is asked, unseen.
    Refuse,
    /// Closes it once asked, without a word.
    Close,
    /// Closes it a while after its first answer.
    CloseIdle,
}

/// A callee whose connections have these fates, the last for all others; how
/// many it had is counted.
async fn fated(fates: &'static [Does]) -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let fate = fates[number.min(fates.len() - 1)];
            tokio::spawn(meet(fate, stream));
        }
    });
    (address, count)
}

async fn meet(fate: Does, mut stream: TcpStream) {
    const GO_AWAY: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0";
    match fate {
        Does::Serve => serve_connection(stream, Served::echo).await,
        Does::Refuse => {
            serve_connection(stream, |mut served| async move {
                served.respond.send_reset(Reason::REFUSED_STREAM);
            })
            .await;
        }
        Does::GoAway => {
            asked(&mut stream).await;
            stream.write_all(GO_AWAY).await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        Does::Close => asked(&mut stream).await,
        Does::CloseIdle => {
            let answered = Arc::new(Notify::new());
            let tell = answered.clone();
            let serve = serve_connection(stream, move |served| {
                let tell = tell.clone();
                async move {
                    served.echo().await;
                    tell.notify_one();
                }
            });
            let idle = async {
                answered.notified().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            };
            tokio::select! {
                () = serve => {}
                () = idle => {}
            }
        }
    }
}

/// Waits for the first request.
async fn asked(stream: &mut TcpStream) {
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(&settings).await.unwrap();
    let mut read = Vec::new();
    // HEADERS of stream 1, whatever their flags.
    let head = |w: &[u8]| w[0] == 1 && w[2..] == [0, 0, 0, 1];
    while !read.windows(6).any(head) {
        stream.read_buf(&mut read).await.unwrap();
    }
}

#[tokio::test]
async fn what_the_callee_cannot_have_seen_is_sent_again() {
    for fates in [&[Does::GoAway, Does::Serve], &[Does::Refuse, Does::Serve]] {
        let (callee, connections) = fated(fates).await;
        let front = pass_through(callee);
        let mut caller = caller(front.address).await;
        let answer = caller.post("/", "hello".into()).await.unwrap();
        assert_eq!((answer.status(), &answer.body[..]), (200, &b"hello"[..]));
        assert_eq!(connections.load(Ordering::Relaxed), 2, "{fates:?}");
    }
}

#[tokio::test]
async fn but_only_once() {
    for fates in [&[Does::GoAway], &[Does::Refuse]] {
        let (callee, connections) = fated(fates).await;
        let front = pass_through(callee);
        let mut caller = caller(front.address).await;
        let error = caller.post("/", "hello".into()).await.unwrap_err();
        assert_eq!(error.reason(), Some(Reason::REFUSED_STREAM), "{fates:?}");
        assert_eq!(connections.load(Ordering::Relaxed), 2, "{fates:?}");
    }
}

#[tokio::test]
async fn no_hidden_resends_of_what_it_may_have_seen() {
    let (callee, connections) = fated(&[Does::Close, Does::Serve]).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let error = caller.get("/").await.unwrap_err();
    assert_eq!(error.reason(), Some(Reason::CANCEL));
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    // The next finds a connection that works.
    assert_eq!(caller.get("/").await.unwrap().status(), 200);
}

#[tokio::test]
async fn nor_what_is_too_long_to_be_kept() {
    let (callee, _) = fated(&[Does::Refuse, Does::Serve]).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let body = Bytes::from(vec![1; 60_000]);
    let (answer, mut upload) = caller
        .send(crate::support::request("POST", "/"), false)
        .await;
    upload.send_data(body, false).unwrap();
    let error = soon(answer).await.unwrap_err();
    assert_eq!(error.reason(), Some(Reason::REFUSED_STREAM));
}

#[tokio::test]
async fn a_connection_closed_between_two_requests() {
    let (callee, connections) = fated(&[Does::CloseIdle, Does::Serve]).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    assert_eq!(caller.get("/").await.unwrap().status(), 200);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(caller.get("/").await.unwrap().status(), 200);
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_callee_that_keeps_saying_goodbye_in_good_order() {
    // Each connection serves a few requests and is then closed gracefully,
    // while requests keep coming.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve_some(stream, 10));
        }
    });
    let front = pass_through(address);
    let mut caller = caller(front.address).await;
    let mut waiting = Vec::new();
    for number in 0..500 {
        let request = crate::support::request("POST", "/");
        let (answer, mut upload) = caller.send(request, false).await;
        upload.send_data("x".into(), true).unwrap();
        waiting.push(answer);
        if number % 20 == 19 {
            for answer in waiting.drain(..) {
                assert_eq!(soon(answer).await.unwrap().status(), 200);
            }
        }
    }
}

async fn serve_some(stream: TcpStream, count: usize) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let mut served = 0;
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        let _ = respond.send_response(http::Response::new(()), true);
        served += 1;
        if served == count {
            connection.graceful_shutdown();
        }
    }
}
