//! How resilient an edge was seen to be.
//!
//! Owns the words; gathering them from executions is `oracle`'s business.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Edge, json};

/// The shortest and the longest time seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The shortest.
    #[serde(rename = "least_ns", with = "json::nanos")]
    pub least: Duration,
    /// The longest.
    #[serde(rename = "most_ns", with = "json::nanos")]
    pub most: Duration,
}

impl Span {
    /// The span that holds this time and those of `before`.
    pub fn with(before: Option<Span>, time: Duration) -> Self {
        let before = before.unwrap_or(Span {
            least: time,
            most: time,
        });
        Span {
            least: before.least.min(time),
            most: before.most.max(time),
        }
    }
}

/// What an edge was seen to do about failures, over many executions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeProfile {
    /// Who calls whom for what.
    pub edge: Edge,
    /// How often it was called.
    pub calls: usize,
    /// How often a call failed.
    pub failed: usize,
    /// The most attempts at one call.
    pub attempts: usize,
    /// The pause between the end of an attempt and the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Span>,
    /// After how long the caller gave up by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// How often another attempt succeeded after a failed one.
    pub recovered: usize,
    /// How often the last attempt failed and the caller answered well.
    pub fallbacks: usize,
    /// How often the last attempt failed and the caller failed as well.
    pub propagated: usize,
    /// How often a second attempt was made while the first was under way.
    pub hedged: usize,
}
