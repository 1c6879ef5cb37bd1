//! Sites: where the application asked for a cloud call, and in which phase of
//! its test.
//!
//! The innermost frame alone is not enough: applications with a wrapper around
//! their SDK make every call from one line. So a site is the operation with the
//! chain of application frames that led to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the application asked for a cloud call.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct SiteKey {
    /// The service that is called.
    pub service: String,
    /// What it is asked for.
    pub operation: String,
    /// The application's frames from the SDK outward up to, not including, the
    /// first frame of the test; empty for calls that the test makes itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
}

impl SiteKey {
    /// The frame next to the SDK.
    pub fn innermost(&self) -> Option<&str> {
        self.stack.first().map(String::as_str)
    }

    /// Whether the application makes the call, and not the test itself.
    pub fn is_in_application(&self) -> bool {
        !self.stack.is_empty()
    }
}

/// The part of a test in which something happens.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub enum TestPhase {
    /// Set-up of this test alone.
    #[serde(rename = "setup(function)")]
    SetupFunction,
    /// Set-up that several tests share.
    #[serde(rename = "setup(wider)")]
    SetupWider,
    /// The test itself.
    #[default]
    #[serde(rename = "call")]
    Call,
    /// Clean-up.
    #[serde(rename = "teardown")]
    Teardown,
    /// Outside any test.
    #[serde(rename = "none")]
    None,
}

impl TestPhase {
    /// All of them.
    pub const ALL: [TestPhase; 5] = [
        TestPhase::SetupFunction,
        TestPhase::SetupWider,
        TestPhase::Call,
        TestPhase::Teardown,
        TestPhase::None,
    ];

    /// The name in headers, flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            TestPhase::SetupFunction => "setup(function)",
            TestPhase::SetupWider => "setup(wider)",
            TestPhase::Call => "call",
            TestPhase::Teardown => "teardown",
            TestPhase::None => "none",
        }
    }

    /// The phase with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}
