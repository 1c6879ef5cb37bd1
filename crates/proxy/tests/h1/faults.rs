//! The parts of faults that are this engine's own: answers in the callee's
//! stead, answers changed on the way, ends without an answer.

use std::time::Duration;

use murphy_model::Reply;
use murphy_proxy::Settings;

use crate::wire::{Execution, Wire};

fn failing(mode: &str) -> (Wire, Execution) {
    let wire = Wire::new();
    let execution = wire.begin(&format!("** > back * #* = {mode}"));
    (wire, execution)
}

fn get(execution: &Execution) -> String {
    format!("GET / HTTP/1.1\r\n{}\r\n", execution.context())
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Own: 1\r\n\r\n";

#[test]
fn an_injected_status_keeps_the_connection() {
    let (wire, execution) = failing("503");
    let mut caller = wire.caller();
    let context = execution.context();
    let requests = [
        get(&execution),
        format!("POST / HTTP/1.1\r\n{context}Content-Length: 2\r\n\r\nhi"),
        format!("HEAD / HTTP/1.1\r\n{context}\r\n"),
        get(&execution),
    ];
    for request in requests {
        caller.send(&request);
        let head = caller.read_head();
        assert!(
            head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"),
            "{head}"
        );
        assert!(head.contains("content-length: 14\r\n"), "{head}");
        assert!(!head.contains("connection"), "{head}");
        if !request.starts_with("HEAD") {
            caller.expect("Injected fault");
        }
    }
    assert!(wire.callee_within(Duration::from_millis(30)).is_none());
}

#[test]
fn an_injected_status_respects_a_wish_to_close() {
    let (wire, execution) = failing("500");
    for request in [
        format!(
            "GET / HTTP/1.1\r\n{}Connection: close\r\n\r\n",
            execution.context()
        ),
        format!(
            "GET / HTTP/1.0\r\n{}Connection: keep-alive\r\n\r\n",
            execution.context()
        ),
    ] {
        let mut caller = wire.caller();
        caller.send(request);
        let head = caller.read_head();
        assert!(head.contains("connection: close\r\n"), "{head}");
        caller.expect("Injected fault");
        caller.expect_close();
    }
}

#[test]
fn statuses_without_a_body_have_none() {
    for (status, goes_on) in [("204", true), ("304", true), ("103", false)] {
        let (wire, execution) = failing(status);
        let mut caller = wire.caller();
        caller.send(get(&execution));
        let head = caller.read_head();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(!head.contains("content-length"), "{head}");
        if !goes_on {
            caller.expect_close();
            continue;
        }
        caller.send(get(&execution));
        caller.read_head();
    }
}

#[test]
fn a_close_is_a_close_and_a_reset_a_reset() {
    // Bytes that were not read would make a reset of a close.
    let after = "x".repeat(1000);
    for mode in ["close", "reset"] {
        let (wire, execution) = failing(mode);
        let mut caller = wire.caller();
        caller.send(format!("{}{after}", get(&execution)));
        match mode {
            "close" => caller.expect_close(),
            _ => caller.expect_reset(),
        }
    }
}

/// Longer than any buffer, and unread: the caller must still be seen to leave.
#[test]
fn a_hang_ends_when_a_caller_leaves_that_has_sent_a_lot() {
    let (wire, execution) = failing("hang");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!(
        "POST / HTTP/1.1\r\n{context}Content-Length: 3000000\r\n\r\n"
    ));
    caller.send(vec![b'x'; 3_000_000]);
    caller.send(vec![b'y'; 1_000_000]);
    caller.expect_silence();
    drop(caller);
    let (reply, detail) = execution.last();
    assert_eq!(reply, Some(Reply::TimedOut));
    assert!(detail.gave_up.is_some());
    assert_eq!(detail.landed, Some(true));
}

#[test]
fn requests_sent_during_a_delay_are_not_lost() {
    let (wire, execution) = failing("delay:100ms");
    let mut caller = wire.caller();
    caller.send(format!("{}GET /next HTTP/1.1\r\n\r\n", get(&execution)));
    let mut callee = wire.callee();
    callee.read_head();
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    callee.send(ok);
    caller.expect_silence();
    caller.expect(ok);
    callee.expect("GET /next HTTP/1.1\r\n\r\n");
    callee.send(ok);
    caller.expect(ok);
}

#[test]
fn a_malformed_body_is_framed_as_its_head_says() {
    let (wire, execution) = failing("after:malformed");
    let mut caller = wire.caller();
    caller.send(get(&execution));
    let mut callee = wire.callee();
    callee.read_head();
    callee.send(format!("{CHUNKED}3;x\r\nabc\r\n"));
    caller.expect(format!("{CHUNKED}3\r\nInj\r\n"));
    callee.send("2\r\nde\r\n0\r\nX-T: 1\r\n\r\n");
    caller.expect("2\r\nec\r\n0\r\nx-t: 1\r\n\r\n");
    // Both go on.
    caller.send(get(&execution));
    callee.read_head();
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nInje");
    caller.send(get(&execution));
    callee.read_head();
    callee.send("HTTP/1.1 200 OK\r\n\r\nabcd");
    drop(callee);
    caller.expect("HTTP/1.1 200 OK\r\n\r\nInje");
    caller.expect_close();
}

#[test]
fn a_truncated_body_breaks_off_so_that_the_caller_can_tell() {
    let cases = [
        (
            "Content-Length: 6\r\n\r\nabcdef",
            "Content-Length: 6\r\n\r\nabc",
        ),
        (
            "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ),
        ("\r\nabcdef", "\r\nabc"),
    ];
    for (sent, seen) in cases {
        let (wire, execution) = failing("after:truncate:3");
        let mut caller = wire.caller();
        caller.send(get(&execution));
        let mut callee = wire.callee();
        callee.read_head();
        callee.send(format!("HTTP/1.1 200 OK\r\n{sent}"));
        drop(callee);
        caller.expect(format!("HTTP/1.1 200 OK\r\n{seen}"));
        // After a close, a body without length would look complete.
        match sent.starts_with("\r\n") {
            true => caller.expect_reset(),
            false => caller.expect_close(),
        }
        assert_eq!(execution.last().0, Some(Reply::Broken), "{sent:?}");
    }
}

#[test]
fn a_duplicate_is_sent_on_a_connection_of_its_own() {
    let (wire, execution) = failing("duplicate");
    let mut caller = wire.caller();
    let context = execution.context();
    let chunked = "Transfer-Encoding: chunked\r\n\r\n2;x\r\nhi\r\n0\r\n\r\n";
    caller.send(format!("POST /a HTTP/1.1\r\n{context}{chunked}"));
    let mut first = wire.callee();
    let first_head = first.read_head();
    first.expect("2;x\r\nhi\r\n0\r\n\r\n");
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
    let mut second = wire.callee();
    assert_eq!(second.read_head(), first_head);
    second.expect("2;x\r\nhi\r\n0\r\n\r\n");
    caller.expect_silence();
    second
        .send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
    assert_eq!(execution.last().1.landed, Some(true));
}

/// After the callee has worked, its answer is thrown away and its connection
/// used again.
#[test]
fn a_status_after_the_callee_has_worked() {
    let (wire, execution) = failing("after:500");
    let mut caller = wire.caller();
    let mut callee = None;
    for _ in 0..3 {
        caller.send(get(&execution));
        let callee = callee.get_or_insert_with(|| wire.callee());
        callee.read_head();
        callee.send(format!("{CHUNKED}3\r\nabc\r\n0\r\n\r\n"));
        let head = caller.read_head();
        assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
        caller.expect("Injected fault");
    }
}

/// The answer is changed while the request, with a changed head, is still
/// being sent: neither may get into the other.
#[test]
fn an_early_answer_is_changed_while_the_request_goes_on() {
    let settings = Settings {
        body_limit: 10,
        ..Settings::default()
    };
    let wire = Wire::with(settings);
    let execution = wire.begin("** > back * #* = after:malformed");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!(
        "POST / HTTP/1.1\r\n{context}Content-Length: 30\r\n\r\n01234567890123456789"
    ));
    let mut callee = wire.callee();
    callee.read_head();
    callee.expect("01234567890123456789");
    callee.send(format!("{CHUNKED}3\r\nabc\r\n"));
    caller.expect(format!("{CHUNKED}3\r\nInj\r\n"));
    caller.send("01234");
    callee.expect("01234");
    callee.send("1\r\nx\r\n");
    caller.expect("1\r\ne\r\n");
    caller.send("56789");
    callee.expect("56789");
    callee.send("0\r\n\r\n");
    caller.expect("0\r\n\r\n");
}
