//! A shot, as what decides in an execution.
//!
//! Owns the way from what a proxy saw to what a shot wants to know, without the
//! secrets in it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::time::Instant;

use murphy_model::{CallId, Interface, Mode};
use murphy_registry::{Arrival, Ending, Injector};
use murphy_report::redact;
use murphy_suite::{
    AttemptId, Caller, End, Lost, Record, Request, RetryHeaders, Shot, is_token_name,
};
use percent_encoding::percent_decode_str;

use super::answers;

/// The headers that say which test and which call a request is of.
pub(super) const NOTED: &[&str] = &[
    "x-murphy-call",
    "x-murphy-operation",
    "x-murphy-site",
    "x-murphy-stack",
    "x-murphy-line",
    "x-murphy-phase",
    "x-murphy-test",
    "x-murphy-pid",
    "x-murphy-raises",
    "amz-sdk-invocation-id",
    "amz-sdk-request",
    "x-goog-api-client",
    "x-ms-client-request-id",
    "x-amz-target",
    "content-type",
    "idempotency-key",
];

/// A shot that is under way.
pub(super) struct Shooting {
    shot: Shot,
    began: Instant,
    attempts: BTreeMap<CallId, AttemptId>,
}

impl Shooting {
    pub(super) fn new(shot: Shot) -> Self {
        Shooting {
            shot,
            began: Instant::now(),
            attempts: BTreeMap::new(),
        }
    }

    pub(super) fn record(self) -> Record {
        self.shot.record()
    }
}

impl Injector for Shooting {
    fn arrive(&mut self, call: CallId, arrival: &Arrival) -> Option<Mode> {
        let request = request(arrival, self.began);
        let (attempt, mode) = self.shot.arrive(request);
        self.attempts.insert(call, attempt);
        mode
    }

    fn is_still_to_fail(&mut self, call: CallId, status: u16) -> bool {
        let attempt = self.attempts.get(&call);
        attempt.is_none_or(|attempt| self.shot.answered(*attempt, status))
    }

    fn finish(&mut self, call: CallId, ending: &Ending) {
        let Some(attempt) = self.attempts.get(&call) else {
            return;
        };
        let body = ending.body.as_ref();
        let end = End {
            at: self.began.elapsed(),
            reply: ending.reply,
            body: body.map(|body| answers::hash(&body.bytes)),
            lost: ending.lost.as_ref().map(|lost| Lost {
                status: lost.status,
                body: (200..300)
                    .contains(&lost.status)
                    .then(|| answers::hash(&lost.body.bytes)),
            }),
            code: ending.code.as_deref().map(without_namespace),
            landed: ending.landed,
            gave_up: ending.gave_up,
        };
        self.shot.finish(*attempt, end);
    }
}

fn request(arrival: &Arrival, began: Instant) -> Request {
    let (method, path) = match &arrival.interface {
        Interface::Http { method, path } => (method.to_string(), path.to_string()),
        Interface::Grpc { service, method } => ("POST".to_owned(), format!("/{service}/{method}")),
    };
    let noted = |name: &str| arrival.noted(name);
    let decoded = |name: &str| {
        let text = percent_decode_str(arrival.noted(name)?).decode_utf8_lossy();
        Some(text.into_owned())
    };
    Request {
        at: began.elapsed(),
        service: arrival.destination.to_string(),
        method,
        path,
        query: redact::owned(&arrival.query),
        body_hash: hash(&arrival.body),
        action: form_field(&arrival.body, noted("content-type"), "Action"),
        headers: RetryHeaders::read(noted),
        token: noted("idempotency-key").is_some() || has_token(arrival),
        caller: Caller::read(decoded),
    }
}

/// SDKs show what follows the namespace of a code.
fn without_namespace(code: &str) -> String {
    let name = code.rsplit('#').next().unwrap_or(code);
    name.to_owned()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A field of a body that is a form.
fn form_field(body: &[u8], kind: Option<&str>, name: &str) -> Option<String> {
    if !kind?.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let mut fields = text.split('&').filter_map(|field| field.split_once('='));
    let (_, value) = fields.find(|(field, _)| *field == name)?;
    let value: Cow<'_, str> = percent_decode_str(value).decode_utf8_lossy();
    Some(value.into_owned())
}

/// Whether a field of the body by its name says that attempts are one piece of
/// work.
fn has_token(arrival: &Arrival) -> bool {
    if let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(&arrival.body) {
        return fields.keys().any(|name| is_token_name(name));
    }
    let text = std::str::from_utf8(&arrival.body).unwrap_or_default();
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    fields.into_iter().any(|(name, _)| is_token_name(name))
}
