//! Connections are kept and used again, on both sides, and never so that a
//! request meets the wrong one.

use std::time::Duration;

use murphy_model::Reply;
use murphy_registry::Organic;

use crate::wire::{End, Wire};

const GET: &str = "GET / HTTP/1.1\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const SOON: Duration = Duration::from_millis(100);

fn answer(callee: &mut End, request: &str) {
    callee.expect(request);
    callee.send(OK);
}

/// A caller and a callee whose connections have served one request.
fn used(wire: &Wire) -> (End, End) {
    let mut caller = wire.caller();
    caller.send(GET);
    let mut callee = wire.callee();
    answer(&mut callee, GET);
    caller.expect(OK);
    (caller, callee)
}

/// The caller's next request reaches the callee on a new connection.
fn expect_new_connection(wire: &Wire, caller: &mut End) {
    caller.send(GET);
    answer(&mut wire.callee(), GET);
    caller.expect(OK);
}

#[test]
fn one_connection_to_the_callee_serves_many_callers() {
    let wire = Wire::new();
    let mut callee = None;
    for _ in 0..5 {
        let mut caller = wire.caller();
        for _ in 0..20 {
            caller.send(GET);
            answer(callee.get_or_insert_with(|| wire.callee()), GET);
            caller.expect(OK);
        }
    }
    assert!(wire.callee_within(SOON).is_none(), "no second connection");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let posts: Vec<String> = (0..50)
        .map(|n| format!("POST /{n} HTTP/1.1\r\nContent-Length: 4\r\n\r\n{n:04}"))
        .collect();
    // Some callers send an empty line after a body.
    caller.send(posts.join("\r\n"));
    let mut callee = wire.callee();
    for (n, post) in posts.iter().enumerate() {
        callee.expect(post);
        // The next one waits for this one's answer.
        if n == 0 {
            callee.expect_silence();
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{n:04}");
        callee.send(&answer);
        caller.expect(&answer);
    }
}

#[test]
fn a_close_asked_for_by_the_caller() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    caller.send(request);
    let mut callee = wire.callee();
    answer(&mut callee, request);
    caller.expect(OK);
    caller.expect_close();
    callee.expect_close();
}

#[test]
fn a_close_announced_by_the_callee() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(GET);
    let mut callee = wire.callee();
    callee.expect(GET);
    let last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx";
    callee.send(last);
    caller.expect(last);
    caller.expect_close();
    callee.expect_close();
}

#[test]
fn what_follows_a_last_request_does_not_spoil_its_answer() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    caller.send(format!("{request}{}", "x".repeat(100_000)));
    let mut callee = wire.callee();
    answer(&mut callee, request);
    caller.expect(OK);
    caller.expect_close();
}

#[test]
fn a_connection_closed_while_it_was_idle_is_not_used() {
    let wire = Wire::new();
    let (mut caller, callee) = used(&wire);
    drop(callee);
    std::thread::sleep(SOON);
    // Context out before anything of the next request is written.
    let post = "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    caller.send(post);
    answer(&mut wire.callee(), post);
    caller.expect(OK);
}

/// Noticed when the next request comes, not when there is time to look.
#[test]
fn a_connection_closed_just_before_a_request_is_not_used() {
    for _ in 0..100 {
        let wire = Wire::new();
        let (mut caller, callee) = used(&wire);
        drop(callee);
        expect_new_connection(&wire, &mut caller);
    }
}

#[test]
fn a_connection_that_said_something_unasked_is_not_used() {
    let wire = Wire::new();
    let (mut caller, mut first) = used(&wire);
    first.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
    std::thread::sleep(SOON);
    expect_new_connection(&wire, &mut caller);
    first.expect_end();
}

#[test]
fn more_than_an_answer_ends_the_connection_to_the_callee() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(GET);
    let mut first = wire.callee();
    first.expect(GET);
    first.send(format!("{OK}{OK}"));
    caller.expect(OK);
    caller.expect_silence();
    first.expect_end();
    expect_new_connection(&wire, &mut caller);
}

#[test]
fn an_idle_connection_is_given_up_after_a_second() {
    let wire = Wire::new();
    let (mut caller, mut first) = used(&wire);
    // Closed by the proxy, without any traffic that would make it look.
    first.expect_close();
    expect_new_connection(&wire, &mut caller);
}

/// A kept connection ends after the request was read: that is the callee's
/// answer, whatever the method. Sent once more, a handler that crashes would
/// run twice, and the second run would be blamed on the caller.
#[test]
fn no_hidden_resends() {
    for method in ["GET", "PUT", "POST"] {
        for reset in [false, true] {
            let wire = Wire::new();
            let execution = wire.begin("none");
            let (mut caller, mut callee) = wire.call(&execution);
            callee.send(OK);
            caller.expect(OK);
            let head = format!("{method} /crash HTTP/1.1\r\n{}", execution.context());
            caller.send(format!("{head}Content-Length: 2\r\n\r\nhi"));
            callee.read_head();
            callee.expect("hi");
            let reply = caller.expect_end_of(callee, reset);
            let again = wire.callee_within(SOON);
            assert!(again.is_none(), "{method}: it is asked once");
            assert_eq!(execution.recorded().trace.calls().len(), 3, "{method}");
            let (shown, detail) = execution.last();
            assert_eq!(shown, Some(reply), "{method}");
            assert_eq!(detail.organic, Some(Organic::Reset), "{method}");
        }
    }
}

/// Only the end of it is still in the buffer, and must not pass for all of it.
#[test]
fn a_long_request_that_met_a_close_is_not_sent_again() {
    let wire = Wire::new();
    let (mut caller, mut callee) = used(&wire);
    let body = vec![b'x'; 300_000];
    caller.send("PUT / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n");
    callee.read_head();
    caller.send(&body);
    callee.expect(&body);
    drop(callee);
    caller.expect_close();
    assert!(wire.callee_within(SOON).is_none());
}

#[test]
fn a_request_on_a_fresh_connection_is_sent_once() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(GET);
    let mut callee = wire.callee();
    callee.expect(GET);
    drop(callee);
    caller.expect_close();
    assert!(wire.callee_within(SOON).is_none());
}

#[test]
fn a_thousand_idle_callers_do_not_disturb_one_that_is_not() {
    let wire = Wire::new();
    let idle: Vec<End> = (0..1000).map(|_| wire.caller()).collect();
    let mut caller = wire.caller();
    let mut callee = None;
    for _ in 0..10 {
        caller.send(GET);
        answer(callee.get_or_insert_with(|| wire.callee()), GET);
        caller.expect(OK);
    }
    drop(idle);
}

/// A caller may say that it sends no more and still wait for its answer. On
/// the wire that is what a caller looks like that has gone away, and is
/// treated so where it cannot be told apart.
#[cfg(target_os = "linux")]
#[test]
fn a_half_closed_caller_gets_its_answer() {
    for (faults, fast) in [
        ("none", true),
        ("none", false),
        ("** > back * = delay:50ms", true),
    ] {
        let wire = Wire::new();
        let execution = wire.begin(faults);
        let mut caller = wire.caller();
        caller.send(format!("GET / HTTP/1.1\r\n{}\r\n", execution.context()));
        caller.finish();
        let mut callee = wire.callee();
        callee.read_head();
        if !fast {
            std::thread::sleep(3 * SOON);
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        callee.send(answer);
        caller.expect(answer);
        caller.expect_close();
        let (reply, detail) = execution.last();
        assert_eq!((reply, detail.gave_up), (Some(Reply::Status(200)), None));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_half_closed_caller_that_goes_away_has_given_up() {
    for faults in ["none", "** > back * = hang"] {
        let wire = Wire::new();
        let execution = wire.begin(faults);
        let mut caller = wire.caller();
        caller.send(format!("GET / HTTP/1.1\r\n{}\r\n", execution.context()));
        caller.finish();
        caller.expect_silence();
        drop(caller);
        let (reply, detail) = execution.last();
        assert_eq!(reply, Some(Reply::TimedOut), "{faults}");
        let waited = detail.gave_up.expect("it went away");
        assert!(waited >= Duration::from_millis(50), "{faults}: {waited:?}");
    }
}
