//! A gRPC status in place of the answer.

use murphy_model::{GrpcCode, Reply};

use crate::support::{HTTP, Protocol, World};

#[tokio::test]
async fn every_code_comes_as_trailers_only() {
    for code in GrpcCode::all() {
        let world = World::failing(&format!("grpc:{}", code.name())).await;
        let seen = world.call(Protocol::Grpc).await;
        assert_eq!(seen.status, Some(200));
        assert_eq!(seen.header("content-type"), Some("application/grpc"));
        assert_eq!(
            seen.header("grpc-status"),
            Some(code.number().to_string().as_str())
        );
        assert_eq!(seen.header("grpc-message"), Some("Injected fault"));
        assert!(seen.body.is_empty() && seen.trailers.is_empty(), "{seen:?}");
        assert_eq!(world.served(), 0);
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::Grpc(code)));
        assert_eq!(detail.landed, Some(true));
    }
}

#[tokio::test]
async fn a_plain_http_call_cannot_fail_this_way_and_the_record_says_so() {
    for protocol in HTTP {
        let world = World::failing("grpc:UNAVAILABLE").await;
        let seen = world.call(protocol).await;
        assert_eq!(seen.status, Some(200), "{protocol:?}");
        let recorded = world.recorded().await;
        let planned = "** > back * #* = grpc:UNAVAILABLE".parse().unwrap();
        assert_eq!(recorded.not_exercised(&planned).len(), 1);
    }
}

#[tokio::test]
async fn the_callee_s_own_status_is_recorded_without_a_fault() {
    let world = World::with("none", Default::default()).await;
    let seen = world.call(Protocol::Grpc).await;
    assert_eq!(seen.grpc_status(), Some("0"));
    let (call, _) = world.last().await;
    assert_eq!(call.reply, Some(Reply::GrpcOk));
    let interface = murphy_model::Interface::grpc("shop.Back", "Work");
    assert_eq!(call.point.frame().interface, interface);
    let message = murphy_model::PayloadHash::of("", b"hi", &[]);
    assert_eq!(call.point.frame().payload, message);
}
