//! `Expect: 100-continue`.

use crate::wire::Wire;

const HEAD: &str = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn the_callee_decides_whether_to_continue() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(HEAD);
    let mut callee = wire.callee();
    callee.expect(HEAD);
    caller.expect_silence();
    callee.send(CONTINUE);
    caller.expect(CONTINUE);
    caller.send("hello");
    callee.expect("hello");
    callee.send(OK);
    caller.expect(OK);
    // Both connections go on.
    caller.send("GET / HTTP/1.1\r\n\r\n");
    callee.expect("GET / HTTP/1.1\r\n\r\n");
}

#[test]
fn a_refused_expectation_ends_the_connection() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(HEAD);
    let mut callee = wire.callee();
    callee.expect(HEAD);
    let refused = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    callee.send(refused);
    caller.expect(refused);
    // Nobody could say whether the body comes before the next request.
    caller.expect_close();
    callee.expect_end();
}

#[test]
fn a_caller_that_does_not_wait_is_served_all_the_same() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(format!("{HEAD}hello"));
    let mut callee = wire.callee();
    callee.expect(format!("{HEAD}hello"));
    callee.send(OK);
    caller.expect(OK);
}

/// The body is needed to name the call, so the proxy asks for it; the callee
/// would otherwise have to be reached first.
#[test]
fn a_body_needed_for_identity_is_asked_for_by_the_proxy() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!(
        "POST / HTTP/1.1\r\nExpect: 100-continue\r\n{context}Content-Length: 5\r\n\r\n"
    ));
    caller.expect(CONTINUE);
    caller.send("hello");
    let mut callee = wire.callee();
    let head = callee.read_head();
    assert!(head.contains("Expect: 100-continue\r\n"), "{head}");
    callee.expect("hello");
    // The caller has had its 100 already; another interim answer passes.
    let hints = "HTTP/1.1 103 Early Hints\r\n\r\n";
    callee.send(format!("{CONTINUE}{hints}{OK}"));
    caller.expect(format!("{hints}{OK}"));
    assert_eq!(execution.last().0, Some(murphy_model::Reply::Status(200)));
}
