//! The services of the tests' own shop, on plain sockets.
//!
//! `shop` asks `cart` (which asks `price`), `recs` (and `top` if that fails)
//! and `stock`. Where it must give up, it says so with 503, which its test
//! accepts under a fault. It has two bugs: `cart` takes a price for 0 that it
//! cannot learn, and `shop` fails with 500 where `stock` is unavailable.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// Serves if the arguments of this program say so, and never comes back then.
///
/// `PROGRAM serve NAME PORT CALLEE...`
pub(crate) fn serve_if_asked() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [serve, name, port, callees @ ..] = &arguments[..] else {
        return;
    };
    if serve != "serve" {
        return;
    }
    let port: u16 = port.parse().expect("a port");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("a free port");
    for stream in listener.incoming().flatten() {
        let (name, callees) = (name.clone(), callees.to_vec());
        std::thread::spawn(move || {
            // A caller that goes away is its own business.
            let _ = answer(stream, &name, &callees);
        });
    }
}

/// What is handed on from a request to those that follow from it.
const CONTEXT: [&str; 3] = ["traceparent:", "tracestate:", "baggage:"];

struct Request {
    /// The lines of its context.
    context: String,
}

type Reply = (u16, String);

fn answer(mut stream: TcpStream, name: &str, callees: &[String]) -> io::Result<()> {
    let request = read_request(&mut stream)?;
    let (status, body) = match name {
        "shop" => shop(&request, callees),
        "cart" => cart(&request, callees),
        "price" => (200, "42".to_owned()),
        "stock" => (200, "7".to_owned()),
        _ => (200, "book".to_owned()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn shop(request: &Request, callees: &[String]) -> Reply {
    let unavailable = |what: &str| (503, format!("no {what}"));
    let Ok((200, total)) = request.ask(&callees[0], "/cart") else {
        return unavailable("cart");
    };
    // Never the same, and of no meaning to anybody.
    let asked = request.ask(&callees[1], &format!("/recs?nonce={}", fastrand::u64(..)));
    let shown = match asked {
        Ok((200, recs)) => Ok((200, recs)),
        _ => request.ask(&callees[2], "/top"),
    };
    let shown = shown.ok().filter(|(status, _)| *status == 200);
    match request.ask(&callees[3], "/stock") {
        Ok((200, _)) => {}
        Ok((503, _)) => return (500, "panic in stock.rs".to_owned()),
        _ => return unavailable("stock"),
    }
    let shown = shown.map_or("null".to_owned(), |(_, text)| format!("\"{text}\""));
    (200, format!("{{\"total\":{total},\"shown\":{shown}}}"))
}

fn cart(request: &Request, callees: &[String]) -> Reply {
    match request.ask(&callees[0], "/price") {
        Ok((200, price)) => (200, price),
        _ => (200, "0".to_owned()),
    }
}

impl Request {
    fn ask(&self, callee: &str, path: &str) -> io::Result<Reply> {
        let mut stream = TcpStream::connect(callee)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let context = &self.context;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {callee}\r\nconnection: close\r\n{context}\r\n"
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let parts = text.split_once("\r\n\r\n");
        let reply = parts.and_then(|(head, body)| {
            let status = head.split(' ').nth(1)?.parse().ok()?;
            Some((status, body.to_owned()))
        });
        reply.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// Requests have no body here.
fn read_request(stream: &mut TcpStream) -> io::Result<Request> {
    let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let is_context = |line: &&str| {
        let line = line.to_ascii_lowercase();
        CONTEXT.iter().any(|name| line.starts_with(name))
    };
    let lines = head.split("\r\n").filter(is_context);
    Ok(Request {
        context: lines.map(|line| format!("{line}\r\n")).collect(),
    })
}
