//! Connections that become something else.

use crate::wire::Wire;

const WEBSOCKET: &str =
    "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
const SWITCHED: &str =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

#[test]
fn after_an_upgrade_both_sides_are_joined() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    // Some callers do not wait for the 101.
    caller.send(format!("{WEBSOCKET}early"));
    let mut callee = wire.callee();
    callee.expect(WEBSOCKET);
    callee.send(format!("{SWITCHED}\x00hello"));
    caller.expect(format!("{SWITCHED}\x00hello"));
    callee.expect("early");
    for n in 0..100 {
        caller.send(format!("ping {n}\r\n\r\n"));
        callee.expect(format!("ping {n}\r\n\r\n"));
        callee.send(format!("pong {n}"));
        caller.expect(format!("pong {n}"));
    }
    // One side may stop before the other.
    caller.finish();
    callee.expect_close();
    callee.send("bye");
    drop(callee);
    caller.expect("bye");
    caller.expect_close();
}

#[test]
fn a_tunnel_breaks_for_both() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(WEBSOCKET);
    let mut callee = wire.callee();
    callee.expect(WEBSOCKET);
    callee.send(SWITCHED);
    caller.expect(SWITCHED);
    callee.kill();
    caller.expect_reset();
}

#[test]
fn a_refused_upgrade_is_an_ordinary_answer() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(WEBSOCKET);
    let mut callee = wire.callee();
    callee.expect(WEBSOCKET);
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    caller.send(WEBSOCKET);
    callee.expect(WEBSOCKET);
}

#[test]
fn connect_opens_a_tunnel_if_the_callee_says_so() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let request = "CONNECT db:5432 HTTP/1.1\r\nHost: db:5432\r\n\r\n";
    caller.send(request);
    let mut callee = wire.callee();
    callee.expect(request);
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    caller.send("more than five bytes");
    callee.expect("more than five bytes");
}

#[test]
fn an_upgraded_call_is_recorded_when_it_switches() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!(
        "GET / HTTP/1.1\r\n{context}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    ));
    let mut callee = wire.callee();
    callee.read_head();
    callee.send(SWITCHED);
    caller.expect(SWITCHED);
    // The tunnel stays open, and the execution is quiet.
    assert_eq!(execution.last().0, Some(murphy_model::Reply::Status(101)));
    caller.send("x");
    callee.expect("x");
}

/// Java's client offers it with every first request. The callee does not see
/// the offer, so that it cannot switch to what the proxy does not follow.
#[test]
fn an_offer_of_http_2_is_served_as_http_1_1() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, x-own\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nhi",
    );
    let mut callee = wire.callee();
    callee.expect(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: x-own\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nhi",
    );
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    callee.send(answer);
    caller.expect(answer);
    // The connections go on as they were.
    caller.send("GET / HTTP/1.1\r\n\r\n");
    callee.expect("GET / HTTP/1.1\r\n\r\n");
}
