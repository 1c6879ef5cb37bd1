//! Bodies of any length pass as they come, both ways at once, and take no more
//! memory than a buffer.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use murphy_proxy::Settings;

use crate::wire::{End, Wire};

const LENGTH: usize = 64 * 1024 * 1024;

/// A body that is the same nowhere twice within a buffer.
fn piece(number: usize) -> Vec<u8> {
    let mut bytes = vec![0; 64 * 1024];
    for (at, chunk) in bytes.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&(number * 8192 + at).to_le_bytes());
    }
    bytes
}

fn send_body(end: &mut End) {
    for number in 0..LENGTH / (64 * 1024) {
        end.send(piece(number));
    }
}

fn expect_body(end: &mut End, slowly: bool) {
    let mut read = vec![0; 64 * 1024];
    for number in 0..LENGTH / (64 * 1024) {
        end.0.read_exact(&mut read).unwrap();
        assert!(read == piece(number), "piece {number}");
        if slowly && number % 128 == 0 {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_long_request() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let head = format!("PUT / HTTP/1.1\r\nContent-Length: {LENGTH}\r\n\r\n");
    let sending = thread::spawn(move || {
        caller.send(head);
        send_body(&mut caller);
        caller
    });
    let mut callee = wire.callee();
    callee.read_head();
    expect_body(&mut callee, true);
    callee.send("HTTP/1.1 204 No Content\r\n\r\n");
    let mut caller = sending.join().unwrap();
    caller.expect("HTTP/1.1 204 No Content\r\n\r\n");
}

#[test]
fn a_long_answer_to_a_slow_reader() {
    for head in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n"),
        "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
    ] {
        let wire = Wire::new();
        let mut caller = wire.caller();
        caller.send("GET / HTTP/1.1\r\n\r\n");
        let mut callee = wire.callee();
        callee.read_head();
        let sending = thread::spawn(move || {
            callee.send(head);
            send_body(&mut callee);
        });
        caller.read_head();
        expect_body(&mut caller, true);
        sending.join().unwrap();
    }
}

/// More comes while the callee is still being reached than fits a buffer.
#[test]
fn a_long_request_sent_at_once() {
    for length in [60_000, 131_072, 150_000, 1_000_000] {
        let wire = Wire::new();
        let mut caller = wire.caller();
        let body: Vec<u8> = (0..length).map(|at: usize| (at / 7) as u8).collect();
        let head = format!("PUT / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
        caller.send([head.as_bytes(), &body].concat());
        let mut callee = wire.callee();
        callee.expect(head);
        callee.expect(&body);
        callee.send("HTTP/1.1 204 No Content\r\n\r\n");
        caller.expect("HTTP/1.1 204 No Content\r\n\r\n");
    }
}

/// A callee that sends everything back as it comes: neither direction may wait
/// for the other to end.
#[test]
fn request_and_answer_flow_at_the_same_time() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(format!(
        "POST / HTTP/1.1\r\nContent-Length: {LENGTH}\r\n\r\n"
    ));
    let mut callee = wire.callee();
    callee.read_head();
    let echo = thread::spawn(move || {
        callee.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n"
        ));
        let mut bytes = vec![0; 16 * 1024];
        let mut left = LENGTH;
        while left > 0 {
            let read = callee.0.read(&mut bytes).unwrap();
            callee.0.write_all(&bytes[..read]).unwrap();
            left -= read;
        }
        callee
    });
    // The answer is there before any of the request's body.
    caller.read_head();
    let mut sender = End(caller.0.try_clone().unwrap());
    let sending = thread::spawn(move || send_body(&mut sender));
    expect_body(&mut caller, false);
    sending.join().unwrap();
    let mut callee = echo.join().unwrap();
    // Both connections go on.
    caller.send("GET / HTTP/1.1\r\n\r\n");
    callee.expect("GET / HTTP/1.1\r\n\r\n");
}

#[test]
fn an_early_answer_is_delivered_while_the_request_goes_on() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let (beginning, rest) = (
        "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345",
        "67890",
    );
    caller.send(beginning);
    let mut callee = wire.callee();
    callee.expect(beginning);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly";
    callee.send(answer);
    caller.expect(answer);
    caller.send(rest);
    callee.expect(rest);
    caller.send("GET / HTTP/1.1\r\n\r\n");
    callee.expect("GET / HTTP/1.1\r\n\r\n");
}

/// As servers do it that have read enough.
#[test]
fn an_early_refusal_is_delivered_although_the_callee_closes() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send("POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n");
    let mut callee = wire.callee();
    callee.read_head();
    let refusal =
        "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!";
    callee.send(refusal);
    drop(callee);
    let mut sender = caller.0.try_clone().unwrap();
    let sending = thread::spawn(move || {
        // Until nobody takes any more.
        while sender.write_all(&[0; 10_000]).is_ok() {}
    });
    caller.expect(refusal);
    drop(caller);
    sending.join().unwrap();
}

/// Of interest, and longer than what is read for identity: the rest streams.
#[test]
fn a_long_body_of_interest_streams_after_its_beginning() {
    let settings = Settings {
        body_limit: 10_000,
        ..Settings::default()
    };
    let wire = Wire::with(settings);
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let context = execution.context();
    let sending = thread::spawn(move || {
        caller.send(format!(
            "POST / HTTP/1.1\r\n{context}Content-Length: {LENGTH}\r\n\r\n"
        ));
        send_body(&mut caller);
        caller
    });
    let mut callee = wire.callee();
    callee.read_head();
    expect_body(&mut callee, false);
    callee.send("HTTP/1.1 204 No Content\r\n\r\n");
    sending.join().unwrap().read_head();
    assert!(execution.last().1.body_cut);
}

#[test]
fn chunks_of_interest_are_read_without_their_framing_and_passed_on_with_it() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let mut callee = None;
    // The same content is the same call, however it is framed.
    let context = execution.context();
    for framed in [
        "Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nT: 1\r\n\r\n",
    ] {
        let mut caller = wire.caller();
        caller.send(format!("POST / HTTP/1.1\r\n{context}{framed}"));
        let callee = callee.get_or_insert_with(|| wire.callee());
        let head = callee.read_head();
        let body = framed.split_once("\r\n\r\n").unwrap();
        assert!(
            head.ends_with(&format!("{}\r\n\r\n", body.0)) || head.contains(body.0),
            "{head}"
        );
        callee.expect(body.1);
        callee.send("HTTP/1.1 204 No Content\r\n\r\n");
        caller.read_head();
    }
    let recorded = execution.recorded();
    let points: Vec<_> = recorded.trace.calls()[1..]
        .iter()
        .map(|call| call.point.clone())
        .collect();
    assert!(points[0].same_call(&points[1]), "{points:?}");
}
