//! Connections: how many there are, what they bear, and what they do not.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use murphy_registry::Organic;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;

use crate::support::{Served, callee, caller, campaign, pass_through, request, soon};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A callee that takes so many streams at once on a connection, and holds its
/// answers back until it may go on.
struct Narrow {
    address: SocketAddr,
    /// How many connections it had, and has.
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    /// How many requests it was asked.
    asked: Arc<Semaphore>,
    go: Arc<Semaphore>,
}

async fn narrow(streams: u32) -> Narrow {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let narrow = Narrow {
        address: listener.local_addr().unwrap(),
        connections: Arc::default(),
        open: Arc::default(),
        asked: Arc::new(Semaphore::new(0)),
        go: Arc::new(Semaphore::new(0)),
    };
    let (asked, go) = (narrow.asked.clone(), narrow.go.clone());
    let (connections, open) = (narrow.connections.clone(), narrow.open.clone());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            connections.fetch_add(1, Ordering::Relaxed);
            let serve = serve_narrow(stream, streams, asked.clone(), go.clone());
            open.fetch_add(1, Ordering::Relaxed);
            let open = open.clone();
            tokio::spawn(async move {
                serve.await;
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    narrow
}

async fn serve_narrow(stream: TcpStream, streams: u32, asked: Arc<Semaphore>, go: Arc<Semaphore>) {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(streams);
    let mut connection = builder.handshake::<_, Bytes>(stream).await.unwrap();
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        asked.add_permits(1);
        let go = go.clone();
        tokio::spawn(async move {
            let _permit = go.acquire().await;
            let _ = respond.send_response(http::Response::new(()), true);
        });
    }
}

#[tokio::test]
async fn more_streams_than_one_connection_to_the_callee_takes() {
    let callee = narrow(5).await;
    let front = pass_through(callee.address);
    let mut caller = caller(front.address).await;
    let mut waiting = Vec::new();
    for _ in 0..50 {
        waiting.push(caller.send(request("GET", "/"), true).await.0);
    }
    let _all = soon(callee.asked.acquire_many(50)).await.unwrap();
    assert_eq!(callee.connections.load(Ordering::Relaxed), 10);
    callee.go.add_permits(50);
    for answer in waiting {
        assert_eq!(soon(answer).await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn connections_that_are_needed_no_more_are_closed() {
    let callee = narrow(1).await;
    let front = pass_through(callee.address);
    let mut caller = caller(front.address).await;
    let mut waiting = Vec::new();
    for _ in 0..30 {
        waiting.push(caller.send(request("GET", "/"), true).await.0);
    }
    let all = soon(callee.asked.acquire_many(30)).await.unwrap();
    callee.go.add_permits(30);
    for answer in waiting {
        soon(answer).await.unwrap();
    }
    drop(all);
    // One that is used, four to spare.
    let few = async {
        while callee.open.load(Ordering::Relaxed) > 5 {
            assert_eq!(caller.get("/").await.unwrap().status(), 200);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(few).await;
    assert_eq!(callee.connections.load(Ordering::Relaxed), 30);
}

#[tokio::test]
async fn callers_share_the_connection_to_the_callee() {
    let callee = narrow(100).await;
    callee.go.add_permits(100);
    let front = pass_through(callee.address);
    for _ in 0..10 {
        let mut caller = caller(front.address).await;
        assert_eq!(caller.get("/").await.unwrap().status(), 200);
    }
    assert_eq!(callee.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_thousand_streams_at_once() {
    let callee = callee(|served: Served| served.echo()).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let mut open = Vec::new();
    for number in 0..1_000 {
        let (answer, upload) = caller.send(request("POST", "/"), false).await;
        open.push((number, answer, upload));
    }
    for (number, _, upload) in &mut open {
        upload.send_data(number.to_string().into(), true).unwrap();
    }
    for (number, answer, _) in open {
        let answer = crate::support::Received::read(answer).await.unwrap();
        assert_eq!(answer.body, number.to_string());
    }
}

#[tokio::test]
async fn a_callee_that_is_not_up_yet() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let campaign = campaign(socket.local_addr().unwrap());
    let mut caller = caller(campaign.front.address).await;
    assert_eq!(caller.get("/").await.unwrap().status(), 502);
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.details[0].organic, Some(Organic::Refused));
    let listener = socket.listen(10).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        crate::support::serve_connection(stream, Served::echo).await;
    });
    let answer = caller.post("/", "up".into()).await.unwrap();
    assert_eq!(answer.body, "up");
}

#[tokio::test]
async fn a_callee_that_speaks_something_else() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callee = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(answer).await.unwrap();
            tokio::spawn(async move { stream.read_to_end(&mut Vec::new()).await });
        }
    });
    let campaign = campaign(callee);
    let mut caller = caller(campaign.front.address).await;
    assert_eq!(caller.get("/").await.unwrap().status(), 502);
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.details[0].organic, Some(Organic::NotHttp));
}

fn with_header(length: usize) -> Request<()> {
    let mut request = request("GET", "/");
    let value = "x".repeat(length).parse().unwrap();
    request.headers_mut().insert("x-long", value);
    request
}

#[tokio::test]
async fn heads_at_the_limit_and_over_it() {
    let callee = callee(|served: Served| served.echo()).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    // The limit is 64 KiB, of which names and 32 bytes for each header count.
    for (length, status) in [(65_000, 200), (66_000, 431), (100, 200)] {
        let (answer, _) = caller.send(with_header(length), true).await;
        assert_eq!(soon(answer).await.unwrap().status(), status, "{length}");
    }
    // Far over it the connection ends, and only that one.
    let (answer, _) = caller.send(with_header(1_000_000), true).await;
    assert!(soon(answer).await.is_err());
    let mut other = crate::support::caller(front.address).await;
    assert_eq!(other.get("/").await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_head_of_an_answer_over_the_limit() {
    let callee = callee(|mut served: Served| async move {
        let long = "x".repeat(70_000);
        let head = http::Response::builder().header("x-long", long);
        let _ = served.respond.send_response(head.body(()).unwrap(), true);
    })
    .await;
    let campaign = campaign(callee);
    let mut caller = caller(campaign.front.address).await;
    assert_eq!(caller.get("/").await.unwrap().status(), 502);
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.details[0].organic, Some(Organic::NotHttp));
}

#[tokio::test]
async fn pings_are_answered() {
    let callee = callee(|served: Served| served.echo()).await;
    let front = pass_through(callee);
    let stream = TcpStream::connect(front.address).await.unwrap();
    let (_requests, mut connection) = h2::client::handshake(stream).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    tokio::spawn(connection);
    for _ in 0..10 {
        soon(pings.ping(h2::Ping::opaque())).await.unwrap();
    }
}

#[tokio::test]
async fn frames_that_make_no_sense_end_their_connection_only() {
    let callee = callee(|served: Served| served.echo()).await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (kept, mut upload) = caller.send(request("POST", "/"), false).await;
    let nonsense: [&[u8]; 7] = [
        b"not a frame at all, but long enough to be taken for one",
        // A frame longer than agreed.
        b"\xff\xff\xff\0\0\0\0\0\x01",
        // DATA of a stream that is not open.
        b"\0\0\x01\0\0\0\0\0\x07x",
        // HEADERS that are no HPACK.
        b"\0\0\x04\x01\x05\0\0\0\x01\xff\xff\xff\xff",
        // A window update of nothing.
        b"\0\0\x04\x08\0\0\0\0\0\0\0\0\0",
        // CONTINUATION of nothing.
        b"\0\0\0\x09\x04\0\0\0\x01",
        // Cut off in the middle.
        b"\0\0\x40\x01\x05\0\0\0\x01\x82",
    ];
    for frames in nonsense {
        let mut stream = TcpStream::connect(front.address).await.unwrap();
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(frames).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut read = Vec::new();
        let _ = soon(stream.read_to_end(&mut read)).await;
    }
    // Too short to tell, and then gone.
    let mut stream = TcpStream::connect(front.address).await.unwrap();
    stream.write_all(&PREFACE[..10]).await.unwrap();
    drop(stream);
    upload.send_data("fine".into(), true).unwrap();
    let answer = crate::support::Received::read(kept).await.unwrap();
    assert_eq!(answer.body, "fine");
}

#[tokio::test]
async fn a_preface_in_pieces() {
    let callee = callee(|served: Served| served.echo()).await;
    let front = pass_through(callee);
    let mut stream = TcpStream::connect(front.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in PREFACE {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    // Its settings, and that it has ours.
    let mut read = Vec::new();
    let acknowledged = |read: &[u8]| read.windows(5).any(|w| w == [0, 0, 0, 4, 1]);
    while !acknowledged(&read) {
        assert_ne!(soon(stream.read_buf(&mut read)).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_caller_that_says_goodbye_still_gets_its_answers() {
    let callee = narrow(5).await;
    let front = pass_through(callee.address);
    let stream = TcpStream::connect(front.address).await.unwrap();
    let (mut requests, mut connection) = h2::client::handshake(stream).await.unwrap();
    let (answer, _) = requests.send_request(request("GET", "/"), true).unwrap();
    // Without anyone who could send more, `h2` says GOAWAY at the end.
    drop(requests);
    let driven = poll_fn(|cx| std::pin::Pin::new(&mut connection).poll(cx));
    let answered = async {
        let _asked = soon(callee.asked.acquire()).await.unwrap();
        callee.go.add_permits(1);
        soon(answer).await.unwrap().status()
    };
    let (ended, status) = tokio::join!(soon(driven), answered);
    assert_eq!(status, 200);
    ended.unwrap();
}
