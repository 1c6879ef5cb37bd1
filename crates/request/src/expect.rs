//! Whether an answer is as expected, and what is wrong with it if not.
//!
//! Owns the comparison and the complaints, which hold nothing that changes
//! from run to run: findings are distinguished by them.

use std::time::Duration;

use serde_json::Value;

use murphy_oracle::mask;

use crate::json_path;
use crate::spec::{Expectations, UnderFault};

/// An answer, of whatever protocol.
pub struct Seen<'s> {
    /// Status of HTTP, or the name of a gRPC code.
    pub status: &'s str,
    /// Its headers, or its metadata.
    pub headers: &'s [(String, String)],
    /// Its body; of gRPC as JSON.
    pub body: &'s [u8],
    /// How long it took.
    pub took: Duration,
}

/// Whether an answer is as expected. `label` names the request; `usual` is the
/// status expected where nothing is said; `injected` tells whether any fault
/// was injected, and is asked only where it matters.
pub(crate) fn check(
    expect: &Expectations,
    label: &str,
    usual: &str,
    seen: &Seen<'_>,
    injected: impl Fn() -> bool,
) -> Result<(), String> {
    if let Some(within) = expect.within
        && seen.took > within
    {
        return Err(format!("{label} took longer than {within:?}"));
    }
    let complaint = check_answer(expect, label, usual, seen);
    let honest = || {
        let unusual = !is_one_of(seen.status, &expect.status, usual);
        is_right_under_fault(&expect.under_fault, unusual, usual, seen)
    };
    match complaint.is_err() && honest() && injected() {
        true => Ok(()),
        false => complaint,
    }
}

/// The keywords that a body holds, whatever their case. All of the body is
/// searched, however long it is.
pub(crate) fn keywords_in<'e>(expect: &'e Expectations, body: &[u8]) -> Vec<&'e str> {
    if expect.keywords.is_empty() {
        return Vec::new();
    }
    let body = String::from_utf8_lossy(body).to_lowercase();
    let keywords = expect.keywords.iter().map(String::as_str);
    keywords
        .filter(|word| body.contains(&word.to_lowercase()))
        .collect()
}

/// Whether status, headers and body are as expected.
fn check_answer(
    expect: &Expectations,
    label: &str,
    usual: &str,
    seen: &Seen<'_>,
) -> Result<(), String> {
    if !is_one_of(seen.status, &expect.status, usual) {
        return Err(wrong_status(expect, label, usual, seen.status));
    }
    check_headers(expect, label, seen.headers)?;
    check_body(expect, label, seen.body)
}

/// Whether an answer is declared right for when something fails; `unusual`: its
/// status is none of success. What an honest failure says is not looked at: it
/// cannot be what success says.
pub fn is_right_under_fault(
    declared: &UnderFault,
    unusual: bool,
    usual: &str,
    seen: &Seen<'_>,
) -> bool {
    let mut statuses = declared.statuses.iter();
    let honest = unusual && statuses.any(|it| status_matches(seen.status, it));
    let degraded = |answer: &Expectations| check_answer(answer, "", usual, seen).is_ok();
    honest || declared.answers.iter().any(degraded)
}

fn is_one_of(status: &str, wanted: &[String], usual: &str) -> bool {
    match wanted {
        [] => status_matches(status, usual),
        some => some.iter().any(|wanted| status_matches(status, wanted)),
    }
}

/// `x` stands for any digit: `2xx`.
fn status_matches(status: &str, wanted: &str) -> bool {
    let fits = |(seen, wanted): (u8, u8)| {
        seen.eq_ignore_ascii_case(&wanted)
            || (seen.is_ascii_digit() && wanted.eq_ignore_ascii_case(&b'x'))
    };
    status.len() == wanted.len() && status.bytes().zip(wanted.bytes()).all(fits)
}

fn wrong_status(expect: &Expectations, label: &str, usual: &str, status: &str) -> String {
    let wanted = match expect.status.as_slice() {
        [] => usual.to_owned(),
        some => some.join(" or "),
    };
    format!("{label} answered {status}, expected {wanted}")
}

fn check_headers(
    expect: &Expectations,
    label: &str,
    headers: &[(String, String)],
) -> Result<(), String> {
    for (name, wanted) in &expect.headers {
        let values = headers
            .iter()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        if values.contains(&wanted.as_str()) {
            continue;
        }
        return Err(match values.first() {
            Some(value) => format!(
                "{label}: header `{name}` is `{}`, expected `{wanted}`",
                mask(value)
            ),
            None => format!("{label}: header `{name}` is missing, expected `{wanted}`"),
        });
    }
    Ok(())
}

fn check_body(expect: &Expectations, label: &str, body: &[u8]) -> Result<(), String> {
    for wanted in &expect.contains {
        let bytes = wanted.as_bytes();
        let there = bytes.is_empty() || body.windows(bytes.len()).any(|it| it == bytes);
        if !there {
            return Err(format!("{label}: the body does not contain `{wanted}`"));
        }
    }
    if expect.json.is_empty() {
        return Ok(());
    }
    let value: Value =
        serde_json::from_slice(body).map_err(|_| format!("{label}: the body is not JSON"))?;
    for (path, wanted) in &expect.json {
        check_value(label, path, json_path::find(&value, path), wanted)?;
    }
    Ok(())
}

fn check_value(
    label: &str,
    path: &str,
    found: Option<&Value>,
    wanted: &Value,
) -> Result<(), String> {
    let anything = wanted.as_str() == Some("*");
    let expected = match anything {
        true => "something".to_owned(),
        false => wanted.to_string(),
    };
    match found {
        None => Err(format!("{label}: `{path}` is missing, expected {expected}")),
        Some(found) if anything && !found.is_null() => Ok(()),
        Some(found) if equal(found, wanted) => Ok(()),
        Some(found) => Err(format!(
            "{label}: `{path}` is {}, expected {expected}",
            mask(&short(found))
        )),
    }
}

/// Numbers are equal by value: 1 is 1.0.
fn equal(found: &Value, wanted: &Value) -> bool {
    found == wanted || found.as_f64().is_some_and(|it| wanted.as_f64() == Some(it))
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expecting(change: impl FnOnce(&mut Expectations)) -> Expectations {
        let mut expect = Expectations::default();
        change(&mut expect);
        expect
    }

    fn complaint(expect: &Expectations, status: &str, injected: bool) -> String {
        let headers = [("content-type".to_owned(), "text/html".to_owned())];
        let seen = Seen {
            status,
            headers: &headers,
            body: br#"{"items": [{"name": "tea", "n": 2}], "id": 123456, "gone": null}"#,
            took: Duration::from_millis(20),
        };
        let result = check(expect, "GET /", "2xx", &seen, || injected);
        result.err().unwrap_or_default()
    }

    #[test]
    fn statuses_are_right_or_wrong() {
        let usual = Expectations::default();
        let some = expecting(|e| e.status = vec!["404".into(), "OK".into()]);
        let honest = expecting(|e| {
            e.under_fault.statuses = vec!["503".into()];
            e.contains = vec!["zebra".into()];
        });
        let cases = [
            (&usual, "200", false, ""),
            (&usual, "204", false, ""),
            (&usual, "500", false, "GET / answered 500, expected 2xx"),
            (&usual, "500", true, "GET / answered 500, expected 2xx"),
            (&some, "404", false, ""),
            (&some, "ok", false, ""),
            (
                &some,
                "200",
                false,
                "GET / answered 200, expected 404 or OK",
            ),
            (&honest, "503", true, ""),
            (&honest, "503", false, "GET / answered 503, expected 2xx"),
            (&honest, "500", true, "GET / answered 500, expected 2xx"),
            (
                &honest,
                "200",
                true,
                "GET /: the body does not contain `zebra`",
            ),
        ];
        for (expect, status, injected, expected) in cases {
            assert_eq!(complaint(expect, status, injected), expected);
        }
    }

    #[test]
    fn keywords_are_seen_anywhere_in_a_body_whatever_their_case() {
        let expect = expecting(|e| e.keywords = vec!["Exception".into(), "panic".into()]);
        let long = format!("{}\"an EXCEPTION\"", " ".repeat(100_000));
        assert_eq!(keywords_in(&expect, long.as_bytes()), ["Exception"]);
        assert!(keywords_in(&expect, b"all is well").is_empty());
        assert!(keywords_in(&Expectations::default(), b"panic").is_empty());
    }

    #[test]
    fn headers_bodies_and_times_are_looked_at_where_asked() {
        let json =
            |path: &str, wanted: Value| expecting(|e| e.json = vec![(path.to_owned(), wanted)]);
        let header = |name: &str, value: &str| {
            expecting(|e| e.headers = vec![(name.to_owned(), value.to_owned())])
        };
        let cases = [
            (json("items.0.name", json!("tea")), ""),
            (json("items.0.n", json!(2.0)), ""),
            (json("items", json!("*")), ""),
            (
                json("gone", json!("*")),
                "GET /: `gone` is null, expected something",
            ),
            (
                json("items.1", json!("*")),
                "GET /: `items.1` is missing, expected something",
            ),
            (json("id", json!(1)), "GET /: `id` is *, expected 1"),
            (header("Content-Type", "text/html"), ""),
            (
                header("content-type", "x"),
                "GET /: header `content-type` is `text/html`, expected `x`",
            ),
            (
                header("etag", "x"),
                "GET /: header `etag` is missing, expected `x`",
            ),
            (expecting(|e| e.contains = vec!["tea".into()]), ""),
            (expecting(|e| e.within = Some(Duration::from_secs(1))), ""),
            (
                expecting(|e| e.within = Some(Duration::from_millis(5))),
                "GET / took longer than 5ms",
            ),
        ];
        for (expect, expected) in cases {
            assert_eq!(complaint(&expect, "200", false), expected);
        }
    }
}
