//! Small systems for tests: services that are this very program in another
//! role, so that nothing needs to be installed.
//!
//! A test file has `#[test] fn role() { support::play_role() }`; a managed
//! service runs the test program with only that test and `ROLE` set.

#![allow(dead_code)] // Each test file uses its own part of it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use murphy_campaign::{SetupError, World};
use murphy_model::{Faultload, Observed, Verdict};
use murphy_system::spec::{
    CommandSpec, Expectations, Health, ManagedSpec, RequestCall, RequestSpec, ScenarioKind,
    ScenarioSpec, ServiceSpec, Source, SystemSpec, Unused,
};
use murphy_system::{LiveOptions, LiveWorld};
pub(crate) use tempfile::TempDir;

/// What this program does in another role.
pub(crate) fn play_role() {
    let Ok(role) = std::env::var("ROLE") else {
        return;
    };
    match role.as_str() {
        "cart" => serve(as_cart),
        "shop" => serve(as_shop),
        "deaf" => {
            eprintln!("warming up");
            std::thread::sleep(Duration::from_secs(1000));
        }
        "broken" => {
            eprintln!("no database at db.local");
            std::process::exit(7);
        }
        "test" => as_test(),
        "slow" => {
            std::thread::sleep(Duration::from_secs(1));
            serve(as_cart);
        }
        "robbed" => robbed(),
        other => panic!("no role `{other}`"),
    }
}

/// The arguments that make this program play the role in its environment.
pub(crate) fn this_program() -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    ["", "role", "--exact", "--nocapture", "--test-threads=1"]
        .map(|word| if word.is_empty() { program } else { word })
        .map(str::to_owned)
        .into()
}

/// The first time it tells its port in a file, is in no hurry to take it, and
/// ends where somebody else was quicker.
fn robbed() {
    let told = std::env::var("TOLD").unwrap();
    if !Path::new(&told).exists() {
        let port = std::env::var("PORT").unwrap();
        std::fs::write(&told, format!("{port}\n")).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    serve(as_cart);
}

pub(crate) struct Asked {
    path: String,
    headers: Vec<(String, String)>,
}

fn serve(answer: fn(&Asked) -> (u16, String)) {
    let port: u16 = std::env::var("PORT").unwrap().parse().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve_connection(stream, answer));
    }
}

fn serve_connection(stream: TcpStream, answer: fn(&Asked) -> (u16, String)) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(asked) = read_request(&mut reader) {
        let (status, body) = answer(&asked);
        let text = format!(
            "HTTP/1.1 {status} \r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if writer.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return Some(Asked { path, headers });
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
}

/// A cart in this process that is gone once it has answered so many requests;
/// where it listens.
pub(crate) fn mortal_cart(requests: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut answered = 0;
        while answered < requests {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            if read_request(&mut reader).is_none() {
                continue; // Somebody only looked whether it is there.
            }
            answered += 1;
            let answer = "HTTP/1.1 200 \r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

/// A cart in this process; where it listens.
pub(crate) fn cart_here() -> String {
    serve_here(|_| (200, "fine".to_owned()))
}

/// A service in this process that answers so; where it listens.
pub(crate) fn serve_here(answer: fn(&Asked) -> (u16, String)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve_connection(stream, answer));
        }
    });
    address
}

/// A service in this process; where it listens, and how many connections were
/// made to it.
pub(crate) fn counting_service() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || serve_connection(stream, |_| (200, "fine".to_owned())));
        }
    });
    (address, connections)
}

/// A shop in this process that hands on nothing, and asks the cart by the only
/// connection that it ever makes. That is made at the request with this number;
/// until then, and once it is lost, the shop answers 503.
pub(crate) fn clinging_shop(cart: String, connects_at: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut requests, mut connection) = (0, None);
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            // Somebody only looked whether it is there.
            if read_request(&mut reader).is_none() {
                continue;
            }
            requests += 1;
            if requests == connects_at {
                connection = TcpStream::connect(&cart).ok();
            }
            let status = match connection.as_mut().and_then(ask_by) {
                Some(()) => 200,
                None => 503,
            };
            let answer =
                format!("HTTP/1.1 {status} \r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// Asks the cart and waits for the whole answer.
fn ask_by(connection: &mut TcpStream) -> Option<()> {
    connection
        .write_all(b"GET /items HTTP/1.1\r\nhost: cart\r\n\r\n")
        .ok()?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"fine") {
        let mut bytes = [0; 1024];
        let read = connection.read(&mut bytes).ok().filter(|read| *read > 0)?;
        answer.extend_from_slice(&bytes[..read]);
    }
    Some(())
}

fn as_cart(asked: &Asked) -> (u16, String) {
    match asked.path.as_str() {
        "/items" => {
            let slow = std::env::var("SLOW").ok();
            let slow = slow.and_then(|it| it.parse().ok());
            std::thread::sleep(Duration::from_millis(slow.unwrap_or(0)));
            (200, "{\"items\": [{\"name\": \"tea\"}]}".to_owned())
        }
        "/crash" => {
            eprintln!("cannot go on");
            std::process::exit(3);
        }
        _ => (200, "fine".to_owned()),
    }
}

/// Asks the cart, and takes any failure of it badly. Hands on the headers it
/// is told to.
fn as_shop(asked: &Asked) -> (u16, String) {
    if asked.path == "/health" {
        return (200, String::new());
    }
    let forwards = std::env::var("FORWARDS").unwrap_or_default();
    let handed_on = asked.headers.iter();
    let handed_on = handed_on.filter(|(name, _)| forwards.split(',').any(|it| it == name));
    let handed_on: Vec<_> = handed_on.cloned().collect();
    let cart = std::env::var("CART_URL").unwrap();
    if let Some(later) = asked.path.strip_prefix("/later") {
        let millis = later.parse().unwrap_or(30);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(millis));
            get(&format!("{cart}/items"), &handed_on)
        });
        return (200, String::new());
    }
    let path = match asked.path.as_str() {
        "/crash" => "/crash",
        _ => "/items",
    };
    match get(&format!("{cart}{path}"), &handed_on) {
        Some((200, body)) => (200, body),
        // Gets over what it does to the cart.
        _ if asked.path == "/brittle" => {
            get(&format!("{cart}/crash"), &handed_on);
            (200, String::new())
        }
        other => {
            eprintln!("cart said {:?}", other.map(|(status, _)| status));
            (500, "oops, order 123456 is lost".to_owned())
        }
    }
}

/// A test as a program: buys, and where that fails asks which faults were injected.
fn as_test() {
    let shop = std::env::var("MURPHY_SHOP_URL").unwrap();
    let control = std::env::var("MURPHY_CONTROL_URL").unwrap();
    let execution = std::env::var("MURPHY_EXECUTION").unwrap();
    let status = get(&format!("{shop}/buy"), &[]).map(|(status, _)| status);
    let token = std::env::var("MURPHY_TOKEN").unwrap();
    let authorization = ("authorization".to_owned(), format!("Bearer {token}"));
    let ask = format!("{control}/v1/executions/{execution}");
    let told = get(&ask, &[authorization]).unwrap();
    println!("told {} {}", told.0, told.1);
    println!("planned {}", std::env::var("MURPHY_FAULTS").unwrap());
    assert_eq!(status, Some(200), "buying failed");
}

/// Status and body; `None` if there is no answer.
pub(crate) fn get(url: &str, headers: &[(String, String)]) -> Option<(u16, String)> {
    let rest = url.strip_prefix("http://")?;
    let (address, path) = rest.split_once('/')?;
    let mut stream = TcpStream::connect(address).ok()?;
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let lines: String = lines.collect();
    let request =
        format!("GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{lines}\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((status, String::from_utf8(body).ok()?))
}

/// A directory of its own, taken away in the end.
pub(crate) fn folder() -> TempDir {
    TempDir::new().unwrap()
}

/// A service that is this program in a role.
pub(crate) fn managed(name: &str, role: &str, environment: &[(&str, &str)]) -> ServiceSpec {
    let mut all: BTreeMap<String, String> = environment
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    all.insert("ROLE".to_owned(), role.to_owned());
    ServiceSpec {
        name: name.to_owned(),
        source: Source::Managed(ManagedSpec {
            command: this_program(),
            directory: "/".into(),
            environment: all,
            port: None,
            stop_within: Duration::from_secs(2),
        }),
        process: None,
        tls: None,
        callers: Default::default(),
        listen: None,
        proxied: true,
        calls: None,
        unused: Unused::default(),
        health: Health {
            path: None,
            within: Duration::from_secs(20),
        },
        place: None,
    }
}

/// A service that runs already.
pub(crate) fn running(name: &str, upstream: &str) -> ServiceSpec {
    ServiceSpec {
        source: Source::Running {
            upstream: upstream.to_owned(),
        },
        ..managed(name, "", &[])
    }
}

/// A shop that asks a cart and hands on these headers.
pub(crate) fn shop(forwards: &str) -> SystemSpec {
    let shop = managed(
        "shop",
        "shop",
        &[("CART_URL", "{cart.url}"), ("FORWARDS", forwards)],
    );
    SystemSpec {
        services: vec![
            managed("cart", "cart", &[]),
            ServiceSpec {
                health: Health {
                    path: Some("/health".to_owned()),
                    ..shop.health.clone()
                },
                ..shop
            },
        ],
        ..SystemSpec::default()
    }
}

pub(crate) const FORWARDED: &str = "traceparent,tracestate";

pub(crate) fn scenario(kind: ScenarioKind) -> ScenarioSpec {
    ScenarioSpec {
        name: "buys".to_owned(),
        kind,
        timeout: Duration::from_secs(20),
        entries: false,
        under_fault: Default::default(),
    }
}

pub(crate) fn request(service: &str, target: &str) -> RequestSpec {
    RequestSpec {
        service: service.to_owned(),
        call: RequestCall::Http {
            method: "GET".to_owned(),
            target: target.to_owned(),
            body: Vec::new(),
        },
        headers: Vec::new(),
        expect: Expectations::default(),
    }
}

pub(crate) fn buys() -> ScenarioSpec {
    scenario(ScenarioKind::Requests(vec![request("shop", "/buy")]))
}

pub(crate) fn shell(script: &str) -> CommandSpec {
    CommandSpec {
        command: ["sh", "-c", script].map(str::to_owned).into(),
        directory: "/".into(),
        environment: BTreeMap::new(),
    }
}

pub(crate) fn options(folder: impl AsRef<Path>) -> LiveOptions {
    LiveOptions {
        state: folder.as_ref().to_owned(),
        campaign: "tested".to_owned(),
        ..LiveOptions::default()
    }
}

pub(crate) async fn start(
    system: SystemSpec,
    scenario: ScenarioSpec,
    folder: impl AsRef<Path>,
) -> Result<LiveWorld, SetupError> {
    LiveWorld::start(system, scenario, options(folder)).await
}

pub(crate) async fn run(world: &LiveWorld, faults: &str) -> Observed {
    run_on(world, 0, faults).await
}

pub(crate) async fn run_on(world: &LiveWorld, worker: u32, faults: &str) -> Observed {
    let faultload: Faultload = match faults {
        "" => Faultload::none(),
        faults => faults.parse().unwrap(),
    };
    let observed = world.run(worker, &faultload, &Arc::default()).await;
    observed.unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

/// What the scenario complained of; empty if it passed.
pub(crate) fn complaint(observed: &Observed) -> &str {
    match &observed.execution.verdict {
        Verdict::Failed { why } => why,
        Verdict::Refused { .. } => "refused",
        Verdict::Passed => "",
        Verdict::NotExercised { .. } => "not exercised",
    }
}

/// The calls that were seen, as points.
pub(crate) fn points(observed: &Observed) -> Vec<String> {
    let calls = observed.execution.trace.calls().iter();
    calls.map(|call| call.point.to_string()).collect()
}

/// Whether something becomes true before long.
pub(crate) fn soon(is: impl Fn() -> bool) -> bool {
    let give_up = Instant::now() + Duration::from_secs(5);
    while Instant::now() < give_up {
        if is() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Whether nobody listens at an address.
pub(crate) fn is_free(address: &str) -> bool {
    TcpListener::bind(address).is_ok()
}
