//! Cloud calls: which attempts are one operation of the SDK.
//!
//! Owns grouping, while the attempts arrive: a policy must know at once whether
//! a request is the second attempt of a call or the first of another. The
//! first of three ways that applies decides: the library's own id, the SDK's
//! id, the signature of the request. Microsoft's request id is new for every
//! attempt in some SDKs, so it counts only once a retry was seen to keep it.

use std::collections::{BTreeMap, HashMap};

use murphy_model::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::{AttemptId, Request};
use crate::site::{SiteKey, TestPhase};

/// How it was decided that attempts are one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupedBy {
    /// The library names the call.
    Library,
    /// The SDK names it.
    Invocation,
    /// The same request after one that failed.
    Signature,
}

/// How a cloud call went in the end.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// The service answered the last attempt, and well.
    Masked,
    /// The service itself refused the last attempt.
    Transformed,
    /// The last attempt was injected.
    Failed,
    /// The caller went away without an answer.
    Abandoned,
}

/// All attempts of one operation of the SDK.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudCall {
    /// Where the application asked for it.
    pub site: SiteKey,
    /// The frame that is specific to the operation, as the library has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The line of the test that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The phase of the test.
    pub phase: TestPhase,
    /// The test that the library books it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The library's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How its attempts were put together.
    pub grouped_by: GroupedBy,
    /// Its number among the calls of this phase and site, from 1.
    pub ordinal: u32,
    /// The same among those that this line of the test leads to.
    pub line_ordinal: u32,
    /// Whether it carries an idempotency token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token: bool,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptId>,
}

/// Statuses that SDKs retry.
const RETRIED: [u16; 7] = [408, 429, 500, 502, 503, 504, 509];

/// Whether a caller that got this would ask again.
fn invites_retry(reply: Reply) -> bool {
    match reply {
        Reply::Status(status) => RETRIED.contains(&status),
        Reply::GrpcOk => false,
        _ => true,
    }
}

/// An id by which calls are recognised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Library(Option<String>, String),
    Invocation(String),
    Microsoft(String),
}

/// What makes two requests the same without any id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Signature {
    service: String,
    test: Option<String>,
    method: String,
    path: String,
    query: String,
    body_hash: u64,
}

impl Signature {
    fn of(request: &Request) -> Self {
        Signature {
            service: request.service.clone(),
            test: request.caller.test.clone(),
            method: request.method.clone(),
            path: request.path.clone(),
            query: request.query.clone(),
            body_hash: request.body_hash,
        }
    }
}

/// The requests with one signature.
#[derive(Debug, Default)]
struct Alike {
    in_flight: u32,
    /// The last one: its call, and Microsoft's id.
    last: Option<(usize, Option<String>)>,
    may_be_retried: bool,
}

/// Whether Microsoft's id is the same for all attempts of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stability {
    #[default]
    Unknown,
    Stable,
    Unstable,
}

/// Puts attempts together while they arrive.
#[derive(Debug, Default)]
pub(crate) struct Grouping {
    ids: BTreeMap<Id, usize>,
    alike: HashMap<Signature, Alike>,
    /// The signature of each attempt.
    signatures: Vec<Signature>,
    microsoft: Stability,
    calls: usize,
}

impl Grouping {
    /// The call of the next attempt, by its place; a new one has the place
    /// after all others.
    pub(crate) fn place(&mut self, request: &Request) -> (usize, GroupedBy) {
        let signature = Signature::of(request);
        let (id, grouped_by) = match self.id(request) {
            Some((id, by)) => (Some(id), by),
            None => (None, GroupedBy::Signature),
        };
        let known = match &id {
            Some(id) => self.ids.get(id).copied(),
            None => self.retried(&signature, request),
        };
        let call = known.unwrap_or(self.calls);
        self.calls = self.calls.max(call + 1);
        let microsoft = request.headers.ms_request.clone();
        self.ids.extend(id.map(|id| (id, call)));
        self.ids
            .extend(microsoft.clone().map(|id| (Id::Microsoft(id), call)));
        let alike = self.alike.entry(signature.clone()).or_default();
        alike.in_flight += 1;
        // Only what was put together by signature is continued by it.
        alike.last = (grouped_by == GroupedBy::Signature).then_some((call, microsoft));
        alike.may_be_retried = false;
        self.signatures.push(signature);
        (call, grouped_by)
    }

    /// Takes in how an attempt ended.
    pub(crate) fn finish(&mut self, id: AttemptId, reply: Reply, was_injected: bool) {
        let signature = &self.signatures[id.0 as usize];
        let alike = self.alike.get_mut(signature).expect("it has arrived");
        alike.in_flight -= 1;
        alike.may_be_retried = was_injected || invites_retry(reply);
    }

    fn id(&self, request: &Request) -> Option<(Id, GroupedBy)> {
        if let Some(call) = &request.caller.call {
            let id = Id::Library(request.caller.pid.clone(), call.clone());
            return Some((id, GroupedBy::Library));
        }
        let invocation = request.headers.invocation();
        if let Some(invocation) = invocation {
            let id = Id::Invocation(invocation.to_owned());
            return Some((id, GroupedBy::Invocation));
        }
        let id = request.headers.ms_request.clone()?;
        let counts = self.microsoft == Stability::Stable;
        counts.then_some((Id::Microsoft(id), GroupedBy::Invocation))
    }

    /// The call of which a request without an id is another attempt.
    fn retried(&mut self, signature: &Signature, request: &Request) -> Option<usize> {
        let alike = self.alike.get(signature)?;
        let may_be = alike.in_flight == 0 && alike.may_be_retried;
        // An SDK that counts its attempts knows better.
        if !may_be || request.headers.attempt() == Some(1) {
            return None;
        }
        let (call, before) = alike.last.clone()?;
        if let (Some(before), Some(now)) = (before, &request.headers.ms_request) {
            self.microsoft = match self.microsoft {
                Stability::Unknown if before == *now => Stability::Stable,
                _ => Stability::Unstable,
            };
        }
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{Caller, RetryHeaders};

    /// A request and how it ends at once: `invocation|library|microsoft|plain`
    /// id, path, status.
    fn groups(story: &[(&str, &str, u16)]) -> Vec<usize> {
        let mut grouping = Grouping::default();
        let place = |(number, (id, path, status)): (usize, &(&str, &str, u16))| {
            let (call, _) = grouping.place(&request(id, path));
            grouping.finish(AttemptId(number as u32), Reply::Status(*status), false);
            call
        };
        story.iter().enumerate().map(place).collect()
    }

    fn request(id: &str, path: &str) -> Request {
        let (kind, value) = id.split_once(':').unwrap_or((id, ""));
        let value = |wanted| (kind == wanted).then(|| value.to_owned());
        Request {
            path: path.to_owned(),
            headers: RetryHeaders {
                amz_invocation: value("aws"),
                goog_client: value("goog").map(|id| format!("gl/3 gccl-invocation-id/{id} x/1")),
                ms_request: value("ms"),
                amz_request: value("attempt").map(|n| format!("attempt={n}; max=5")),
                ..RetryHeaders::default()
            },
            caller: Caller {
                call: value("lib"),
                ..Caller::default()
            },
            ..Request::default()
        }
    }

    #[test]
    fn attempts_are_put_together_by_the_first_way_that_applies() {
        type Story = &'static [(&'static str, &'static str, u16)];
        let cases: [(&str, Story, &[usize]); 11] = [
            (
                "the library names calls, whatever else is the same",
                &[
                    ("lib:1", "/a", 503),
                    ("lib:2", "/a", 503),
                    ("lib:1", "/b", 200),
                ],
                &[0, 1, 0],
            ),
            (
                "AWS names them",
                &[
                    ("aws:1", "/a", 200),
                    ("aws:1", "/a", 200),
                    ("aws:2", "/a", 200),
                ],
                &[0, 0, 1],
            ),
            (
                "Google names them inside another header",
                &[
                    ("goog:1", "/a", 503),
                    ("goog:1", "/a", 200),
                    ("goog:2", "/a", 200),
                ],
                &[0, 0, 1],
            ),
            (
                "the same request after one that failed is a retry",
                &[("", "/a", 503), ("", "/a", 429), ("", "/a", 200)],
                &[0, 0, 0],
            ),
            (
                "the same request after one that went well is another call",
                &[("", "/a", 200), ("", "/a", 200)],
                &[0, 1],
            ),
            (
                "the same request after a refusal that is final is another call",
                &[("", "/a", 404), ("", "/a", 200)],
                &[0, 1],
            ),
            (
                "another request is another call",
                &[("", "/a", 503), ("", "/b", 200)],
                &[0, 1],
            ),
            (
                "an SDK that says it begins anew is believed",
                &[
                    ("attempt:1", "/a", 503),
                    ("attempt:2", "/a", 503),
                    ("attempt:1", "/a", 200),
                ],
                &[0, 0, 1],
            ),
            (
                "Microsoft's id does not count before it is known to be kept",
                &[
                    ("ms:1", "/a", 503),
                    ("ms:2", "/a", 200),
                    ("ms:2", "/b", 200),
                ],
                &[0, 0, 1],
            ),
            (
                "once a retry kept it, it does",
                &[
                    ("ms:1", "/a", 503),
                    ("ms:1", "/a", 503),
                    ("ms:2", "/a", 503),
                    ("ms:1", "/a", 200),
                ],
                &[0, 0, 1, 0],
            ),
            (
                "one that changed once never counts again",
                &[
                    ("ms:1", "/a", 503),
                    ("ms:2", "/a", 503),
                    ("ms:2", "/a", 503),
                    ("ms:3", "/a", 200),
                ],
                &[0, 0, 0, 0],
            ),
        ];
        for (what, story, expected) in cases {
            assert_eq!(groups(story), expected, "{what}");
        }
    }

    #[test]
    fn equal_requests_in_flight_are_calls_of_their_own() {
        let mut grouping = Grouping::default();
        let same = request("", "/a");
        assert_eq!(grouping.place(&same).0, 0);
        assert_eq!(grouping.place(&same).0, 1);
        grouping.finish(AttemptId(0), Reply::Closed, true);
        assert_eq!(grouping.place(&same).0, 2, "the second is in flight");
    }

    #[test]
    fn a_request_after_an_injected_one_is_a_retry_whatever_it_was_answered() {
        let mut grouping = Grouping::default();
        let same = request("", "/a");
        grouping.place(&same);
        grouping.finish(AttemptId(0), Reply::Status(400), true);
        assert_eq!(grouping.place(&same).0, 0);
    }
}
