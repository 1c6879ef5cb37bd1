//! Test suites over cloud services: what happens to each test when the calls
//! it makes fail the way clouds fail.
//!
//! An [`Attempt`] is one request; all attempts of one SDK operation are one
//! [`CloudCall`], the unit of injection. A [`Site`](SiteKey) is where the
//! application asked for it. A [`Policy`] is a state machine over the attempts
//! of one cloud call; an [`Aim`] is a policy at a call of a test; a [`Case`] is
//! a test under its aims; a [`Round`] is one run of part of the suite in which
//! every test has a case of its own.
//!
//! A [`Shot`] injects in one execution and records it. A [`Session`] says which
//! round to run next, and collects what the oracles say in a [`SuiteReport`].
//!
//! This crate is pure and synchronous: no sockets, no processes, no clocks.
//! Whoever runs the rounds drives it, and the report does not depend on how many
//! rounds are under way at once.

mod attempt;
mod case;
mod cloud_call;
mod cluster;
mod edge_cover;
mod exclusion;
mod operation;
mod oracle;
mod plan;
mod policy;
mod reference;
mod replayed;
mod report;
mod session;
mod settings;
mod shot;
mod site;
mod time;

pub use attempt::{Attempt, AttemptId, Caller, End, Lost, Request, RetryHeaders};
pub use case::{
    Aim, Assertion, Case, CaseId, CaseRun, Exception, Round, RoundKind, TestEnd, TestInfo,
    TestOutcome,
};
pub use cloud_call::{CallOutcome, CloudCall, GroupedBy};
pub use edge_cover::{WeightedEdge, edge_cover};
pub use exclusion::{Excluded, Reason};
pub use operation::{is_token_name, operation};
pub use oracle::SuiteOracle;
pub use plan::{Coverage, PlanSummary};
pub use policy::{Injection, LostAnswer, Policy};
pub use report::{
    AuditSummary, Executed, Outcomes, ReferenceSummary, Rung, SuiteFinding, SuiteReport,
    SuiteSummary,
};
pub use session::{Next, Session, Verdict};
pub use settings::{EmulatorDifference, SuiteSettings};
pub use shot::{AimEnd, AimRecord, Record, Shot};
pub use site::{SiteKey, TestPhase};
