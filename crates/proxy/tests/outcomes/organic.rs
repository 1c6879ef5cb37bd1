//! The callee fails by itself: handed on as it failed, as 502 where it could
//! not even be asked, and recorded as its own.

use std::sync::Arc;
use std::time::Duration;

use murphy_model::{GrpcCode, Reply};
use murphy_proxy::Settings;
use murphy_registry::Organic;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::support::{ALL, Protocol, World};

fn shown(protocol: Protocol) -> Reply {
    match protocol {
        Protocol::Grpc => Reply::Grpc(GrpcCode::named("UNAVAILABLE").unwrap()),
        _ => Reply::Status(502),
    }
}

#[tokio::test]
async fn a_service_that_is_not_up_yet() {
    for protocol in ALL {
        let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = unused.local_addr().unwrap();
        drop(unused);
        let world = World::before(address, Arc::default(), "none", Settings::default()).await;
        world.call(protocol).await;
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(shown(protocol)), "{protocol:?}");
        assert_eq!(detail.organic, Some(Organic::Refused));
        assert_eq!(call.injected, None);
    }
}

#[tokio::test]
async fn a_service_that_hangs_up_without_an_answer() {
    for protocol in ALL {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
            }
        });
        let world = World::before(address, Arc::default(), "none", Settings::default()).await;
        world.call(protocol).await;
        let (call, detail) = world.last().await;
        let shown = match protocol {
            Protocol::Http1 => Reply::Closed,
            // It hangs up before the connection is ready for any request.
            _ => shown(protocol),
        };
        assert_eq!(call.reply, Some(shown), "{protocol:?}");
        assert_eq!(detail.organic, Some(Organic::Reset), "{protocol:?}");
    }
}

#[tokio::test]
async fn a_fault_after_a_callee_that_is_down_takes_no_effect() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = unused.local_addr().unwrap();
    drop(unused);
    let faults = "** > back * #1 = after:503";
    let world = World::before(address, Arc::default(), faults, Settings::default()).await;
    let seen = world.call(Protocol::Http1).await;
    assert_eq!(seen.status, Some(502));
    let recorded = world.recorded().await;
    assert_eq!(recorded.not_exercised(&faults.parse().unwrap()).len(), 1);
}

#[tokio::test]
async fn a_caller_that_gives_up_on_a_slow_callee() {
    for protocol in ALL {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let silent = tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
            }
        });
        let world = World::before(address, Arc::default(), "none", Settings::default()).await;
        world
            .call_within(protocol, Duration::from_millis(100))
            .await;
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::TimedOut), "{protocol:?}");
        assert!(detail.gave_up.is_some());
        silent.abort();
    }
}
