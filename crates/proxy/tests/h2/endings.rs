//! How streams end when they do not end well, and who gets to know.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use murphy_model::Reply;
use murphy_registry::Organic;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

use crate::support::{
    Received, Script, Served, callee, caller, campaign, front, one_thread, pass_through, piece,
    read, request, serve_connection, soon,
};

/// A callee that answers nothing.
struct Silent {
    address: SocketAddr,
    /// Told for every request that came.
    asked: mpsc::UnboundedReceiver<()>,
    /// How its streams ended.
    ended: mpsc::UnboundedReceiver<Reason>,
}

async fn silent() -> Silent {
    let (tell_asked, asked) = mpsc::unbounded_channel();
    let (tell_ended, ended) = mpsc::unbounded_channel();
    let address = callee(move |mut served: Served| {
        tell_asked.send(()).unwrap();
        let tell_ended = tell_ended.clone();
        async move {
            let reason = poll_fn(|cx| served.respond.poll_reset(cx)).await;
            let _ = tell_ended.send(reason.unwrap());
        }
    })
    .await;
    Silent {
        address,
        asked,
        ended,
    }
}

#[tokio::test]
async fn a_caller_that_resets_while_it_waits() {
    let mut callee = silent().await;
    let campaign = campaign(callee.address);
    let mut caller = caller(campaign.front.address).await;
    let (_answer, mut upload) = caller.send(request("POST", "/"), true).await;
    soon(callee.asked.recv()).await.unwrap();
    upload.send_reset(Reason::CANCEL);
    assert_eq!(soon(callee.ended.recv()).await, Some(Reason::CANCEL));
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::TimedOut));
    assert!(recorded.details[0].gave_up.is_some());
}

#[tokio::test]
async fn a_caller_that_resets_in_the_middle_of_its_request() {
    let mut callee = silent().await;
    let front = pass_through(callee.address);
    let mut caller = caller(front.address).await;
    let (_answer, mut upload) = caller.send(request("POST", "/"), false).await;
    upload.send_data("some".into(), false).unwrap();
    soon(callee.asked.recv()).await.unwrap();
    upload.send_reset(Reason::CANCEL);
    assert_eq!(soon(callee.ended.recv()).await, Some(Reason::CANCEL));
}

#[tokio::test]
async fn a_caller_whose_connection_ends_while_it_waits() {
    let mut callee = silent().await;
    let front = pass_through(callee.address);
    let mut caller = caller(front.address).await;
    let _waiting = caller.send(request("GET", "/"), true).await;
    soon(callee.asked.recv()).await.unwrap();
    drop(caller);
    assert_eq!(soon(callee.ended.recv()).await, Some(Reason::CANCEL));
}

#[tokio::test]
async fn a_caller_that_leaves_in_the_middle_of_an_answer() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let callee = callee(move |mut served| {
        let tell = tell.clone();
        async move {
            let mut answer = served.start(false);
            answer.send_data("some".into(), false).unwrap();
            tell.send(poll_fn(|cx| answer.poll_reset(cx)).await.unwrap())
                .unwrap();
        }
    })
    .await;
    let campaign = campaign(callee);
    let mut caller = caller(campaign.front.address).await;
    let (answer, mut upload) = caller.send(request("GET", "/"), true).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(piece(&mut body).await, "some");
    upload.send_reset(Reason::CANCEL);
    assert_eq!(soon(told.recv()).await, Some(Reason::CANCEL));
    // It has seen the status.
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::Status(200)));
    assert!(recorded.details[0].gave_up.is_some());
}

/// Its status would come last, and the caller did not wait for it: whether it
/// had its answer depends on whether a message had come.
#[tokio::test]
async fn a_caller_that_leaves_a_stream_of_messages() {
    for (sent, reply) in [
        (&b"\0\0\0\0\x02hi"[..], Reply::GrpcOk),
        (&b"\0\0\0\0\x02h"[..], Reply::TimedOut),
    ] {
        let callee = callee(move |mut served| async move {
            let mut answer = served.start(false);
            answer.send_data(sent.into(), false).unwrap();
            let _ = poll_fn(|cx| answer.poll_reset(cx)).await;
        })
        .await;
        let script = Arc::new(Script::default());
        let front = front(callee, script.clone(), one_thread());
        let mut caller = caller(front.address).await;
        let mut head = request("POST", "/shop.Back/CallGuard");
        let grpc = "application/grpc".parse().unwrap();
        head.headers_mut().insert("content-type", grpc);
        let (answer, mut upload) = caller.send(head, false).await;
        upload
            .send_data(Bytes::from_static(b"\0\0\0\0\0"), true)
            .unwrap();
        let mut body = soon(answer).await.unwrap().into_body();
        assert_eq!(piece(&mut body).await, sent);
        upload.send_reset(Reason::CANCEL);
        let ending = soon(script.ending()).await;
        assert_eq!((ending.reply, ending.gave_up), (reply, true));
        assert_eq!(ending.body.is_some(), reply.is_ok());
        assert!(ending.body.is_none_or(|body| body.cut));
    }
}

#[tokio::test]
async fn a_callee_that_resets_before_it_answers() {
    let callee = callee(|mut served| async move {
        served.respond.send_reset(Reason::ENHANCE_YOUR_CALM);
    })
    .await;
    let campaign = campaign(callee);
    let mut caller = caller(campaign.front.address).await;
    let error = caller.get("/").await.unwrap_err();
    assert_eq!(error.reason(), Some(Reason::ENHANCE_YOUR_CALM));
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::Reset));
    assert_eq!(recorded.details[0].organic, Some(Organic::Reset));
}

#[tokio::test]
async fn what_a_callee_sent_before_its_reset_arrives_and_so_does_the_reason() {
    for reason in [Reason::ENHANCE_YOUR_CALM, Reason::CANCEL, Reason::NO_ERROR] {
        let callee = callee(move |mut served| async move {
            let mut answer = served.start(false);
            answer.send_data("some".into(), false).unwrap();
            // Long enough for `h2` here to write it, so that only the proxy
            // could lose it.
            tokio::time::sleep(Duration::from_millis(50)).await;
            answer.send_reset(reason);
        })
        .await;
        let campaign = campaign(callee);
        let mut caller = caller(campaign.front.address).await;
        let (answer, _) = caller.send(request("GET", "/"), true).await;
        let mut body = soon(answer).await.unwrap().into_body();
        assert_eq!(piece(&mut body).await, "some");
        let error = soon(body.data()).await.unwrap().unwrap_err();
        assert_eq!((error.is_reset(), error.reason()), (true, Some(reason)));
        let recorded = campaign.recorded().await;
        assert_eq!(recorded.trace.final_reply(), Some(Reply::Broken));
        assert_eq!(recorded.details[0].organic, Some(Organic::BrokenAnswer));
    }
}

#[tokio::test]
async fn data_and_reset_in_one_go() {
    // The proxy reads both at once, and must not let the reset overtake.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callee = listener.local_addr().unwrap();
    tokio::spawn(raw_callee(listener));
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (answer, _) = caller.send(request("GET", "/"), true).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(piece(&mut body).await, "some");
    let error = soon(body.data()).await.unwrap().unwrap_err();
    assert_eq!(error.reason(), Some(Reason::REFUSED_STREAM));
}

/// Answers the first request with a head, some data and a reset in one write.
async fn raw_callee(listener: TcpListener) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut stream, _) = listener.accept().await.unwrap();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(&settings).await.unwrap();
    let mut read = Vec::new();
    // A head of stream 1 that ends it.
    let asked = |read: &[u8]| read.windows(6).any(|w| w == [1, 5, 0, 0, 0, 1]);
    while !asked(&read) {
        stream.read_buf(&mut read).await.unwrap();
    }
    let head = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88];
    let data = [0, 0, 4, 0, 0, 0, 0, 0, 1, b's', b'o', b'm', b'e'];
    let reset = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7];
    let all = [&head[..], &data, &reset].concat();
    stream.write_all(&all).await.unwrap();
    let _ = stream.read_to_end(&mut read).await;
}

#[tokio::test]
async fn a_callee_killed_in_the_middle_of_its_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let kill = Arc::new(Notify::new());
    let killed = kill.clone();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let serve = serve_connection(stream, |mut served| async move {
            let mut answer = served.start(false);
            answer.send_data("some".into(), false).unwrap();
            std::future::pending::<()>().await;
        });
        tokio::select! {
            () = serve => {}
            () = killed.notified() => {}
        }
    });
    let campaign = campaign(address);
    let mut caller = caller(campaign.front.address).await;
    let (answer, _) = caller.send(request("GET", "/"), true).await;
    let mut body = soon(answer).await.unwrap().into_body();
    assert_eq!(piece(&mut body).await, "some");
    kill.notify_one();
    let error = soon(body.data()).await.unwrap().unwrap_err();
    assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
    let recorded = campaign.recorded().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::Broken));
    assert_eq!(recorded.details[0].organic, Some(Organic::BrokenAnswer));
}

#[tokio::test]
async fn a_truncated_answer_arrives_as_far_as_it_goes() {
    // More than a window, so that it takes the caller's reading to see it out.
    const SENT: usize = 200_000;
    let callee = callee(|mut served| async move {
        let body = Bytes::from(vec![b'x'; 2 * SENT]);
        let _ = crate::support::send_all(&mut served.start(false), body).await;
    })
    .await;
    for bytes in [0, 1, 1_000, SENT] {
        let script = Arc::new(Script::failing(&format!("truncate:{bytes}")));
        let front = front(callee, script.clone(), one_thread());
        let mut caller = caller(front.address).await;
        let (answer, _) = caller.send(request("GET", "/"), true).await;
        let mut body = soon(answer).await.unwrap().into_body();
        let mut seen = 0;
        let error = loop {
            match soon(body.data()).await.unwrap() {
                Ok(data) => {
                    seen += data.len();
                    body.flow_control().release_capacity(data.len()).unwrap();
                }
                Err(error) => break error,
            }
        };
        assert_eq!(seen, bytes);
        assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
        let ending = script.endings().remove(0);
        assert_eq!((ending.landed, ending.reply), (true, Reply::Broken));
    }
}

#[tokio::test]
async fn an_answer_of_the_proxy_to_a_request_that_goes_on() {
    let callee = silent().await;
    let front = front(
        callee.address,
        Arc::new(Script::failing("503")),
        one_thread(),
    );
    let mut caller = caller(front.address).await;
    let (answer, mut upload) = caller.send(request("POST", "/"), false).await;
    // Longer than the proxy reads to name the call.
    let body = Bytes::from(vec![0; 1024 * 1024]);
    let sending = crate::support::send_all(&mut upload, body);
    let (answer, _) = tokio::join!(Received::read(answer), soon(sending));
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.body, "Injected fault");
    let reason = soon(poll_fn(|cx| upload.poll_reset(cx))).await;
    assert_eq!(reason.unwrap(), Reason::NO_ERROR);
}

#[tokio::test]
async fn one_stream_s_end_is_not_another_s() {
    let callee = callee(|mut served| async move {
        match served.head.uri.path() {
            "/reset" => served.respond.send_reset(Reason::INTERNAL_ERROR),
            _ => {
                let body = read(&mut served.body).await.unwrap();
                served.start(false).send_data(body, true).unwrap();
            }
        }
    })
    .await;
    let front = pass_through(callee);
    let mut caller = caller(front.address).await;
    let (kept, mut upload) = caller.send(request("POST", "/"), false).await;
    // More than `h2` would take for an attack, were they its own.
    for _ in 0..2_000 {
        let error = caller.get("/reset").await.unwrap_err();
        assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
        let (waiting, mut left) = caller.send(request("POST", "/"), false).await;
        left.send_data("x".into(), false).unwrap();
        left.send_reset(Reason::CANCEL);
        drop(waiting);
    }
    upload.send_data("still here".into(), true).unwrap();
    assert_eq!(Received::read(kept).await.unwrap().body, "still here");
}
