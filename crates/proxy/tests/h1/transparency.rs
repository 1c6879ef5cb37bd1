//! What nobody changes passes as it came. An HTTP library in between would put
//! headers in another order or case, add some, and swallow 1xx.

use crate::wire::Wire;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn odd_requests_pass_byte_by_byte() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let mut callee = None;
    let requests = [
        "GET / HTTP/1.1\r\n\r\n",
        "GET /a//b/../c?x=%zz&&=;y HTTP/1.1\r\nhOST: x\r\n\r\n",
        "GET / HTTP/1.1\r\nX-B: 1\r\nx-a:2\r\nX-b:   3  \r\nEmpty:\r\nX-A: \t4\r\n\r\n",
        "M-SEARCH * HTTP/1.1\r\nHost: x\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: x\r\n\r\n",
        "GET /elsewhere HTTP/1.1\r\nVia: 1.1 x\r\nForwarded: for=x\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nConnection: x-thing\r\nX-Thing: \u{e9}\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 003\r\n\r\nabc",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\ncontent-length: 3\r\n\r\nabc",
        "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\ntransfer-ENCODING:  Chunked \r\nTrailer: x\r\n\r\n3;a=\"b c\"\r\nabc\r\n0A\r\n0123456789\r\n00;z\r\nX-T: 1\r\nx-t: 2\r\n\r\n",
    ];
    for request in requests {
        caller.send(request);
        let callee = callee.get_or_insert_with(|| wire.callee());
        callee.expect(request);
        callee.send(OK);
        caller.expect(OK);
    }
}

/// Callers that take the proxy for a forward proxy. The rest of the head is
/// left alone.
#[test]
fn targets_in_absolute_form_are_forwarded_as_paths() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let mut callee = None;
    let requests = [
        (
            "GET http://shop:8080/a?b=c HTTP/1.1\r\nX-A:  1\r\nhOST: other\r\nProxy-Connection: x\r\n\r\n",
            "GET /a?b=c HTTP/1.1\r\nX-A:  1\r\nhOST: shop:8080\r\nProxy-Connection: x\r\n\r\n",
        ),
        (
            "POST HTTP://shop HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nhost: shop\r\n\r\nabc",
        ),
        (
            "OPTIONS http://shop HTTP/1.1\r\nHost: shop\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: shop\r\n\r\n",
        ),
    ];
    for (request, forwarded) in requests {
        caller.send(request);
        let callee = callee.get_or_insert_with(|| wire.callee());
        callee.expect(forwarded);
        callee.send(OK);
        caller.expect(OK);
    }
}

/// A call is named by the path, however its target is written.
#[test]
fn a_target_in_absolute_form_is_the_same_call() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let mut caller = wire.caller();
    let context = execution.context();
    caller.send(format!("GET http://shop/a HTTP/1.1\r\n{context}\r\n"));
    let mut callee = wire.callee();
    let head = callee.read_head();
    assert!(head.starts_with("GET /a HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nhost: shop\r\n"), "{head}");
    callee.send(OK);
    caller.expect(OK);
    let recorded = execution.recorded();
    let call = recorded.trace.calls().last().unwrap();
    assert_eq!(call.point.to_string(), "front GET / > back GET /a");
}

#[test]
fn odd_answers_pass_byte_by_byte() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let mut callee = None;
    let request = "GET / HTTP/1.1\r\n\r\n";
    let answers = [
        "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 299 Caf\u{e9} \r\nContent-Length:1\r\nsEt-cookie: a\r\nX: y\r\nSet-Cookie: b\r\n\r\n1",
        "HTTP/1.1  404  Not  Context\r\nContent-Length : 2\r\n\r\nno",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.1 200 OK\r\nFolded: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext\r\nhello\r\n0\r\nGrpc-Status: 0\r\nX: y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 99\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 799 Odd\r\nContent-Length: 0\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\n\r\n",
    ];
    for answer in answers {
        caller.send(request);
        let callee = callee.get_or_insert_with(|| wire.callee());
        callee.expect(request);
        callee.send(answer);
        caller.expect(answer);
    }
}

#[test]
fn it_does_not_matter_how_messages_are_cut_up() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    let request = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for byte in request.bytes() {
        caller.send([byte]);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut callee = wire.callee();
    callee.expect(request);
    let answer =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\nT: 1\r\n\r\n";
    for byte in answer.bytes() {
        callee.send([byte]);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    caller.expect(answer);
}

#[test]
fn an_answer_that_ends_with_its_connection() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send("GET / HTTP/1.1\r\n\r\n");
    let mut callee = wire.callee();
    callee.read_head();
    callee.send("HTTP/1.1 200 OK\r\n\r\nsome");
    caller.expect("HTTP/1.1 200 OK\r\n\r\nsome");
    caller.expect_silence();
    callee.send(" more");
    drop(callee);
    caller.expect(" more");
    caller.expect_close();
}

#[test]
fn answers_to_head_have_no_body() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send("HEAD / HTTP/1.1\r\n\r\n");
    let mut callee = wire.callee();
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    ] {
        callee.expect("HEAD / HTTP/1.1\r\n\r\n");
        callee.send(answer);
        caller.expect(answer);
        // That the next one is served shows that no body was waited for.
        caller.send("HEAD / HTTP/1.1\r\n\r\n");
    }
}

#[test]
fn interim_answers_pass_as_they_come() {
    let wire = Wire::new();
    let mut caller = wire.caller();
    caller.send("GET / HTTP/1.1\r\n\r\n");
    let mut callee = wire.callee();
    callee.read_head();
    for interim in [
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 199 Anything\r\n\r\n",
    ] {
        callee.send(interim);
        caller.expect(interim);
    }
    let rest = format!("HTTP/1.1 150 Last\r\n\r\n{OK}");
    callee.send(&rest);
    caller.expect(&rest);
}

#[test]
fn http_1_0_on_either_side() {
    let wire = Wire::new();
    // The caller says nothing, so that its connection ends with the answer.
    let mut caller = wire.caller();
    caller.send("GET / HTTP/1.0\r\n\r\n");
    let mut callee = wire.callee();
    callee.expect("GET / HTTP/1.0\r\n\r\n");
    callee.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    caller.expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    caller.expect_close();
    callee.expect_close();
    // Both say that they go on.
    let mut caller = wire.caller();
    let request = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
    let answer = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";
    caller.send(request);
    let mut callee = wire.callee();
    for _ in 0..2 {
        callee.expect(request);
        callee.send(answer);
        caller.expect(answer);
        caller.send(request);
    }
    callee.expect(request);
    callee.send(answer);
    caller.expect(answer);
    // A callee of HTTP/1.0 that does not say so.
    caller.send("GET / HTTP/1.1\r\n\r\n");
    callee.read_head();
    callee.send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    caller.expect("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    caller.expect_close();
    callee.expect_close();
}
