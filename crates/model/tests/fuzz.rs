//! No bytes bring a reader of texts down, and what is read is written back.
//!
//! The texts come from command lines, settings and replay files, paths and
//! payloads from the wire. `tests/syntax.rs` proves the same for values that
//! are generated; damage to texts finds what no value is written as.

mod fuzzer;

use std::borrow::Cow;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use fuzzer::Target as Fuzz;
use murphy_model::{
    Armed, Fault, Faultload, Mode, PathTemplates, Pattern, PayloadHash, Point, SyntaxError, Target,
};

const WORDS: &[&str] = &[
    " > ",
    "** > ",
    "*",
    "\"",
    "\\",
    "\\u{41}",
    " #2",
    " #*",
    " #..3",
    " = ",
    ", ",
    "{",
    "}",
    "{body=",
    "after=\"",
    "site=\"",
    "GET /",
    "a.B/C",
    ";",
    ":1",
    "503",
    "grpc:UNAVAILABLE",
    "none",
    "é",
    "😀",
    "\u{2028}",
    "18446744073709551615",
    "4294967296",
];

const POINTS: &[&str] = &[
    "checkout POST /checkout > cart GET /cart #2",
    "shop GET /users/{}/orders > pay shop.Pay/Charge",
    r#"a GET / > cart GET /cart #2 {body=000102030405060708090a0b0c0d0e0f, after="cart GET \"/a;b:7 c\":1; pay shop.Pay/Charge:2 {body=000102030405060708090a0b0c0d0e0f}", site="app.py:41"}"#,
    r#""a b" "GET" /"ca rt" {site=app.py:41 , after=""}"#,
];

const PATTERNS: &[&str] = &[
    "** > cart GET /cart* #..3",
    "* > cart #*",
    r#"shop GET "/a*b"* > * grpc.* {site="*.py"}"#,
    "a * > b *.Cart/* {body=3f}",
];

const FAULTS: &[&str] = &[
    "none",
    "checkout POST /checkout > cart GET /cart #2 = 503",
    "a GET / > b GET / = after:hang, ** > b GET /* #* = grpc:UNAVAILABLE, ** > * #* = delay:2s",
    "a GET / > b GET / #* = after:truncate:100,a GET / > b GET / = duplicate",
];

const MODES: &[&str] = &[
    "503, grpc:UNAVAILABLE,reset , hang",
    "after:hang,delay:2s,after:truncate:100,slow:5,malformed,duplicate,close",
    "delay:1h 5m 3ms 2us 1ns",
];

fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// Reads a text; what was read must be written so that it reads the same, and
/// an error must point into the text.
fn read<T>(text: &str) -> Result<T, SyntaxError>
where
    T: FromStr<Err = SyntaxError> + Display + PartialEq + Debug,
{
    let read = text.parse::<T>();
    match &read {
        Ok(value) => {
            let written = value.to_string();
            assert_eq!(written.parse::<T>().as_ref(), Ok(value), "{written}");
            assert_eq!(written.parse::<T>().unwrap().to_string(), written);
        }
        Err(error) => {
            assert!(text.get(error.span()).is_some(), "{:?}", error.span());
            // A hint may quote a line break of the user's own.
            let lines = error.to_string().lines().count();
            assert!(lines <= 4 || text.contains(char::is_control), "{error}");
        }
    }
    read
}

/// What kind of error it is: its message up to the first word of the user's.
fn kind(error: &SyntaxError) -> String {
    let message = error.message();
    message.split('`').next().unwrap_or(message).to_owned()
}

#[test]
fn points() {
    let target = Fuzz {
        name: "points",
        seeds: POINTS,
        words: WORDS,
    };
    target.fuzz(|input| {
        let point = read::<Point>(&text(input)).map_err(|error| kind(&error))?;
        let pattern: Pattern = point.to_string().parse().expect("a point is a pattern");
        assert!(pattern.matches(&point));
        assert_eq!(point.to_string().parse(), Ok(Target::Call(point.clone())));
        let frame = point.frame();
        let options = [frame.payload.is_some(), frame.predecessors.is_some()];
        Ok::<_, String>((point.depth().min(5), options, frame.site.is_some()))
    });
}

#[test]
fn patterns() {
    let target = Fuzz {
        name: "patterns",
        seeds: PATTERNS,
        words: WORDS,
    };
    let points: Vec<Point> = POINTS.iter().map(|text| text.parse().unwrap()).collect();
    target.fuzz(|input| {
        let pattern = read::<Pattern>(&text(input)).map_err(|error| kind(&error))?;
        if let Some(point) = pattern.as_point() {
            assert!(pattern.matches(&point));
        }
        let matches: Vec<bool> = points.iter().map(|point| pattern.matches(point)).collect();
        Ok::<_, String>((matches, pattern.anywhere, pattern.frames.len().min(5)))
    });
}

#[test]
fn faultloads() {
    let target = Fuzz {
        name: "faultloads",
        seeds: FAULTS,
        words: WORDS,
    };
    let points: Vec<Point> = POINTS.iter().map(|text| text.parse().unwrap()).collect();
    target.fuzz(|input| {
        let text = text(input);
        let single = read::<Fault>(&text).is_ok();
        let load = read::<Faultload>(&text).map_err(|error| kind(&error))?;
        assert!(!single || load.len() == 1);
        let mut kinds = 0u8;
        for fault in load.faults() {
            read::<Fault>(&fault.to_string()).expect("a fault of a faultload");
            kinds |= match fault.target {
                Target::Call(_) => 1,
                Target::Every(_) => 2,
                Target::Matching(_) => 4,
            };
        }
        let injected: Vec<bool> = points.iter().map(|at| hits(&load, at)).collect();
        Ok::<_, String>((load.len().min(5), kinds, injected))
    });
}

/// Whether a fault is injected there; the index must agree with a plain search.
fn hits(load: &Faultload, at: &Point) -> bool {
    let injected = Armed::new(load).fault_at(at).cloned();
    assert!(injected.iter().all(|fault| fault.target.matches(at)));
    let any = load.faults().any(|fault| fault.target.matches(at));
    assert_eq!(injected.is_some(), any, "{load} at {at}");
    any
}

#[test]
fn modes() {
    let target = Fuzz {
        name: "modes",
        seeds: MODES,
        words: WORDS,
    };
    target.fuzz(|input| {
        let text = text(input);
        let modes = Mode::parse_list(&text).map_err(|error| {
            assert!(text.get(error.span()).is_some());
            kind(&error)
        })?;
        for mode in &modes {
            read::<Mode>(&mode.to_string()).expect("a mode of a list");
        }
        let written: Vec<String> = modes.iter().map(Mode::to_string).collect();
        if !modes.is_empty() {
            assert_eq!(Mode::parse_list(&written.join(", ")).as_ref(), Ok(&modes));
        }
        let outcome = modes.first().map(|mode| {
            let outcome = std::mem::discriminant(&mode.outcome());
            (mode.phase(), outcome)
        });
        Ok::<_, String>((modes.len().min(5), outcome))
    });
}

/// The first line is a path, the others are templates of the user's.
#[test]
fn path_templates() {
    let target = Fuzz {
        name: "path templates",
        seeds: &[
            "/users/chris_rivers/bookings/10",
            "/movies/267eedb8-0f5d-42d5-8f43-72426b9fb3e6/x/01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "/l/745c723e03084d27553fb9d4037b08c1//2/",
            "/users/jim/bookings/7\n/users/{}/bookings/7\n/users/{}/{}/{}\n/users/jim/{}/7",
        ],
        words: &[
            "/",
            "{}",
            "/{}",
            "\n",
            "/7",
            "1234567890abcdef",
            "267eedb8-0f5d-42d5-8f43-72426b9fb3e6",
            "%2F",
            "é",
        ],
    };
    target.fuzz(|input| {
        let text = text(input);
        let mut lines = text.split('\n');
        let path = lines.next().unwrap_or_default();
        let templates = PathTemplates::with(lines.map(str::to_owned));
        let once = templates.apply(path);
        assert_eq!(templates.apply(&once), once, "applied to {path}");
        let segments = |path: &str| path.split('/').count();
        assert_eq!(segments(&once), segments(path));
        let masked = once.split('/').filter(|segment| *segment == "{}").count();
        (masked.min(8), segments(path).min(8), *once == *path)
    });
}

/// The first line is a query, the rest a body.
#[test]
fn payloads() {
    let target = Fuzz {
        name: "payloads",
        seeds: &[
            "a=1&b=2\n",
            "\n{\"a\":1,\"b\":[2,{\"time\":3}],\"c\":\"\\u00e9\"}",
            "time=1&a\n[1e300,-0,1.5,null,true,18446744073709551616]",
            "\nplain text",
        ],
        words: &[
            "&",
            "=",
            "time",
            "\n",
            "{\"time\":",
            "[",
            "]",
            "{",
            "}",
            "\"",
            "\\ud800",
            "1e999",
            "-0",
        ],
    };
    let masked = ["time".to_owned()];
    target.fuzz(|input| {
        let at = input.iter().position(|byte| *byte == b'\n');
        let (query, body) = match at {
            Some(at) => (text(&input[..at]), &input[at + 1..]),
            None => (text(input), &[][..]),
        };
        let hash = PayloadHash::of(&query, body, &masked);
        assert_eq!(hash.is_none(), query.is_empty() && body.is_empty());
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.reverse();
        let reordered = parameters.join("&");
        assert_eq!(PayloadHash::of(&reordered, body, &masked), hash);
        let json = serde_json::from_slice::<serde_json::Value>(body).ok();
        if let Some(json) = json.as_ref().filter(|json| is_exact(json)) {
            let spaced = serde_json::to_vec_pretty(json).expect("it was JSON before");
            assert_eq!(PayloadHash::of(&query, &spaced, &masked), hash);
        }
        let shape = json.map(|json| std::mem::discriminant(&json));
        (parameters.len().min(5), shape, body.len().min(5))
    });
}

/// Whether all numbers are integers; others are read to the nearest one that
/// a machine knows, and may be written differently.
fn is_exact(json: &serde_json::Value) -> bool {
    match json {
        serde_json::Value::Number(number) => !number.is_f64(),
        serde_json::Value::Array(items) => items.iter().all(is_exact),
        serde_json::Value::Object(fields) => fields.values().all(is_exact),
        _ => true,
    }
}
