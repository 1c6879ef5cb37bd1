//! A request and what must hold of its answer, described: plain values.
//!
//! Owns the words between the configuration, which checks and resolves what a
//! user wrote, and [`Requests`](crate::Requests), which sends it.

use std::time::Duration;

use serde_json::Value;

/// A request, declared.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The service it enters by.
    pub service: String,
    /// What is asked.
    pub call: RequestCall,
    /// Headers (metadata for gRPC), as written.
    pub headers: Vec<(String, String)>,
    /// What must hold of the answer.
    pub expect: Expectations,
}

/// What a declared request asks.
#[derive(Clone, Debug)]
pub enum RequestCall {
    /// HTTP/1.1.
    Http {
        /// The method.
        method: String,
        /// Path and query.
        target: String,
        /// The body, as sent.
        body: Vec<u8>,
    },
    /// gRPC, unary; the message is turned into protobuf by what the server
    /// tells of itself through reflection.
    Grpc {
        /// `package.Service/Method`.
        method: String,
        /// The message.
        message: Value,
    },
}

/// What must hold of an answer; what is left out is not looked at, but for the
/// status: by default any 2xx, or gRPC OK.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// The statuses that are right; empty for the default. Codes of gRPC are
    /// written by name.
    pub status: Vec<String>,
    /// Headers that must be there with this value.
    pub headers: Vec<(String, String)>,
    /// Values in the JSON body, by path: `items.0.name`, `$.items[0].name`;
    /// `*` as the wanted text means "there is something".
    pub json: Vec<(String, Value)>,
    /// Texts that the body must contain.
    pub contains: Vec<String>,
    /// The answer must be complete within this time.
    pub within: Option<Duration>,
    /// What is right too with any fault injected.
    pub under_fault: UnderFault,
    /// Words that are written down where the body holds them, whatever their
    /// case: the oracle `response` looks for them in what a test printed, and
    /// requests print nothing by themselves.
    pub keywords: Vec<String>,
}

/// What is right, besides what is right anyway, once a fault was injected.
#[derive(Clone, Debug, Default)]
pub struct UnderFault {
    /// Statuses of failures that are shown honestly, as in
    /// [`Expectations::status`].
    pub statuses: Vec<String>,
    /// Answers that do without what failed. Only status, headers and body count
    /// in them.
    pub answers: Vec<Expectations>,
}

impl UnderFault {
    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty() && self.answers.is_empty()
    }

    /// Whether an answer's body decides.
    pub fn looks_at_bodies(&self) -> bool {
        let looks = |it: &Expectations| !it.json.is_empty() || !it.contains.is_empty();
        self.answers.iter().any(looks)
    }
}
