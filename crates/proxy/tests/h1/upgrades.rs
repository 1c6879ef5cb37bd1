//! Connections that become something else.

use std::time::Duration;

use murphy_proxy::Settings;

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

/// Java's client offers it with every first request.
#[test]
fn an_offer_of_http_2_is_not_passed_on_to_who_does_not_speak_it() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, x-own\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nX-Own: 1\r\n\r\n",
    );
    // The proxy asks first whether HTTP/2 is spoken.
    let mut callee = wire.callee();
    callee.expect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    callee.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    drop(callee);
    let mut callee = wire.callee();
    let plain = "GET / HTTP/1.1\r\nHost: x\r\nConnection: x-own\r\nX-Own: 1\r\n\r\n";
    callee.expect(plain);
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    // It does not ask again.
    assert!(wire.callee_within(Duration::from_millis(50)).is_none());
}

#[test]
fn an_offer_of_http_2_with_a_long_body_is_not_taken() {
    let settings = Settings {
        body_limit: 10,
        ..Settings::default()
    };
    let wire = Wire::with(settings);
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let body = "0123456789".repeat(3);
    caller.send(format!(
        "POST /x HTTP/1.1\r\n{}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\nContent-Length: 30\r\n\r\n{body}",
        execution.context(),
    ));
    let mut callee = wire.callee();
    callee.expect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    callee.send([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    let mut callee = wire.callee();
    let head = callee.read_head();
    assert!(!head.to_lowercase().contains("upgrade"), "{head}");
    callee.expect(body);
}

#[test]
fn an_offer_of_http_2_is_taken_if_the_callee_speaks_it() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send(
        "POST /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\nContent-Length: 2\r\n\r\nhi",
    );
    let mut callee = wire.callee();
    callee.expect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    // A SETTINGS frame without settings.
    callee.send([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    caller
        .expect("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
}
