//! Bodies of any length, at the pace of whoever is slower.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;

use crate::support::{
    Served, callee, caller, caller_with, pass_through, read, request, send_all, soon,
};

const LONG: usize = 64 * 1024 * 1024;

/// More than windows and buffers of callee, proxy and caller hold together,
/// and far less than a body.
const HELD: usize = 2 * 1024 * 1024;

fn long() -> Bytes {
    (0..LONG)
        .map(|at| (at / 251) as u8)
        .collect::<Vec<u8>>()
        .into()
}

#[tokio::test]
async fn a_long_body_both_ways_at_once() {
    let callee = callee(|mut served: Served| async move {
        let mut answer = served.start(false);
        while let Some(data) = served.body.data().await {
            let mut data = data.unwrap();
            served
                .body
                .flow_control()
                .release_capacity(data.len())
                .unwrap();
            while !data.is_empty() {
                answer.reserve_capacity(data.len());
                let room = std::future::poll_fn(|cx| answer.poll_capacity(cx)).await;
                let share = data.split_to(room.unwrap().unwrap().min(data.len()));
                answer.send_data(share, false).unwrap();
            }
        }
        answer.send_data(Bytes::new(), true).unwrap();
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
    let body = long();
    let receive = async {
        let mut answer = answer.await.unwrap().into_body();
        read(&mut answer).await.unwrap()
    };
    let both = async { tokio::join!(send_all(&mut upload, body.clone()), receive) };
    let (sent, received) = tokio::time::timeout(Duration::from_secs(60), both)
        .await
        .unwrap();
    sent.unwrap();
    assert!(received == body);
}

/// A callee that counts how much it could send.
async fn counting(sent: Arc<AtomicUsize>) -> std::net::SocketAddr {
    callee(move |mut served: Served| {
        let sent = sent.clone();
        async move {
            let mut answer = served.start(false);
            if served.head.uri.path() == "/short" {
                answer.send_data("short".into(), true).unwrap();
                return;
            }
            let piece = Bytes::from(vec![0; 16 * 1024]);
            loop {
                answer.reserve_capacity(piece.len());
                let room = std::future::poll_fn(|cx| answer.poll_capacity(cx)).await;
                let Some(Ok(room)) = room else { return };
                let share = piece.slice(..room.min(piece.len()));
                sent.fetch_add(share.len(), Ordering::Relaxed);
                answer.send_data(share, false).unwrap();
            }
        }
    })
    .await
}

/// A number, once it changes no more.
async fn settled(number: &AtomicUsize) -> usize {
    loop {
        let before = number.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(200)).await;
        if number.load(Ordering::Relaxed) == before {
            return before;
        }
    }
}

#[tokio::test]
async fn callers_that_do_not_read_hold_back_their_callee_and_nobody_else() {
    let sent = Arc::new(AtomicUsize::new(0));
    let front = pass_through(counting(sent.clone()).await);
    // Streams that are stuck use up the connection's window, so it is large.
    let mut builder = h2::client::Builder::new();
    builder.initial_connection_window_size(64 * 1024 * 1024);
    let mut slow = caller_with(front.address, &builder).await;
    let mut stuck = Vec::new();
    for _ in 0..20 {
        let (answer, _) = slow.send(request("GET", "/long"), true).await;
        stuck.push(soon(answer).await.unwrap());
    }
    let held = settled(&sent).await;
    assert!(held < 20 * HELD, "{held} bytes for 20 callers");
    // On the same connections, theirs and the callee's.
    let mut quick = caller(front.address).await;
    for _ in 0..10 {
        assert_eq!(quick.get("/short").await.unwrap().body, "short");
    }
    assert_eq!(settled(&sent).await, held, "nothing moves meanwhile");
    // Who reads again gets more.
    let body = stuck[0].body_mut();
    for _ in 0..100 {
        crate::support::piece(body).await;
    }
}

#[tokio::test]
async fn a_stuck_stream_does_not_stall_its_neighbour() {
    let sent = Arc::new(AtomicUsize::new(0));
    let front = pass_through(counting(sent.clone()).await);
    // A window for the connection that one stream cannot fill.
    let mut builder = h2::client::Builder::new();
    builder.initial_connection_window_size(1024 * 1024);
    let mut caller = caller_with(front.address, &builder).await;
    let (answer, _) = caller.send(request("GET", "/long"), true).await;
    let _stuck = soon(answer).await.unwrap();
    settled(&sent).await;
    for _ in 0..10 {
        assert_eq!(caller.get("/short").await.unwrap().body, "short");
    }
}

#[tokio::test]
async fn a_callee_that_does_not_read_holds_back_its_caller() {
    let callee = callee(|served: Served| async move {
        let _unread = served;
        std::future::pending::<()>().await;
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (_answer, mut upload) = caller.send(request("POST", "/"), false).await;
    let mut sent = 0;
    let send = async {
        loop {
            upload.reserve_capacity(16 * 1024);
            let room = std::future::poll_fn(|cx| upload.poll_capacity(cx)).await;
            let share = Bytes::from(vec![0; room.unwrap().unwrap()]);
            sent += share.len();
            upload.send_data(share, false).unwrap();
        }
    };
    let stuck = tokio::time::timeout(Duration::from_millis(300), send).await;
    let stuck: Result<(), _> = stuck;
    assert!(stuck.is_err());
    assert!(sent > 0 && sent < HELD, "{sent} bytes");
}
