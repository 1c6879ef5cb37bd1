//! What happens in a campaign, told in the past tense.
//!
//! Owns the vocabulary of a run as others see it. The campaign is the only
//! one to speak; the live view, the reports and the store listen. Everything
//! they show can be told from these events alone.

use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Certificate, Finding, Flag, Identity, Observed};
use murphy_search::Ticket;

use crate::campaign::LeftBehind;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A campaign began, or went on after a crash.
    Began {
        /// The scenario's name.
        scenario: String,
        /// The strategy's name.
        strategy: String,
        /// How calls may fail, as it was asked for.
        modes: Vec<String>,
        /// The seed of everything random.
        seed: u64,
        /// Executions under way at once.
        jobs: u32,
        /// Executions of an earlier run that are not made again.
        resumed: usize,
    },
    /// A reference execution ended.
    ReferenceRan {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
    },
    /// The references were compared.
    IdentityChosen {
        /// How calls are told apart from now on.
        identity: Identity,
        /// What was left out, and why, one sentence each.
        masked: Vec<String>,
    },
    /// The search starts over: what calls send varies after failures, and is
    /// left out from now on. All executions under faults up to now count for
    /// nothing.
    Restarted {
        /// How many those are.
        executions: usize,
        /// What is left out, and why, one sentence each.
        masked: Vec<String>,
    },
    /// An execution under a faultload ended (or came out of the store).
    ExecutionEnded {
        /// The proposal it answers.
        ticket: Ticket,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it was made by an earlier run of the same campaign.
        stored: bool,
    },
    /// The strategy took something in.
    Learned(Standing),
    /// A case that was skipped was run to see whether it goes as predicted (or
    /// came out of the store).
    Audited {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it went as predicted.
        agreed: bool,
        /// Whether it was made by an earlier run of the same campaign.
        stored: bool,
    },
    /// The scenario ran without faults, to see whether the system is still as
    /// it was at the start.
    Checked {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it went well.
        passed: bool,
    },
    /// An execution left state behind on which the scenario failed.
    StateLeft(Arc<LeftBehind>),
    /// An execution failed in parallel with others and passed alone.
    FailedInParallel(Flag),
    /// An execution was repeated, because it is luck into which of several
    /// equal calls its faults are injected.
    Repeated {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
    },
    /// All is done.
    Ended {
        /// What was covered.
        certificate: Box<Certificate>,
        /// The bugs.
        findings: Vec<Finding>,
        /// How long it took.
        took: Duration,
    },
}

/// Where a campaign stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Executions taken in.
    pub explored: usize,
    /// Faultloads looked at and not run; `None` where the strategy does not
    /// look at them one by one.
    pub skipped: Option<usize>,
    /// Faultloads waiting to be looked at; `None` likewise.
    pub waiting: Option<usize>,
    /// Those of them that failed, counted as in [`crate::Outcome::failed`].
    pub failed: usize,
    /// The bugs they show, warnings aside; more executions may show that
    /// several are one.
    pub findings: usize,
}

/// Someone who listens.
pub trait Sink: Send {
    /// Takes note of an event.
    fn note(&mut self, event: &Event);
}
