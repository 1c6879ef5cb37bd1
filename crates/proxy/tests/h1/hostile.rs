//! Messages that are nearly right, from both sides: nothing panics, nothing
//! hangs, and the next caller is served.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::wire::{End, PATIENCE, Wire};

/// What is usually enough for the proxy to have done something.
const SOON: Duration = Duration::from_millis(3);

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A panic in a proxy's thread only ends a task, and nobody would see it.
fn watch_for_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if thread.name().is_some_and(|name| name.starts_with("murphy")) {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(panic);
    }));
}

const REQUESTS: [&str; 5] = [
    "GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, upgrade\r\nUpgrade: h2c\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n0123456789GET / HTTP/1.1\r\n\r\n",
    "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\n01234\r\n0\r\nA: b\r\n\r\n",
    "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\nmore",
    "GET http://a@x:1/b?c HTTP/1.1\r\nHost: y\r\n\r\n",
];

const ANSWERS: [&str; 4] = [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\n01234\r\n0\r\nA: b\r\n\r\n",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nuntil the end",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nmore",
];

/// Some bytes replaced, removed, repeated, or the end cut off.
fn spoil(message: &str, random: &mut Rng) -> Vec<u8> {
    let mut bytes = message.as_bytes().to_vec();
    for _ in 0..random.usize(0..4) {
        let at = random.usize(0..bytes.len());
        match random.u8(..5) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] = *random.choice(b"\r\n :;,0fF\0\t-").unwrap(),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, bytes[at]),
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

/// Whether the connection of a caller ends. It may still wait for an answer: who
/// is asked for one, however late, ends the connection and gives none.
fn is_let_go(caller: &mut End, wire: &Wire) -> bool {
    caller.0.set_read_timeout(Some(SOON)).unwrap();
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        match caller.0.read(&mut [0; 1024]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                while wire.callee_within(SOON).is_some() {}
            }
            Err(_) => return true,
        }
    }
    false
}

#[test]
fn messages_that_are_nearly_right() {
    watch_for_panics();
    let wire = Wire::new();
    let mut random = Rng::with_seed(20_240_607);
    for _ in 0..400 {
        let mut caller = wire.caller();
        caller.send(spoil(random.choice(REQUESTS).unwrap(), &mut random));
        if let Some(mut callee) = wire.callee_within(SOON) {
            callee.send(spoil(random.choice(ANSWERS).unwrap(), &mut random));
        }
        if random.bool() {
            caller.finish();
            assert!(is_let_go(&mut caller, &wire), "a caller that is done");
        }
    }
    while wire.callee_within(Duration::from_millis(20)).is_some() {}
    let mut caller = wire.caller();
    caller.send("GET /last HTTP/1.1\r\n\r\n");
    let mut callee = wire.callee();
    callee.expect("GET /last HTTP/1.1\r\n\r\n");
    callee.send("HTTP/1.1 204 No Content\r\n\r\n");
    caller.expect("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}
