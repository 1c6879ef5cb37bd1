//! What a service answers when it fails.
//!
//! Owns an error of a dialect and the answer that is made from it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer};

use crate::template::{Template, Values};

/// A status of HTTP, written as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Status(pub(crate) u16);

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.parse().ok();
        let number = number.filter(|number| (100..600).contains(number));
        number.map(Status).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is no status of HTTP: a number from 100 to 599 is expected"
            ))
        })
    }
}

/// The name of a header, written as a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) HeaderName);

// Header names have no order of their own.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_str().cmp(other.0.as_str())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let name = text.parse().map(Name);
        name.map_err(|_| de::Error::custom(format!("`{text}` cannot be the name of a header")))
    }
}

/// Headers of an answer.
pub(crate) type Templates = BTreeMap<Name, Template>;

/// What a service says with one status.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "DialectError")]
pub(crate) struct Error {
    /// The service's name for what went wrong: `{code}`.
    pub(crate) code: String,
    /// Its text for people: `{message}`.
    #[serde(default)]
    pub(crate) message: String,
    /// Headers with this status alone, such as `retry-after`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) headers: Templates,
}

/// What stands in for the service's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The headers, without those of framing.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body; a HEAD request gets none.
    pub body: String,
    /// The service's name for what went wrong.
    pub code: String,
}

impl Error {
    pub(crate) fn answer(&self, form: &Form, status: u16, id: &str) -> Answer {
        let values = Values {
            status,
            code: &self.code,
            message: &self.message,
            id,
        };
        let headers = form.headers.iter().chain(&self.headers);
        Answer {
            headers: headers
                .filter_map(|(name, value)| filled(name, value, &values))
                .collect(),
            body: form.body.fill(&values),
            code: self.code.clone(),
        }
    }
}

/// What a message has that no header can hold is left out with its header.
fn filled(name: &Name, value: &Template, values: &Values<'_>) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::try_from(value.fill(values)).ok()?;
    Some((name.0.clone(), value))
}

/// What all errors of a service look like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) headers: Templates,
    pub(crate) body: Template,
}
