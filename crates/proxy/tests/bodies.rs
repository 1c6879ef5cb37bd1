//! Bodies of calls that are looked at: read as far as identity needs it, and
//! always passed on whole.

mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use murphy_proxy::Settings;
use support::{HTTP, Protocol, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LIMIT: usize = 64 * 1024;

fn settings() -> Settings {
    Settings {
        body_limit: LIMIT,
        body_patience: Duration::from_millis(100),
        ..Settings::default()
    }
}

type Bodies = Arc<Mutex<Vec<Bytes>>>;

/// A callee that keeps the bodies it is sent.
async fn keeper() -> (SocketAddr, Bodies) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bodies = Bodies::default();
    let kept = bodies.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let kept = kept.clone();
            let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let kept = kept.clone();
                async move {
                    let body = request.into_body().collect().await?.to_bytes();
                    kept.lock().unwrap().push(body);
                    Ok::<_, hyper::Error>(http::Response::new(Full::new(Bytes::from("ok"))))
                }
            });
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    (address, bodies)
}

/// Posts a body in pieces, with a pause between them.
async fn post(world: &World, protocol: Protocol, pieces: &[Bytes], pause: Duration) -> u16 {
    match protocol {
        Protocol::Http1 => post_http1(world, pieces, pause).await,
        _ => post_http2(world, pieces, pause).await,
    }
}

async fn post_http1(world: &World, pieces: &[Bytes], pause: Duration) -> u16 {
    let mut stream = TcpStream::connect(world.back()).await.unwrap();
    let head = format!(
        "POST /work HTTP/1.1\r\nhost: back\r\ntracestate: murphy={}-0\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
        world.execution
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for piece in pieces {
        let size = format!("{:x}\r\n", piece.len());
        stream.write_all(size.as_bytes()).await.unwrap();
        stream.write_all(piece).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
        tokio::time::sleep(pause).await;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

async fn post_http2(world: &World, pieces: &[Bytes], pause: Duration) -> u16 {
    let stream = TcpStream::connect(world.back()).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    let request = http::Request::post("http://back/work")
        .header("tracestate", format!("murphy={}-0", world.execution))
        .body(())
        .unwrap();
    let (answer, mut body) = client.send_request(request, false).unwrap();
    for piece in pieces {
        body.send_data(piece.clone(), false).unwrap();
        tokio::time::sleep(pause).await;
    }
    body.send_data(Bytes::new(), true).unwrap();
    answer.await.unwrap().status().as_u16()
}

fn pieces(count: usize, size: usize, last: u8) -> Vec<Bytes> {
    let mut pieces = vec![Bytes::from(vec![b'a'; size]); count];
    pieces.push(Bytes::from(vec![last]));
    pieces
}

#[tokio::test]
async fn a_body_over_the_limit_is_identified_by_its_beginning_and_flagged() {
    for protocol in HTTP {
        let (callee, bodies) = keeper().await;
        let world = World::before(callee, Arc::default(), "none", settings()).await;
        for last in [b'x', b'y'] {
            let long = pieces(20, 16 * 1024, last);
            assert_eq!(post(&world, protocol, &long, Duration::ZERO).await, 200);
            let whole = Bytes::from(long.concat());
            assert_eq!(bodies.lock().unwrap().pop(), Some(whole), "{protocol:?}");
        }
        let recorded = world.recorded().await;
        let (first, second) = (&recorded.trace.calls()[1], &recorded.trace.calls()[2]);
        // They differ behind the limit only: taken for attempts of one call.
        assert!(first.point.same_call(&second.point), "{protocol:?}");
        assert!(recorded.details[1].body_cut && recorded.details[2].body_cut);
    }
}

#[tokio::test]
async fn bodies_within_the_limit_are_told_apart_wherever_they_differ() {
    for protocol in HTTP {
        let (callee, _) = keeper().await;
        let world = World::before(callee, Arc::default(), "none", settings()).await;
        for last in [b'x', b'y', b'x'] {
            post(
                &world,
                protocol,
                &pieces(3, 16 * 1024, last),
                Duration::ZERO,
            )
            .await;
        }
        let recorded = world.recorded().await;
        let points: Vec<_> = recorded.trace.calls()[1..]
            .iter()
            .map(|c| &c.point)
            .collect();
        assert!(!points[0].same_call(points[1]), "{protocol:?}");
        assert!(points[0].same_call(points[2]), "{protocol:?}");
        assert_eq!(points[2].frame().count, 2);
        assert!(recorded.details.iter().all(|detail| !detail.body_cut));
    }
}

#[tokio::test]
async fn a_body_that_pauses_does_not_hold_the_call_up() {
    for protocol in HTTP {
        let (callee, bodies) = keeper().await;
        let world = World::before(callee, Arc::default(), "none", settings()).await;
        let slow = pieces(2, 10, b'x');
        assert_eq!(
            post(&world, protocol, &slow, Duration::from_millis(300)).await,
            200
        );
        let whole = Bytes::from(slow.concat());
        assert_eq!(bodies.lock().unwrap().pop(), Some(whole), "{protocol:?}");
        assert!(world.recorded().await.details[1].body_cut, "{protocol:?}");
    }
}
