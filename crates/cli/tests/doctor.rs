//! `murphy doctor` on services that hand on different things.
//!
//! A gate hands on everything to the cart, the cart only `traceparent` to the
//! stock, the stock nothing to the audit. The services are this very program
//! in another role (`role` below), so that nothing needs to be installed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Plays a service, if this process was started as one.
#[test]
fn role() {
    let (Ok(port), Ok(_)) = (std::env::var("PORT"), std::env::var("DOCTOR_ROLE")) else {
        return;
    };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let forwards = std::env::var("FORWARDS").unwrap_or_default();
    let calls = std::env::var("CALLS").ok();
    serve(&listener, &forwards, calls.as_deref());
}

/// Answers as the service it calls does, or 200 if it calls none.
fn serve(listener: &TcpListener, forwards: &str, calls: Option<&str>) {
    for stream in listener.incoming().flatten() {
        let _ = answer(stream, forwards, calls);
    }
}

fn answer(mut stream: TcpStream, forwards: &str, calls: Option<&str>) -> Option<()> {
    let lines = head(&mut BufReader::new(&stream))?;
    let handed_on = lines.iter().skip(1).filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        forwards.split(',').any(|it| it.eq_ignore_ascii_case(name))
    });
    let handed_on: String = handed_on.map(|line| format!("{line}\r\n")).collect();
    let status = match calls {
        Some(address) => ask(address, &handed_on).unwrap_or(502),
        None => 200,
    };
    let text = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).ok()
}

fn head(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        match line.trim_end() {
            "" => return Some(lines),
            line => lines.push(line.to_owned()),
        }
    }
}

fn ask(address: &str, context: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    let text = format!("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{context}\r\n");
    stream.write_all(text.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

/// A directory with a `murphy.toml`, taken away in the end.
fn folder_with(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("murphy.toml"), config).unwrap();
    folder
}

fn doctor(folder: &Path) -> (i32, String) {
    doctor_with(folder, &[])
}

fn doctor_with(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_murphy"))
        .arg("doctor")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [stdout, stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    (status.code().unwrap(), text.concat())
}

/// A service that Murphy starts.
fn managed(name: &str, forwards: &str, calls: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let calls = match calls {
        "" => String::new(),
        name => format!(", CALLS = \"{{{name}.address}}\""),
    };
    format!(
        "[services.{name}]\ncommand = [{:?}, \"role\", \"--exact\"]\nenv = {{ DOCTOR_ROLE = \"1\", FORWARDS = \"{forwards}\"{calls} }}\n",
        program.to_str().unwrap()
    )
}

fn chain(forwarded_by_gate: &str, rest: &str) -> String {
    let services = [
        managed("gate", forwarded_by_gate, "cart"),
        managed("cart", "traceparent", "stock"),
        managed("stock", "", "audit"),
        managed("audit", "", ""),
    ];
    let scenario = "[scenario.ask]\nrequest = \"GET /\"\nservice = \"gate\"\n";
    format!("{}{scenario}{rest}", services.concat())
}

/// The signs in the row of a service.
fn signs(text: &str, service: &str) -> String {
    let begins = format!("  {service} (called by");
    let row = text.lines().find(|line| line.starts_with(&begins));
    let row = row.unwrap_or_else(|| panic!("no row of {service}: {text}"));
    let (_, cells) = row.split_once(')').unwrap();
    cells.split_whitespace().skip(1).collect()
}

#[test]
fn each_carrier_is_shown_where_it_survives() {
    let folder = folder_with(&chain("traceparent,tracestate", ""));
    let (code, text) = doctor(folder.path());
    assert_eq!(code, 0, "{text}");
    // tracestate, baggage, traceparent.
    assert_eq!(signs(&text, "cart"), "✓✗✓", "{text}");
    assert_eq!(signs(&text, "stock"), "✗✗✓", "{text}");
    assert_eq!(signs(&text, "audit"), "✗✗✗", "{text}");
    for part in [
        "passes without faults",
        "One execution runs at a time (solo)",
        "let cart, stock hand on `traceparent` and `tracestate`",
        "`--verbose` says how, for Python, Node and others",
        "its port accepts connections",
        "not in use: b3, uber-trace-id, x-request-id (`[context] carriers`)",
        "    gate GET / > cart GET / > stock GET / > audit GET /\n",
        "stable: 3 runs made the same calls",
        "cart GET /  200  certain, by tracestate, traceparent",
        "audit GET /  200  likely: the only call under way that could",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, text) = doctor_with(folder.path(), &["--verbose"]);
    assert!(text.contains("OTEL_TRACES_EXPORTER"), "{text}");
}

#[test]
fn carriers_in_use_are_looked_at_and_no_others() {
    let carriers = "[context]\ncarriers = [\"x-request-id\", \"b3\", \"header:x-mine\"]\n";
    let chain = chain("x-request-id,x-b3-traceid,x-mine", carriers);
    let folder = folder_with(&chain);
    let (code, text) = doctor(folder.path());
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("b3  x-request-id  header:x-mine"), "{text}");
    let cart = signs(&text, "cart");
    assert!(cart.ends_with("✓✓"), "{text}");
    assert_eq!(signs(&text, "stock"), "✗✗✗", "{text}");
}

#[test]
fn a_test_that_fails_without_faults_has_its_own_exit_code() {
    let wants = "expect = { status = 404 }\n";
    let folder = folder_with(&chain("traceparent,tracestate", wants));
    let (code, text) = doctor(folder.path());
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("FAILS without any fault"), "{text}");
    assert_eq!(signs(&text, "cart"), "✓✗✓", "{text}");
}

/// Services that run already, with proxies at fixed addresses, one worker: a
/// call that lost its context looks like the test's own.
#[test]
fn lost_context_is_noticed_in_front_of_services_that_run_already() {
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (shop, cart, free) = (bind(), bind(), bind());
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let (listen, shop_at, cart_at) = (address(&free), address(&shop), address(&cart));
    drop(free);
    let calls = listen.clone();
    std::thread::spawn(move || serve(&shop, "", Some(&calls)));
    std::thread::spawn(move || serve(&cart, "", None));
    let config = format!(
        "[services.shop]\nupstream = \"{shop_at}\"\n[services.cart]\nupstream = \"{cart_at}\"\nlisten = \"{listen}\"\n[scenario.ask]\nrequest = \"GET /\"\nservice = \"shop\"\n"
    );
    let folder = folder_with(&config);
    let (code, text) = doctor(folder.path());
    assert_eq!(code, 0, "{text}");
    assert_eq!(signs(&text, "cart"), "✗✗✗", "{text}");
    assert!(
        text.contains("One execution runs at a time (solo)"),
        "{text}"
    );
    assert!(text.contains("    shop GET / > cart GET /\n"), "{text}");
}

#[test]
fn a_port_that_is_taken_hides_no_service() {
    let (cart, taken) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        TcpListener::bind("127.0.0.1:0").unwrap(),
    );
    let address = |it: &TcpListener| it.local_addr().unwrap();
    let config = format!(
        "[services.cart]\nupstream = \"{cart}\"\n\n[services.stock]\nupstream = \"{cart}\"\nlisten = \"{taken}\"\n\n[scenario.any]\ncommand = \"true\"\n",
        cart = address(&cart),
        taken = address(&taken)
    );
    let folder = folder_with(&config);
    let (code, text) = doctor(folder.path());
    assert_eq!(code, 3, "{text}");
    let cart_is_up = format!(
        "up (its port accepts connections), runs already, at {}",
        address(&cart)
    );
    assert!(text.contains(&cart_is_up), "{text}");
    let stock = format!(
        "cannot listen on {} for service `stock`: the port is taken",
        address(&taken)
    );
    assert_eq!(text.matches(&stock).count(), 2, "{text}");
    assert!(
        text.contains("--> ") && text.contains("murphy.toml:4"),
        "{text}"
    );
}

/// A service that listens elsewhere is told so, and is waited for once.
#[test]
fn a_wrong_port_is_named_and_waited_for_once() {
    let program = std::env::current_exe().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let wrong = free.local_addr().unwrap().port();
    drop(free);
    let config = format!(
        "[services.shop]\ncommand = [\"env\", \"PORT={wrong}\", {:?}, \"role\", \"--exact\"]\nenv = {{ DOCTOR_ROLE = \"1\" }}\n\n[scenario.any]\ncommand = \"true\"\n",
        program.to_str().unwrap()
    );
    let folder = folder_with(&config);
    let began = std::time::Instant::now();
    let (code, text) = doctor(folder.path());
    let took = began.elapsed();
    assert_eq!(code, 3, "{text}");
    let says = format!("the service listens on port {wrong}");
    assert!(text.contains(&says), "{text}");
    assert!(
        text.contains(&format!("or write `port = {wrong}`")),
        "{text}"
    );
    assert!(took.as_secs() < 20, "{took:?}\n{text}");
}
