//! Served systems without proxies: what clients and servers do on their own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy_model::Faultload;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::net::{Caller, Routes, SocketNet};
use super::served::{Options, Served, Source};
use crate::net::{Body, CallError, Ctx, Response};
use crate::{Service, Simulator, System, Wire};

async fn served(system: System, pace: f64) -> Served {
    serve(Source::Given(Box::new(system)), pace).await
}

async fn serve(source: Source, pace: f64) -> Served {
    let options = Options {
        pace,
        ..Options::default()
    };
    let served = Served::start(source, options).await;
    served.expect("loopback has free ports")
}

/// The world as a scenario sees it that enters the services directly.
fn outside(served: &Served, elsewhere: Routes) -> Ctx {
    let mut routes = served.addresses().clone();
    routes.extend(elsewhere);
    Ctx::new(Arc::new(SocketNet {
        common: served.common().clone(),
        routes: Arc::new(routes),
        caller: Caller::Scenario(Box::new(Vec::new)),
    }))
}

fn over(wire: Wire, services: Vec<Service>) -> System {
    let system = System::new(services, |_| async { Ok(()) });
    System { wire, ..system }
}

const WIRES: [Wire; 2] = [Wire::Http, Wire::Grpc];

/// Accepts connections of which a test plays the other side by hand.
async fn by_hand() -> (TcpListener, Routes) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let routes = [("by-hand", listener.local_addr().unwrap())].into();
    (listener, routes)
}

async fn read_some(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let read = stream.read(&mut bytes).await.unwrap();
    bytes.truncate(read);
    bytes
}

#[tokio::test]
async fn every_scenario_says_on_sockets_what_it_says_in_the_simulator() {
    for app in crate::all() {
        let variants: &[&str] = match app.switches.iter().any(|switch| switch.name == "wire") {
            true => &["", "wire=grpc"],
            false => &[""],
        };
        for variant in variants {
            let app = crate::find(app.name).unwrap();
            let settings = app.settings_from_text(variant).unwrap();
            let name = app.name;
            let source = Source::App(crate::find(name).unwrap(), settings.clone());
            // Long enough for timeouts of a second, short enough for pauses.
            let served = serve(source, 0.05).await;
            let word = served.scenario(|_| None, Vec::new).await;
            let simulated = Simulator::new(app, settings).run(&Faultload::none());
            assert_eq!(
                word.is_err(),
                simulated.verdict.is_failure(),
                "{name} {variant}: {word:?}"
            );
        }
    }
}

#[tokio::test]
async fn statuses_and_bodies_arrive_as_they_were_answered() {
    let answers = [
        Response::json(json!({"quote": 8.99, "of": ["a", null]})),
        Response::text("up"),
        Response {
            status: 200,
            body: Body::Empty,
        },
        crate::net::Abort(404).into(),
        crate::net::Abort(503).into(),
    ];
    for wire in WIRES {
        for answer in &answers {
            let given = answer.clone();
            let service = Service::new("a", move |_, _| {
                let given = given.clone();
                async { Ok(given) }
            });
            let served = served(over(wire, vec![service]), 1.0).await;
            let got = outside(&served, Routes::new()).get("a", "/").send().await;
            assert_eq!(got.as_ref(), Ok(answer), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn nobody_there_is_a_failed_connection() {
    for wire in WIRES {
        let served = served(over(wire, vec![]), 1.0).await;
        let (listener, closed) = by_hand().await;
        drop(listener);
        let ctx = outside(&served, closed);
        for service in ["by-hand", "unheard-of"] {
            let got = ctx.get(service, "/").send().await;
            assert_eq!(got, Err(CallError::Connection), "{wire:?} {service}");
        }
    }
}

#[tokio::test]
async fn giving_up_closes_the_connection_at_once() {
    let served = served(over(Wire::Http, vec![]), 0.01).await;
    let (listener, routes) = by_hand().await;
    let ctx = outside(&served, routes);
    let call = ctx.get("by-hand", "/").timeout(Duration::from_secs(5));
    let caller = tokio::spawn(call.send());
    let (mut stream, _) = listener.accept().await.unwrap();
    assert!(
        read_some(&mut stream)
            .await
            .starts_with(b"GET / HTTP/1.1\r\n")
    );
    assert_eq!(caller.await.unwrap(), Err(CallError::Timeout));
    // Nothing is awaited in between: the end must be there already.
    assert_eq!(stream.try_read(&mut [0]).ok(), Some(0));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_a_failed_connection() {
    let served = served(over(Wire::Http, vec![]), 1.0).await;
    let (listener, routes) = by_hand().await;
    let caller = tokio::spawn(outside(&served, routes).get("by-hand", "/").send());
    let (mut stream, _) = listener.accept().await.unwrap();
    read_some(&mut stream).await;
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab";
    stream.write_all(half).await.unwrap();
    drop(stream);
    assert_eq!(caller.await.unwrap(), Err(CallError::Connection));
}

#[tokio::test]
async fn connections_are_kept_for_the_next_request_and_replaced_when_closed() {
    let served = served(over(Wire::Http, vec![]), 1.0).await;
    let (listener, routes) = by_hand().await;
    let ctx = outside(&served, routes);
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let caller = tokio::spawn(async move {
        for _ in 0..4 {
            let got = ctx.get("by-hand", "/").send().await;
            assert_eq!(got.map(|response| response.status), Ok(200));
        }
    });
    for _ in 0..2 {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            assert!(!read_some(&mut stream).await.is_empty());
            stream.write_all(answer).await.unwrap();
        }
    }
    caller.await.unwrap();
}

#[tokio::test]
async fn a_handler_works_on_after_its_caller_has_given_up() {
    for wire in WIRES {
        let (done, mut all_done) = mpsc::unbounded_channel();
        let slow = Service::new("slow", move |ctx, _| {
            let done = done.clone();
            async move {
                ctx.sleep(Duration::from_secs(5)).await;
                done.send(ctx.now()).unwrap();
                Ok(Response::text("late"))
            }
        });
        let served = served(over(wire, vec![slow]), 0.01).await;
        let ctx = outside(&served, Routes::new());
        let call = ctx.get("slow", "/").timeout(Duration::from_secs(1));
        assert_eq!(call.send().await, Err(CallError::Timeout), "{wire:?}");
        assert!(all_done.try_recv().is_err(), "{wire:?}");
        served.idle().await;
        let finished = all_done.try_recv().expect("the handler got to its end");
        assert!(finished >= Duration::from_secs(5), "{wire:?}");
    }
}

#[tokio::test]
async fn a_grpc_answer_without_a_status_is_a_failed_connection() {
    let served = served(over(Wire::Grpc, vec![]), 1.0).await;
    let (listener, routes) = by_hand().await;
    let caller = tokio::spawn(outside(&served, routes).get("by-hand", "/").send());
    let (stream, _) = listener.accept().await.unwrap();
    drop(stream);
    assert_eq!(caller.await.unwrap(), Err(CallError::Connection));
}

#[tokio::test]
async fn time_passes_at_the_set_pace() {
    let served = served(over(Wire::Http, vec![]), 0.01).await;
    let ctx = outside(&served, Routes::new());
    let (began, felt) = (Instant::now(), ctx.now());
    ctx.sleep(Duration::from_secs(10)).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(ctx.now() - felt >= Duration::from_secs(10));
}
