//! Attempts: single requests to a cloud service, and what came of them.
//!
//! Owns the words for what is seen on the wire. Which attempts are one cloud
//! call is decided in [`crate::cloud_call`].

use std::time::Duration;

use murphy_model::{Mode, Reply};
use serde::{Deserialize, Serialize};

use crate::site::{SiteKey, TestPhase};
use crate::time;

/// The place of an attempt in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId(pub u32);

/// A request, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When it arrived, since the execution began.
    pub at: Duration,
    /// The service it is for.
    pub service: String,
    /// Its method.
    pub method: String,
    /// Its path, as sent.
    pub path: String,
    /// Its query, without the `?`.
    pub query: String,
    /// Of its body, without ids, tokens and dates that change between attempts.
    pub body_hash: u64,
    /// `Action=` of a body that is a form.
    pub action: Option<String>,
    /// What its headers say about retries.
    pub headers: RetryHeaders,
    /// Whether it carries an idempotency token ([`crate::is_token_name`]).
    pub token: bool,
    /// Who makes it.
    pub caller: Caller,
}

/// Headers by which SDKs say which requests belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryHeaders {
    /// `amz-sdk-invocation-id`
    pub amz_invocation: Option<String>,
    /// `amz-sdk-request`, as in `attempt=2; max=3`.
    pub amz_request: Option<String>,
    /// `x-goog-api-client`, which may hold `gccl-invocation-id/…`.
    pub goog_client: Option<String>,
    /// `x-ms-client-request-id`
    pub ms_request: Option<String>,
    /// `x-amz-target`, which names the operation.
    pub target: Option<String>,
}

impl RetryHeaders {
    /// Of a request; `header` gives the first value under a lower-case name.
    pub fn read<'r>(header: impl Fn(&str) -> Option<&'r str>) -> Self {
        let read = |name| header(name).map(str::to_owned);
        RetryHeaders {
            amz_invocation: read("amz-sdk-invocation-id"),
            amz_request: read("amz-sdk-request"),
            goog_client: read("x-goog-api-client"),
            ms_request: read("x-ms-client-request-id"),
            target: read("x-amz-target"),
        }
    }

    /// Which attempt the SDK says this is, from 1.
    pub(crate) fn attempt(&self) -> Option<u32> {
        let mut fields = self.amz_request.as_deref()?.split(';');
        let number = fields.find_map(|field| field.trim().strip_prefix("attempt="))?;
        number.parse().ok()
    }

    /// The id of the call in AWS' or Google's headers.
    pub(crate) fn invocation(&self) -> Option<&str> {
        let goog = || {
            let mut words = self.goog_client.as_deref()?.split(' ');
            words.find_map(|word| word.strip_prefix("gccl-invocation-id/"))
        };
        self.amz_invocation.as_deref().or_else(goog)
    }
}

/// What the library in the test process says about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// `x-murphy-call`
    pub call: Option<String>,
    /// `x-murphy-operation`
    pub operation: Option<String>,
    /// `x-murphy-site`
    pub site: Option<String>,
    /// `x-murphy-stack`, innermost first; empty for calls of the test itself.
    pub stack: Vec<String>,
    /// `x-murphy-line`
    pub line: Option<String>,
    /// `x-murphy-phase`
    pub phase: Option<TestPhase>,
    /// `x-murphy-test`
    pub test: Option<String>,
    /// `x-murphy-pid`
    pub pid: Option<String>,
    /// `x-murphy-raises: timeout`: the library raises the time-out itself.
    pub raises: bool,
}

impl Caller {
    /// Of a request; `header` gives the first value under a lower-case name,
    /// percent-encoding already taken away.
    pub fn read(header: impl Fn(&str) -> Option<String>) -> Self {
        let stack = header("x-murphy-stack").unwrap_or_default();
        let frames = stack.split(" < ").filter(|frame| !frame.is_empty());
        Caller {
            call: header("x-murphy-call"),
            operation: header("x-murphy-operation"),
            site: header("x-murphy-site"),
            stack: frames.map(str::to_owned).collect(),
            line: header("x-murphy-line"),
            phase: header("x-murphy-phase").and_then(|name| TestPhase::named(&name)),
            test: header("x-murphy-test"),
            pid: header("x-murphy-pid"),
            raises: header("x-murphy-raises").as_deref() == Some("timeout"),
        }
    }
}

impl Request {
    /// Where the application asked for it. The SDK's name of the service, where
    /// the library knows it, says more than the proxy's.
    pub fn site(&self) -> SiteKey {
        let named = self.caller.operation.as_deref();
        let service = named.and_then(|operation| Some(operation.rsplit_once('.')?.0));
        SiteKey {
            service: service.unwrap_or(&self.service).to_owned(),
            operation: crate::operation::operation(self),
            stack: self.caller.stack.clone(),
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// When, since the execution began.
    #[serde(rename = "at_ns", with = "time")]
    pub at: Duration,
    /// What the caller saw.
    pub reply: Reply,
    /// Of the delivered body, volatile fields left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u64>,
    /// The service's own answer, where the caller never got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// The error code in the injected answer, as in `SlowDown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether the fault was injected.
    pub landed: bool,
    /// Whether the caller went away before it had an answer.
    pub gave_up: bool,
}

/// An answer that its caller never got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its status.
    pub status: u16,
    /// Of its body, volatile fields left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u64>,
}

/// One request of a cloud call, with what was decided and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The place of its cloud call in the record.
    pub call: usize,
    /// Its number in the call, from 1.
    pub number: u32,
    /// When it arrived, since the execution began.
    #[serde(rename = "at_ns", with = "time")]
    pub at: Duration,
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Its query.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Of its body.
    pub body_hash: u64,
    /// What was to be injected; taken back where the binding was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How it ended; nothing if the execution ended first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

impl Attempt {
    /// Whether a fault was injected into it.
    pub fn is_injected(&self) -> bool {
        self.mode.is_some() && self.end.as_ref().is_some_and(|end| end.landed)
    }

    /// The status that the service itself answered with, lost or delivered.
    pub fn status(&self) -> Option<u16> {
        let end = self.end.as_ref()?;
        match (&end.lost, end.reply) {
            (Some(lost), _) => Some(lost.status),
            (None, Reply::Status(status)) if !self.is_injected() => Some(status),
            _ => None,
        }
    }

    /// Whether it asks the service to change something.
    pub fn is_mutating(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}
