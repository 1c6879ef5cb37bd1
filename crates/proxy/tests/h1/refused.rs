//! Requests that are not served, and answers that are none.

use murphy_proxy::Settings;
use murphy_registry::Organic;

use crate::wire::Wire;

/// Nothing reaches the callee, the caller is told why, and gets to read it
/// although more of what it sent is still unread.
#[test]
fn requests_that_could_be_read_in_two_ways_are_refused() {
    let wire = Wire::new();
    let requests = [
        "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
        // Lines that end with a line feed alone.
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\nA: b\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\n",
        "GET / HTTP/1.1\nA: b\r\n\r\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "\r\n\nGET / HTTP/1.1\r\n\r\n",
        "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
    ];
    for request in requests {
        let mut caller = wire.caller();
        caller.send(format!("{request}{}", "x".repeat(50_000)));
        let head = caller.read_head();
        assert!(
            head.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{request:?}: {head}"
        );
        caller.expect("the request is malformed");
        caller.expect_close();
    }
    let none = wire.callee_within(std::time::Duration::from_millis(50));
    assert!(none.is_none());
}

#[test]
fn a_body_that_becomes_malformed_on_the_way_is_refused() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let beginning = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
    caller.send(beginning);
    let mut callee = wire.callee();
    callee.expect(beginning);
    caller.send("oops\r\n");
    let head = caller.read_head();
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    callee.expect_end();
}

#[test]
fn heads_at_the_limit_pass_and_longer_ones_do_not() {
    let settings = Settings {
        head_limit: 20_000,
        ..Settings::default()
    };
    let wire = Wire::with(settings);
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let head = |length: usize| {
        let (before, after) = ("GET / HTTP/1.1\r\nLong: ", "\r\n\r\n");
        let filler = "x".repeat(length - before.len() - after.len());
        format!("{before}{filler}{after}")
    };
    let mut caller = wire.caller();
    caller.send(head(20_000));
    let mut callee = wire.callee();
    callee.expect(head(20_000));
    callee.send(ok);
    caller.expect(ok);
    // Whether it is complete or goes on for ever.
    for request in [
        head(20_001),
        head(300_000),
        head(100_000)[..90_000].to_owned(),
    ] {
        let mut caller = wire.caller();
        caller.send(request);
        let head = caller.read_head();
        assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
        caller.expect("the head of the request is too long");
        caller.expect_close();
    }
}

#[test]
fn as_many_headers_as_anyone_sends_pass_and_more_do_not() {
    let wire = Wire::new();
    let head = |count: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(count));
    let mut caller = wire.caller();
    caller.send(head(256));
    let mut callee = wire.callee();
    callee.expect(head(256));
    let mut caller = wire.caller();
    caller.send(head(257));
    let head = caller.read_head();
    assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
}

#[test]
fn what_is_no_answer_is_not_passed_on() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(257));
    let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(70_000));
    let answers = [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\0\0\0\x04\0\0\0\0\0",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        &many,
        &long,
    ];
    for answer in answers {
        let wire = Wire::new();
        let execution = wire.begin("none");
        let mut caller = wire.caller();
        let context = execution.context();
        caller.send(format!("GET / HTTP/1.1\r\n{context}\r\n"));
        let mut callee = wire.callee();
        callee.read_head();
        callee.send(answer);
        let head = caller.read_head();
        assert!(head.starts_with("HTTP/1.1 502 "), "{answer:?}: {head}");
        caller.expect("the service sent something that is no answer");
        callee.expect_end();
        assert_eq!(
            execution.last().1.organic,
            Some(Organic::NotHttp),
            "{answer:?}"
        );
        // The caller's connection goes on.
        caller.send("GET / HTTP/1.1\r\n\r\n");
        wire.callee().expect("GET / HTTP/1.1\r\n\r\n");
    }
}
