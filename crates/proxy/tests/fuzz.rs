//! No bytes from the wire bring a reader down, and stamping keeps its
//! promises whatever the headers are.
//!
//! The rules of the lists are written here a second time, in the plainest
//! way, to be compared with what the carriers do.

#[path = "../../model/tests/fuzzer/mod.rs"]
mod fuzzer;
mod lines;

use fuzzer::Target;
use lines::Lines;
use murphy_model::{CallId, Interface, Point, Reply};
use murphy_proxy::carriers::{Carriers, Stamp};
use murphy_proxy::fuzzing;
use murphy_registry::{CallKey, ContextHint, ExecutionId, TraceKey};

const KEY: CallKey = CallKey {
    execution: ExecutionId(0x0123_4567_89ab_cdef),
    call: Some(CallId(0x1f)),
};

const ENTRY: Stamp = Stamp {
    key: KEY,
    trace: TraceKey(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c),
    entry: true,
};

const HOP: Stamp = Stamp {
    entry: false,
    ..ENTRY
};

const OURS: &str = "murphy=0123456789abcdef-1f";

const SEEDS: &[&str] = &[
    // As many members, and as many characters, as there may be.
    "tracestate: k0=0,k1=1,k2=2,k3=3,k4=4,k5=5,k6=6,k7=7,k8=8,k9=9,k10=10,k11=11,k12=12,k13=13,k14=14,k15=15,k16=16,k17=17,k18=18,k19=19,k20=20,k21=21,k22=22,k23=23,k24=24,k25=25,k26=26,k27=27,k28=28,k29=29,k30=30",
    "tracestate: a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,b=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,c=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,d=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "tracestate: congo=t61rcWkgMzE , rojo=00f067aa0ba902b7\ntracestate: dd=s:1;o:rum,33@nr=0-0-1",
    "tracestate: dd=s:1,murphy=0123456789abcdef-2\nbaggage: murphy=0123456789abcdef%2D2;p=1,a=b",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\nbaggage: user=alice;p=1 , tier=gold",
    "traceparent: cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra\nhost: shop",
    "b3: 80f198879ff39da6e457902e4bf92f35-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
    "b3: 0\nx-b3-flags: 1",
    "x-b3-traceid: 80f198879ff39da6\nx-b3-spanid: e457b5a2e4d86bd1\nx-b3-parentspanid: 05e3ac9a4f6e3b90\nx-b3-sampled: 0",
    "uber-trace-id: 4bf92f3577b34da6a3ce929d0e0e4736:f067aa0ba902b7:0:1",
    "uber-trace-id: 2a%3Ab%3ac%3A1\nx-request-id: 7b5e1c1e-7c3d-4f4e-9a55-0c7a6f6b9d11",
    "x-request-id: 0af7651916cd43dd8448eb211c80319c\nx-id: 0123456789abcdef-3\nctx-murphy: x",
    "x-id: 80f198879ff39da6",
];

const WORDS: &[&str] = &[
    "\ntracestate: ",
    "\ntraceparent: ",
    "\ntraceparent: ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "\nbaggage: ",
    "\nb3: ",
    "\nx-b3-traceid: ",
    "\nx-b3-spanid: ",
    "\nuber-trace-id: ",
    "\nx-request-id: ",
    "\nx-id: ",
    "\nctx-murphy: ",
    OURS,
    "murphy",
    "a=1",
    "=",
    ",",
    " , ",
    ";",
    "%2D",
    "%3A",
    ":",
    "-",
    "@",
    "0123456789abcdef",
    "00000000000000000000000000000000",
];

/// Lines of `name: value`; what has no colon is a name without a value. More
/// lines than a server would take only make it slow.
fn headers(input: &[u8]) -> Lines {
    let line = |line: &[u8]| {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = String::from_utf8_lossy(parts.next().unwrap_or_default());
        let value = parts.next().unwrap_or_default();
        (name.trim().to_lowercase(), value.to_owned())
    };
    let lines = input.split(|byte| *byte == b'\n').take(100);
    Lines(lines.map(line).collect())
}

fn target<'a>(name: &'a str) -> Target<'a> {
    Target {
        name,
        seeds: SEEDS,
        words: WORDS,
    }
}

/// Stamps headers; of all lines only those with these names may change, a
/// second time changes nothing, and a header map is stamped alike.
fn stamped(carriers: &Carriers, headers: &Lines, stamp: &Stamp, may_change: &[&str]) -> Lines {
    let mut lines = headers.clone();
    carriers.stamp(&mut lines, stamp);
    let others = |lines: &Lines| {
        let mut others = lines.clone();
        others.0.retain(|(name, _)| !may_change.contains(&&**name));
        others
    };
    assert_eq!(others(&lines), others(headers));
    let mut again = lines.clone();
    carriers.stamp(&mut again, stamp);
    assert_eq!(again, lines);
    if let Some(mut map) = headers.to_map() {
        assert_eq!(carriers.read(&map), carriers.read(headers));
        carriers.stamp(&mut map, stamp);
        assert_eq!(lines.to_map(), Some(map));
    }
    lines
}

/// The members of a list, over all lines.
fn members(headers: &Lines, name: &str) -> Vec<Vec<u8>> {
    let lines = headers.0.iter().filter(|(known, _)| known == name);
    lines
        .flat_map(|(_, value)| value.split(|byte| *byte == b','))
        .map(|member| member.trim_ascii().to_owned())
        .filter(|member| !member.is_empty())
        .collect()
}

/// The only line with this name.
fn only<'h>(headers: &'h Lines, name: &str) -> &'h str {
    let mut lines = headers.0.iter().filter(|(known, _)| known == name);
    let (_, value) = lines.next().expect("a line");
    assert!(lines.next().is_none(), "more than one line of {name}");
    std::str::from_utf8(value).expect("plain text")
}

/// What the W3C text lets a member of `tracestate` be.
fn is_valid_member(member: &[u8]) -> bool {
    let Some((key, value)) = std::str::from_utf8(member)
        .ok()
        .and_then(|text| text.split_once('='))
    else {
        return false;
    };
    let rest_ok = |text: &str| {
        text.chars()
            .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '*' | '/'))
    };
    let key_ok = match key.split_once('@') {
        None => {
            key.starts_with(|c: char| c.is_ascii_lowercase()) && key.len() <= 256 && rest_ok(key)
        }
        Some((tenant, vendor)) => {
            (1..=241).contains(&tenant.len())
                && tenant.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && rest_ok(tenant)
                && vendor.starts_with(|c: char| c.is_ascii_lowercase())
                && vendor.len() <= 14
                && rest_ok(vendor)
        }
    };
    let value_ok = |c: char| (' '..='~').contains(&c) && c != ',' && c != '=';
    key_ok && (1..=256).contains(&value.len()) && value.chars().all(value_ok)
}

fn key(member: &[u8]) -> &[u8] {
    member
        .split(|byte| *byte == b'=')
        .next()
        .unwrap_or_default()
}

/// What the W3C text lets a `traceparent` be.
fn is_traceparent(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value.trim_ascii());
    let fields: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags, ..] = fields[..] else {
        return false;
    };
    let known = [(version, 2), (trace, 32), (span, 16), (flags, 2)];
    let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let well_formed =
        |(field, length): (&str, usize)| field.len() == length && field.chars().all(digit);
    let is_zero = |field: &str| field.chars().all(|c| c == '0');
    known.into_iter().all(well_formed)
        && !is_zero(trace)
        && !is_zero(span)
        && version != "ff"
        && (version != "00" || fields.len() == 4)
}

fn is_subsequence<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|item| whole.any(|other| other == item))
}

#[test]
fn tracestate() {
    let carrier: Carriers = "tracestate".parse().unwrap();
    let parent: Carriers = "traceparent".parse().unwrap();
    target("tracestate").fuzz(|input| {
        let before = headers(input);
        let found = carrier.read(&before).len();
        let after = stamped(&carrier, &before, &HOP, &["tracestate", "traceparent"]);
        assert_eq!(carrier.read(&after), [ContextHint::Stamp(KEY)]);
        let mut valid: Vec<Vec<u8>> = Vec::new();
        for member in members(&before, "tracestate") {
            let known = valid.iter().any(|other| key(other) == key(&member));
            if is_valid_member(&member) && key(&member) != b"murphy" && !known {
                valid.push(member);
            }
        }
        let kept = members(&after, "tracestate");
        let list = only(&after, "tracestate");
        assert!(list.len() <= 512 && kept.len() <= 32, "{list}");
        assert_eq!(kept[0], OURS.as_bytes());
        assert!(is_subsequence(&kept[1..], &valid), "{list}");
        let whole = OURS.len() + valid.iter().map(|member| member.len() + 1).sum::<usize>();
        let fits = whole <= 512 && valid.len() < 32;
        assert_eq!(kept.len() == valid.len() + 1, fits, "{list}");
        assert_eq!(parent.read(&after).len(), 1, "stacks want a traceparent");
        (found, kept.len().ilog2(), fits, whole.ilog2())
    });
}

#[test]
fn baggage() {
    let carrier: Carriers = "baggage".parse().unwrap();
    target("baggage").fuzz(|input| {
        let before = headers(input);
        let found = carrier.read(&before).len();
        let after = stamped(&carrier, &before, &HOP, &["baggage"]);
        assert_eq!(carrier.read(&after), [ContextHint::Stamp(KEY)]);
        let is_ours = |member: &[u8]| {
            let key = member.split(|byte| matches!(byte, b'=' | b';')).next();
            key.unwrap_or_default().trim_ascii() == b"murphy"
        };
        let mut others = members(&before, "baggage");
        others.retain(|member| !is_ours(member));
        let kept = members(&after, "baggage");
        let list = only(&after, "baggage");
        assert!(list.len() <= 8192 && kept.len() <= 180);
        assert_eq!(kept[0], OURS.as_bytes());
        // As it came, but for bytes that no header may hold.
        let plain = |member: &[u8]| {
            member
                .iter()
                .all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        };
        for (kept, other) in kept[1..].iter().zip(&others) {
            assert!(kept == other || !plain(other), "{}", other.escape_ascii());
        }
        let cost = |byte: &u8| if plain(&[*byte]) { 1 } else { 3 };
        let costs = others.iter().map(|m| m.iter().map(cost).sum::<usize>() + 1);
        let whole = OURS.len() + costs.sum::<usize>();
        let fits = whole <= 8192 && others.len() < 180;
        assert_eq!(kept.len() == others.len() + 1, fits, "{list}");
        (found, kept.len().ilog2(), fits, whole.ilog2())
    });
}

/// Carriers that make ids where there are none, and else leave them alone.
#[test]
fn trace_ids() {
    const B3: &[&str] = &[
        "b3",
        "x-b3-traceid",
        "x-b3-spanid",
        "x-b3-parentspanid",
        "x-b3-sampled",
    ];
    let carriers: Vec<(Carriers, &[&str])> = [
        ("traceparent", &["traceparent"] as &[&str]),
        ("b3", B3),
        ("uber-trace-id", &["uber-trace-id"]),
        ("x-request-id", &["x-request-id"]),
    ]
    .map(|(name, headers)| (name.parse().unwrap(), headers))
    .into();
    target("trace ids").fuzz(|input| {
        let before = headers(input);
        let mut kinds = [0; 4];
        let mut parents = before.0.iter().filter(|(name, _)| name == "traceparent");
        let valid = parents.any(|(_, value)| is_traceparent(value));
        assert_eq!(carriers[0].0.read(&before).len(), usize::from(valid));
        for (i, (carrier, may_change)) in carriers.iter().enumerate() {
            let hints = carrier.read(&before);
            let after = stamped(carrier, &before, &ENTRY, may_change);
            match hints[..] {
                [ContextHint::Trace(trace, spans)] => {
                    assert_eq!(after, before);
                    let zero =
                        |span: Option<murphy_registry::SpanId>| span.is_some_and(|s| s.0 == 0);
                    assert!(trace.0 != 0 && !zero(spans.own) && !zero(spans.parent));
                    kinds[i] = 1 + usize::from(spans.parent.is_some());
                }
                _ => {
                    let [ContextHint::Trace(trace, _)] = carrier.read(&after)[..] else {
                        panic!("{carrier} made no id in {after:?}");
                    };
                    assert_eq!((hints.len(), trace), (0, ENTRY.trace));
                }
            }
            let hop = stamped(carrier, &before, &HOP, may_change);
            assert_eq!(hop == before, hints.len() == 1 || i > 0);
        }
        (kinds, before.0.len().min(8))
    });
}

#[test]
fn named_headers() {
    let plain: Carriers = "header:x-id".parse().unwrap();
    let prefixed: Carriers = "header:ctx-*".parse().unwrap();
    target("named headers").fuzz(|input| {
        let before = headers(input);
        let after = stamped(&prefixed, &before, &HOP, &["ctx-murphy"]);
        assert_eq!(prefixed.read(&after), [ContextHint::Stamp(KEY)]);
        let hints = plain.read(&before);
        let ours = match hints.first() {
            None => true,
            Some(ContextHint::Stamp(key)) => key.execution == KEY.execution,
            Some(ContextHint::Trace(..)) => false,
        };
        let after = stamped(&plain, &before, &HOP, &["x-id"]);
        match ours {
            true => assert_eq!(plain.read(&after), [ContextHint::Stamp(KEY)]),
            false => assert_eq!(after, before),
        }
        (hints.len(), ours, prefixed.read(&before).len())
    });
}

#[test]
fn names_of_carriers_and_calls() {
    let target = Target {
        name: "names of carriers and calls",
        seeds: &[
            "tracestate,baggage,traceparent,b3,uber-trace-id,x-request-id,header:uberctx-*",
            "header:X-Correlation-ID , b3",
            "none",
            "0123456789abcdef-1f",
            "0123456789abcdef",
        ],
        words: &[
            ",",
            "header:",
            "*",
            "b3",
            "none",
            "-",
            "0123456789abcdef",
            "é",
        ],
    };
    target.fuzz(|input| {
        let text = String::from_utf8_lossy(input);
        let key = text.parse::<CallKey>();
        if let Ok(key) = key {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        let carriers = text.parse::<Carriers>().map_err(|error| {
            assert!(!error.to_string().is_empty());
            std::mem::discriminant(&error)
        });
        if let Ok(carriers) = &carriers {
            let written = carriers.to_string();
            assert_eq!(written.parse::<Carriers>().unwrap().to_string(), written);
        }
        let names = carriers.map(|carriers| carriers.to_string().split(',').count());
        (key.map(|key| key.call.is_some()).ok(), names)
    });
}

#[test]
fn grpc_messages_and_status() {
    let target = Target {
        name: "gRPC messages and status",
        seeds: &[
            "\0\0\0\0\x05hello\0\0\0\0\0",
            "\x01\0\0\x01\x07",
            "0",
            "14",
            "16 ",
            "application/grpc+proto",
            "application/grpc; charset=utf-8",
            "/shop.Cart/GetCart",
            "100% é\n",
        ],
        words: &["\0\0\0\0", "application/grpc", "/", "4294967295", "%", "é"],
    };
    target.fuzz(|input| {
        let message = fuzzing::first_message(input);
        assert_eq!(message.is_some(), input.len() >= 5);
        assert!(message.is_none_or(|length| (5..=5 + (u32::MAX as usize)).contains(&length)));
        let reply = fuzzing::reply(Some(input));
        assert!(matches!(reply, Reply::GrpcOk | Reply::Grpc(_)));
        let text = String::from_utf8_lossy(input);
        let encoded = fuzzing::encode_message(&text);
        assert!(encoded.bytes().all(|byte| matches!(byte, b' '..=b'~')));
        assert_eq!(decoded(&encoded), text.as_bytes());
        let interface = fuzzing::interface(&text);
        assert!(matches!(&interface, Interface::Grpc { method, .. } if !method.contains('/')));
        let point = Point::entry(murphy_model::Frame::new("a", interface));
        assert_eq!(point.to_string().parse(), Ok(point));
        let fits = message.map(|length| length <= input.len());
        (
            fits,
            reply,
            fuzzing::is_grpc(input),
            text.matches('/').count().min(4),
        )
    });
}

/// What a client makes of a `grpc-message`.
fn decoded(text: &str) -> Vec<u8> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_owned();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).expect("two digits"));
        bytes.extend(piece[2..].bytes());
    }
    bytes
}

/// What a client begins a handshake with, a character for each byte.
fn hello(host: &'static str) -> String {
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(host).unwrap();
    let mut client = ClientConnection::new(std::sync::Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes.into_iter().map(char::from).collect()
}

/// Bytes, a character for each.
fn bytes(input: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(input);
    text.chars().map(|c| c as u32 as u8).collect()
}

/// No input to a forward proxy keeps it busy, brings it down, or leads it
/// elsewhere than to a named host.
fn forward_proxy(name: &str, seeds: &[&str]) {
    let listener = fuzzing::FuzzedListener::default();
    let words = &[
        "CONNECT ",
        "http://",
        "https://",
        "a.test",
        ":443",
        "@",
        " HTTP/1.1\r\n",
        "\r\n",
        "host: ",
    ];
    let target = Target { name, seeds, words };
    target.fuzz(|input| {
        let answer = listener.answer(&bytes(input));
        let answer = answer.expect("it waits for ever");
        // A status, or a record of TLS.
        let end = if answer.starts_with(b"HTTP") { 12 } else { 1 };
        answer.get(..end).map(<[u8]>::to_vec)
    });
}

#[test]
fn connect() {
    let opened = format!(
        "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n{}",
        hello("a.test")
    );
    forward_proxy(
        "CONNECT",
        &[
            &opened,
            "CONNECT b.a.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nhost: b.a.test\r\n\r\n",
            "CONNECT other.test:443 HTTP/1.1\r\n\r\n",
            "CONNECT [::1]:443 HTTP/1.1\r\nproxy-authorization: Basic eA==\r\n\r\n",
        ],
    );
}

#[test]
fn absolute_form() {
    forward_proxy(
        "absolute form",
        &[
            "GET http://a.test/x?y HTTP/1.1\r\nhost: a.test\r\n\r\n",
            "POST http://u:p@b.a.test:80/ HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi",
            "GET http://other.test HTTP/1.0\r\n\r\n",
            "OPTIONS http://a.test HTTP/1.1\r\n\r\n",
        ],
    );
}

#[test]
fn client_hello() {
    let (one, other) = (
        hello("a.test"),
        hello("a-much-longer-name.of-some.host.test"),
    );
    forward_proxy("ClientHello", &[&one, &other]);
}
