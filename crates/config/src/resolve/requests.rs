//! Declared requests: what is asked, and what must hold of the answer.

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};
use murphy_model::{GrpcCode, Protocol, nearest};
use murphy_system::spec::{Expectations, RequestCall, RequestSpec, UnderFault};
use serde_json::Value;

use super::checker::Checker;
use crate::Span;
use crate::raw::{self, At, Expect, ExpectedAnswer, Json, OneOrMany, Request, Status, Text};

/// A request that has exactly one of `request` and `grpc`; asked of
/// `default_service` if it does not say whom.
pub(super) fn request(
    checker: &mut Checker<'_>,
    mut raw: Request,
    default_service: Option<&Text>,
) -> Option<RequestSpec> {
    let (protocol, asked) = match (&raw.request, &raw.grpc) {
        (Some(request), _) => (Protocol::Http, request.clone()),
        (None, Some(method)) => (Protocol::Grpc, method.clone()),
        (None, None) => return None,
    };
    let service = service(
        checker,
        raw.service.as_ref().or(default_service),
        &asked.span,
    );
    let mut headers = texts(checker.headers(raw.headers.take()));
    let expect = raw.expect.take().map(|expect| expect.value);
    let expect = expect.map(|expect| expectations(checker, expect, protocol));
    let call = match protocol {
        Protocol::Grpc => grpc(checker, &asked, raw.json),
        _ => http(checker, &asked, raw.json, raw.body, &mut headers),
    };
    Some(RequestSpec {
        service: service?,
        call: call?,
        headers,
        expect: expect.unwrap_or_default(),
    })
}

/// The service that is asked; the only one needs no mention.
fn service(checker: &mut Checker<'_>, named: Option<&Text>, place: &Span) -> Option<String> {
    match (named, checker.services()) {
        (Some(name), _) => checker.service(name),
        (None, [only]) => Some(only.clone()),
        (None, services) => {
            let example = services.first().map_or("shop", String::as_str);
            let hint = format!(
                "add `service = \"{example}\"`; there are {}",
                services.join(", ")
            );
            let message = "it is not said which service is asked";
            checker.refuse(place, message, "asked of whom?", hint);
            None
        }
    }
}

fn http(
    checker: &mut Checker<'_>,
    asked: &Text,
    json: Option<At<Json>>,
    body: Option<Text>,
    headers: &mut Vec<(String, String)>,
) -> Option<RequestCall> {
    if let (Some(_), Some(body)) = (&json, &body) {
        let hint = "leave out one of them";
        let message = "a request has one body, and here are two";
        checker.refuse(&body.span, message, "`json` is there too", hint);
    }
    let (method, target) = method_and_target(checker, asked)?;
    let body = match (json, body) {
        (Some(json), _) => {
            let typed = |(name, _): &(String, String)| name == "content-type";
            if !headers.iter().any(typed) {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
            json.value.0.to_string().into_bytes()
        }
        (None, body) => body.map(|body| body.value.into_bytes()).unwrap_or_default(),
    };
    Some(RequestCall::Http {
        method,
        target,
        body,
    })
}

/// `POST /checkout`, or `/cart`, which is a GET.
fn method_and_target(checker: &mut Checker<'_>, asked: &Text) -> Option<(String, String)> {
    let words: Vec<&str> = asked.value.split_whitespace().collect();
    let (method, target) = match words.as_slice() {
        [target] if target.starts_with('/') => ("GET", *target),
        [method, target] => (*method, *target),
        _ => ("", ""),
    };
    let method_fits = !method.is_empty() && method.chars().all(|c| c.is_ascii_uppercase());
    let target_fits = target.starts_with('/') && target.parse::<PathAndQuery>().is_ok();
    if method_fits && target_fits {
        return Some((method.to_owned(), target.to_owned()));
    }
    let hint = match target.contains("://") {
        true => "write the path only, such as \"GET /cart\"; whom to ask says `service`",
        false => "write for example \"POST /checkout\"",
    };
    let message = format!("`{}` is no request", asked.value);
    let label = "a method and a path are expected";
    checker.refuse(&asked.span, message, label, hint);
    None
}

fn grpc(checker: &mut Checker<'_>, asked: &Text, json: Option<At<Json>>) -> Option<RequestCall> {
    let method = asked.value.trim_start_matches('/');
    let fits = |(service, name): (&str, &str)| {
        !service.is_empty() && !name.is_empty() && !name.contains('/')
    };
    if !method.split_once('/').is_some_and(fits) {
        let message = format!("`{}` is no method of gRPC", asked.value);
        let hint = "write for example \"shop.Cart/GetCart\"";
        let label = "package.Service/Method is expected";
        checker.refuse(&asked.span, message, label, hint);
        return None;
    }
    let empty = || Value::Object(serde_json::Map::new());
    let message = json.map_or_else(empty, |json| json.value.0);
    Some(RequestCall::Grpc {
        method: method.to_owned(),
        message,
    })
}

fn expectations(checker: &mut Checker<'_>, raw: Expect, protocol: Protocol) -> Expectations {
    let within = raw.within.and_then(|text| checker.duration(&text));
    let usual = ExpectedAnswer {
        status: raw.status,
        headers: raw.headers,
        json: raw.json,
        contains: raw.contains,
    };
    Expectations {
        within,
        under_fault: under_fault(checker, raw.under_fault, Some(protocol)),
        ..answer(checker, usual, Some(protocol))
    }
}

/// What must hold of the answer itself.
fn answer(
    checker: &mut Checker<'_>,
    raw: ExpectedAnswer,
    protocol: Option<Protocol>,
) -> Expectations {
    let json = raw.json.map(|json| json.0).unwrap_or_default();
    let json = json
        .into_iter()
        .map(|(path, value)| (path.value, value.value.0));
    let contains = raw.contains.map(At::items).unwrap_or_default();
    Expectations {
        status: statuses(
            checker,
            raw.status.map(At::items).unwrap_or_default(),
            protocol,
        ),
        headers: texts(checker.headers(raw.headers)),
        json: json.collect(),
        contains: contains.into_iter().map(|text| text.value).collect(),
        ..Expectations::default()
    }
}

/// What is right under a fault; `protocol`: none where it may be any.
pub(super) fn under_fault(
    checker: &mut Checker<'_>,
    raw: Option<At<OneOrMany<raw::UnderFault<ExpectedAnswer>>>>,
    protocol: Option<Protocol>,
) -> UnderFault {
    let mut declared = UnderFault::default();
    for At { value, span } in raw.map(At::items).unwrap_or_default() {
        match value {
            raw::UnderFault::Status(value) => {
                let status = status(checker, At { value, span }, protocol);
                declared.statuses.extend(status);
            }
            raw::UnderFault::Answer(it) => declared.answers.push(answer(checker, *it, protocol)),
        }
    }
    declared
}

fn statuses(
    checker: &mut Checker<'_>,
    items: Vec<At<Status>>,
    protocol: Option<Protocol>,
) -> Vec<String> {
    let read = |it| status(checker, it, protocol);
    items.into_iter().filter_map(read).collect()
}

fn status(
    checker: &mut Checker<'_>,
    status: At<Status>,
    protocol: Option<Protocol>,
) -> Option<String> {
    match (protocol, &status.value) {
        (Some(Protocol::Grpc), _) => grpc_status(checker, status),
        (None, Status::Name(name)) if name.parse::<u16>().is_err() => grpc_status(checker, status),
        _ => http_status(checker, status),
    }
}

fn http_status(checker: &mut Checker<'_>, status: At<Status>) -> Option<String> {
    let (number, written) = match status.value {
        Status::Number(number) => (Some(number), number.to_string()),
        Status::Name(name) => (name.parse().ok(), name),
    };
    if let Some(number) = number.filter(|number| (100..600).contains(number)) {
        return Some(number.to_string());
    }
    let message = format!("`{written}` is no status of HTTP");
    let label = "a number from 100 to 599 is expected";
    let hint = "write for example `status = 200` or `status = [200, 404]`";
    checker.refuse(&status.span, message, label, hint);
    None
}

fn grpc_status(checker: &mut Checker<'_>, status: At<Status>) -> Option<String> {
    let written = match status.value {
        Status::Number(number) => number.to_string(),
        Status::Name(name) => name,
    };
    if written == "OK" || GrpcCode::named(&written).is_some() {
        return Some(written);
    }
    let numbered = written.parse().ok().and_then(GrpcCode::new);
    let meant = numbered
        .map(GrpcCode::name)
        .or_else(|| nearest(&written, GrpcCode::all().map(GrpcCode::name)));
    let hint = match meant {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "write for example `status = \"NOT_FOUND\"`".to_owned(),
    };
    let message = format!("`{written}` is no status of gRPC");
    checker.refuse(&status.span, message, "a name is expected", hint);
    None
}

/// Headers as texts; they were texts when they were written.
fn texts(headers: Vec<(HeaderName, HeaderValue)>) -> Vec<(String, String)> {
    let text = |(name, value): (HeaderName, HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), value)
    };
    headers.into_iter().map(text).collect()
}
