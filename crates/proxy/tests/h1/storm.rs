//! Many exchanges at once, of all shapes and cut up at random: what arrives is
//! what was sent, on both sides, and nothing waits for ever. A wake-up that is
//! lost only when bytes come in a certain order would pass every other test.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;

use crate::wire::{End, Wire};

const CALLERS: u64 = 8;
const REQUESTS: u64 = 60;

#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// All that both sides must agree on about one exchange.
struct Plan {
    request: Vec<u8>,
    request_framing: Framing,
    answer: Vec<u8>,
    answer_framing: Framing,
    /// Whether the callee answers before it reads the body.
    early: bool,
    interim: bool,
}

fn plan(seed: u64) -> Plan {
    let mut random = Rng::with_seed(seed);
    let mut body = || {
        let most = *random.choice(&[1, 100, 20_000, 200_000, 400_000]).unwrap();
        let length = random.usize(0..most);
        (0..length).map(|_| random.u8(..)).collect::<Vec<u8>>()
    };
    let (request, answer) = (body(), body());
    Plan {
        request,
        answer,
        request_framing: *random.choice(&[Framing::Length, Framing::Chunked]).unwrap(),
        answer_framing: match random.u8(..10) {
            0 => Framing::UntilClose,
            1..5 => Framing::Chunked,
            _ => Framing::Length,
        },
        early: random.u8(..5) == 0,
        interim: random.u8(..5) == 0,
    }
}

/// A message in its framing, after these lines.
fn message(first_lines: &str, body: &[u8], framing: Framing, random: &mut Rng) -> Vec<u8> {
    let mut bytes = first_lines.as_bytes().to_vec();
    match framing {
        Framing::UntilClose => bytes.extend(b"\r\n"),
        Framing::Length => bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes()),
        Framing::Chunked => {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            let mut rest = body;
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at(random.usize(1..=rest.len().min(50_000)));
                bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
                bytes.extend(chunk);
                bytes.extend(b"\r\n");
                rest = after;
            }
            bytes.extend(b"0\r\n\r\n");
            return bytes;
        }
    }
    bytes.extend(body);
    bytes
}

/// Sends in pieces, with pauses.
fn send(stream: &TcpStream, bytes: &[u8], random: &mut Rng) {
    let mut end = End(stream.try_clone().unwrap());
    let mut rest = bytes;
    while !rest.is_empty() {
        let most = *random.choice(&[1, 10, 1000, 70_000, 1_000_000]).unwrap();
        let (piece, after) = rest.split_at(random.usize(0..most).clamp(1, rest.len()));
        end.send(piece);
        rest = after;
        if random.u8(..10) == 0 {
            thread::sleep(Duration::from_micros(random.u64(..2000)));
        }
        if random.u8(..3) == 0 {
            end.send(rest);
            return;
        }
    }
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    match reader.read_line(&mut line) {
        Ok(count) if count > 0 => Some(line.trim_end().to_owned()),
        _ => None,
    }
}

/// The first line and the others.
fn read_head(reader: &mut impl BufRead) -> Option<(String, String)> {
    let first = read_line(reader)?;
    let mut lines = String::new();
    loop {
        match read_line(reader)?.as_str() {
            "" => return Some((first, lines)),
            line => lines.push_str(line),
        }
    }
}

fn read_body(reader: &mut impl BufRead, framing: Framing, length: usize) -> Vec<u8> {
    let mut body = Vec::new();
    match framing {
        Framing::UntilClose => drop(reader.read_to_end(&mut body).expect("a close")),
        Framing::Length => {
            body.resize(length, 0);
            reader.read_exact(&mut body).expect("all of it");
        }
        Framing::Chunked => loop {
            let size = read_line(reader).expect("a size");
            let size = usize::from_str_radix(&size, 16).expect("a size");
            let start = body.len();
            body.resize(start + size, 0);
            reader.read_exact(&mut body[start..]).expect("a chunk");
            read_line(reader).expect("the end of a chunk");
            if size == 0 {
                break;
            }
        },
    }
    body
}

/// Serves one connection of the proxy's.
fn serve(stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some((line, _)) = read_head(&mut reader) {
        let seed = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        let plan = plan(seed);
        let mut random = Rng::with_seed(seed + 1);
        let mut answer = Vec::new();
        if plan.interim {
            answer.extend(b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n");
        }
        let first_lines = format!("HTTP/1.1 200 OK\r\nSeed: {seed}\r\n");
        let framing = plan.answer_framing;
        answer.extend(message(&first_lines, &plan.answer, framing, &mut random));
        if plan.early {
            send(&stream, &answer, &mut random);
        }
        let length = plan.request.len();
        let body = read_body(&mut reader, plan.request_framing, length);
        assert!(body == plan.request, "the request of {seed}");
        if !plan.early {
            send(&stream, &answer, &mut random);
        }
        if framing == Framing::UntilClose {
            return;
        }
    }
}

/// Makes many calls; on one connection as long as the answers allow it.
fn call(wire: &Wire, caller: u64, context: &str) {
    let mut connection: Option<BufReader<TcpStream>> = None;
    for number in 0..REQUESTS {
        let seed = caller * 1_000_000 + number * 10;
        let plan = plan(seed);
        let mut random = Rng::with_seed(seed + 2);
        let of_interest = random.bool();
        let reader = connection.get_or_insert_with(|| BufReader::new(wire.caller().0));
        let context = if of_interest { context } else { "" };
        let first_lines = format!("PUT /{seed} HTTP/1.1\r\n{context}");
        let framing = plan.request_framing;
        let request = message(&first_lines, &plan.request, framing, &mut random);
        send(reader.get_ref(), &request, &mut random);
        let mut head = read_head(reader).expect("an answer");
        if plan.interim {
            assert_eq!(head.0, "HTTP/1.1 103 Early Hints", "{seed}");
            head = read_head(reader).expect("an answer");
        }
        assert_eq!(head.0, "HTTP/1.1 200 OK", "{seed}");
        let body = read_body(reader, plan.answer_framing, plan.answer.len());
        assert!(body == plan.answer, "the answer of {seed}");
        if plan.answer_framing == Framing::UntilClose {
            connection = None;
        }
    }
}

#[test]
fn nothing_is_lost_mixed_up_or_stuck() {
    let wire = Wire::new();
    let execution = wire.begin("none");
    let context = execution.context();
    let wire = Arc::new(wire);
    let done = Arc::new(AtomicBool::new(false));
    let accepting = {
        let (wire, done) = (wire.clone(), done.clone());
        thread::spawn(move || {
            let mut serving = Vec::new();
            while !done.load(Ordering::Relaxed) {
                if let Some(End(stream)) = wire.callee_within(Duration::from_millis(20)) {
                    serving.push(thread::spawn(move || serve(stream)));
                }
            }
            serving
        })
    };
    let callers = (0..CALLERS).map(|caller| {
        let (wire, context) = (wire.clone(), context.clone());
        thread::spawn(move || call(&wire, caller, &context))
    });
    let callers: Vec<_> = callers.collect();
    for caller in callers {
        caller.join().expect("every answer was right");
    }
    done.store(true, Ordering::Relaxed);
    for serving in accepting.join().unwrap() {
        serving.join().expect("every request was right");
    }
    let recorded = execution.recorded();
    assert!(recorded.quiet);
    let ok = Some(murphy_model::Reply::Status(200));
    let calls = &recorded.trace.calls()[1..];
    assert!(calls.len() > 100 && calls.iter().all(|call| call.reply == ok));
}
