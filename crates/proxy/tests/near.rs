//! Callers in this process: they see and are seen as callers at sockets are,
//! byte for byte.

mod support;

use std::io;
use std::time::Duration;

use murphy_model::Reply;
use murphy_proxy::Settings;
use support::{PATIENCE, World};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What came back, how it ended, what was recorded of it, and how often the
/// callee was reached.
type Seen = (String, Result<(), io::ErrorKind>, Option<Reply>, usize);

fn request(world: &World, more: &str) -> String {
    let execution = world.execution;
    format!("GET /work HTTP/1.1\r\nhost: back\r\ntracestate: murphy={execution}-0\r\n{more}\r\n")
}

async fn ask(world: &World, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Seen {
    let request = request(world, "connection: close\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let end = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    let end = end.expect("it ends").map(|_| ()).map_err(|it| it.kind());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let dated = |line: &&str| line.starts_with("date:");
    let text: Vec<&str> = text.split("\r\n").filter(|line| !dated(line)).collect();
    let (call, _) = world.last().await;
    (text.join("\r\n"), end, call.reply, world.served())
}

#[tokio::test]
async fn they_see_and_are_seen_as_at_a_socket() {
    let modes = [
        "503",
        "after:500",
        "reset",
        "after:reset",
        "close",
        "after:close",
        "truncate:20",
        "after:truncate:20",
        "after:malformed",
        "delay:10ms",
        "duplicate",
    ];
    let faults = modes.map(|mode| format!("** > back * #* = {mode}"));
    for faults in faults.iter().map(String::as_str).chain(["none"]) {
        let world = World::with(faults, Settings::default()).await;
        let far = ask(&world, TcpStream::connect(world.back()).await.unwrap()).await;
        let world = World::with(faults, Settings::default()).await;
        let near = ask(&world, world.near_back().connect()).await;
        assert_eq!(near, far, "{faults}");
    }
}

#[tokio::test]
async fn connections_are_kept_for_the_next_request() {
    let world = World::with("none", Settings::default()).await;
    let mut stream = world.near_back().connect();
    for served in 1..=3 {
        assert!(stream.is_open());
        let request = request(&world, "");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(support::ANSWER.as_bytes()) {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
        }
        assert_eq!(world.served(), served);
    }
}

#[tokio::test]
async fn one_that_gives_up_is_noticed() {
    let world = World::failing("hang").await;
    let mut stream = world.near_back().connect();
    let request = request(&world, "");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = timeout(Duration::from_millis(50), stream.read_u8()).await;
    assert!(answer.is_err(), "{answer:?}");
    drop(stream);
    let (call, detail) = world.last().await;
    assert_eq!(call.reply, Some(Reply::TimedOut));
    assert!(detail.gave_up.is_some());
}
