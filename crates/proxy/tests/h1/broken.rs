//! Either side goes away, at the worst moment.

use std::io::Write;
use std::time::Duration;

use murphy_model::Reply;
use murphy_registry::Organic;

use crate::wire::Wire;

const GET: &str = "GET / HTTP/1.1\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn a_callee_that_is_not_up_yet() {
    let mut wire = Wire::new();
    wire.take_down();
    let mut caller = wire.caller();
    caller.send(GET);
    let head = caller.read_head();
    assert!(head.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{head}");
    caller.expect("the service refused the connection");
    wire.bring_up();
    caller.send(GET);
    let mut callee = wire.callee();
    callee.expect(GET);
    callee.send(OK);
    caller.expect(OK);
}

#[test]
fn a_refused_upload_does_not_cost_the_connection() {
    let mut wire = Wire::new();
    wire.take_down();
    let mut caller = wire.caller();
    for sent_at_once in [0, 3, 10] {
        let body = "0123456789";
        let (now, later) = body.split_at(sent_at_once);
        caller.send(format!(
            "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n{now}"
        ));
        let head = caller.read_head();
        assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
        assert!(!head.contains("close"), "{head}");
        caller.expect("the service refused the connection");
        caller.send(later);
    }
    caller.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    let head = caller.read_head();
    assert!(head.contains("connection: close\r\n"), "{head}");
}

/// Killed while the callee works: the callee must notice, and the record says
/// that its caller gave up, and after how long.
#[test]
fn a_caller_that_goes_away_while_the_callee_works() {
    for reset in [false, true] {
        let wire = Wire::new();
        let execution = wire.begin("none");
        let (caller, mut callee) = wire.call(&execution);
        std::thread::sleep(Duration::from_millis(50));
        caller.leave(reset);
        callee.expect_end();
        let (reply, detail) = execution.last();
        assert_eq!(reply, Some(Reply::TimedOut));
        assert!(detail.gave_up.unwrap() >= Duration::from_millis(50));
    }
}

#[test]
fn a_caller_that_goes_away_in_the_middle_of_its_request() {
    let wire = Wire::new();
    let beginnings = [
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12",
    ];
    for beginning in beginnings {
        let mut caller = wire.caller();
        caller.send(beginning);
        if beginning.starts_with("POST") {
            let mut callee = wire.callee();
            callee.expect(beginning);
            drop(caller);
            callee.expect_end();
        }
    }
}

/// Nobody's call: it was never complete.
#[test]
fn a_call_whose_body_never_came_is_no_call() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!(
        "POST / HTTP/1.1\r\n{context}Content-Length: 10\r\n\r\n123"
    ));
    std::thread::sleep(Duration::from_millis(20));
    drop(caller);
    assert_eq!(execution.recorded().trace.calls().len(), 1);
}

/// It has seen the status, so that is what came of the call.
#[test]
fn a_caller_that_goes_away_in_the_middle_of_the_answer() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let (mut caller, mut callee) = wire.call(&execution);
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    caller.read_head();
    drop(caller);
    callee.expect_end();
    let (reply, detail) = execution.last();
    assert_eq!(reply, Some(Reply::Status(200)));
    assert!(detail.gave_up.is_some());
}

/// Whether the proxy is writing, waits for room or for the callee when its
/// caller leaves: what came of the call is the status, each time.
#[test]
fn a_caller_that_does_not_read_the_body() {
    let sizes = [0, 10, 10_000, 1_000_000, 10_000_000];
    for (size, reset) in sizes.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let wire = Wire::new();
        let execution = wire.begin("none");
        let (mut caller, mut callee) = wire.call(&execution);
        let answering = std::thread::spawn(move || {
            let head = format!("HTTP/1.1 404 Not Context\r\nContent-Length: {size}\r\n\r\n");
            callee.send(head);
            // Nobody reads on, so that this may fail.
            let _ = callee.0.write_all(&vec![b'x'; size]);
        });
        caller.read_head();
        caller.leave(reset);
        answering.join().unwrap();
        let (reply, _) = execution.last();
        assert_eq!(reply, Some(Reply::Status(404)), "{size}, reset: {reset}");
    }
}

/// A body without announced length would look complete after a mere close.
#[test]
fn a_callee_killed_in_the_middle_of_its_answer() {
    let cases = [
        ("Content-Length: 10\r\n\r\n12345", false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n123", false),
        ("Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", false),
        ("\r\n12345", true),
    ];
    for (rest, only_reset) in cases {
        for reset in [false, true] {
            if only_reset && !reset {
                continue;
            }
            let wire = Wire::new();
            let execution = wire.begin("none");
            let (mut caller, mut callee) = wire.call(&execution);
            let answer = format!("HTTP/1.1 200 OK\r\n{rest}");
            callee.send(&answer);
            caller.expect(&answer);
            callee.leave(reset);
            caller.expect_reset();
            let (reply, detail) = execution.last();
            assert_eq!(reply, Some(Reply::Broken), "{rest:?}");
            assert_eq!(detail.organic, Some(Organic::BrokenAnswer), "{rest:?}");
        }
    }
}

#[test]
fn a_callee_whose_chunks_become_nonsense() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(GET);
    let mut callee = wire.callee();
    callee.expect(GET);
    let beginning = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
    callee.send(beginning);
    caller.expect(beginning);
    callee.send("nonsense\r\n");
    caller.expect_reset();
    callee.expect_end();
}

/// Its caller sees what it would see without a proxy.
#[test]
fn a_callee_killed_before_its_answer() {
    for (beginning, organic) in [
        ("", Organic::Reset),
        ("HTTP/1.1 200 OK\r\nConte", Organic::BrokenAnswer),
    ] {
        for reset in [false, true] {
            let wire = Wire::new();
            let execution = wire.begin("none");
            let (mut caller, mut callee) = wire.call(&execution);
            callee.send(beginning);
            let shown = caller.expect_end_of(callee, reset);
            let (reply, detail) = execution.last();
            assert_eq!(reply, Some(shown));
            assert_eq!(detail.organic, Some(organic));
        }
    }
}
