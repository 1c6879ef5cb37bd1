//! What a system is like without faults, to see what faults make of it.

use std::sync::Arc;

use murphy_campaign::{SetupError, World};
use murphy_model::{Faultload, Identity, Observed, Severity, Verdict};
use murphy_oracle::{Oracle, Reference, Settings, judge};

use super::{Replay, ReplayError, ReplayPlan, ReplayResult, Replayed};

/// How often a variant is run at most where luck decides what it shows: a bug
/// at one of two call sites is missed once in a thousand times.
const MOST_REPEATS: usize = 10;

/// What is known of a system without faults, and how to judge it with some.
pub struct ReferenceRun {
    identity: Arc<Identity>,
    reference: Reference,
    oracles: Settings,
}

/// Complaints about an execution.
pub struct Complaint {
    /// By whom.
    pub oracle: Oracle,
    /// How much it counts.
    pub severity: Severity,
    /// What it is.
    pub complaint: String,
}

/// A test that fails without faults.
pub struct Unfit {
    /// What it complained about.
    pub complaint: String,
    /// What it printed.
    pub output: Option<String>,
}

impl ReferenceRun {
    /// Runs the scenario without faults, which must go well.
    pub async fn find(
        world: &dyn World,
        identity: Identity,
        oracles: Settings,
    ) -> Result<Result<Self, Unfit>, SetupError> {
        let identity = Arc::new(identity);
        let (observed, _) = world.record(&Faultload::none(), &identity).await?;
        Ok(match &observed.execution.verdict {
            Verdict::Failed { why } => Err(Unfit {
                complaint: why.clone(),
                output: observed.printed(),
            }),
            _ => Ok(ReferenceRun {
                identity,
                reference: Reference::of([&observed]),
                oracles,
            }),
        })
    }

    /// Replays a finding: one execution for each variant, up to the first that
    /// fails. Where it is luck into which of several equal calls a fault is
    /// injected, it is repeated until it fails, a few times.
    pub async fn replay(
        &self,
        world: &dyn World,
        replay: &Replay,
        plan: &ReplayPlan,
    ) -> Result<Result<Replayed, ReplayError>, SetupError> {
        let mut all: Option<Replayed> = None;
        for variant in &plan.variants {
            for attempt in 0..MOST_REPEATS {
                let (before, observed, complaints) =
                    self.run_after(world, &plan.prefix, variant).await?;
                let one = match Replayed::new(replay.clone(), observed, &complaints) {
                    Ok(one) => one.after(&before),
                    Err(damaged) => return Ok(Err(damaged)),
                };
                let is_luck = one.is_luck();
                let known = match (all, attempt) {
                    (None, _) => one,
                    (Some(known), 0) => known.and(one),
                    (Some(known), _) => known.once_more(one),
                };
                if matches!(known.result(), ReplayResult::Failed { .. }) {
                    return Ok(Ok(known));
                }
                all = Some(known);
                if !is_luck {
                    break;
                }
            }
        }
        Ok(Ok(all.expect("a plan has a variant")))
    }

    /// One execution after others, of which is told what was seen.
    async fn run_after(
        &self,
        world: &dyn World,
        prefix: &[Faultload],
        faultload: &Faultload,
    ) -> Result<(Vec<Observed>, Observed, Vec<Complaint>), SetupError> {
        let mut before = Vec::new();
        for faultload in prefix {
            before.push(world.run(0, faultload, &self.identity).await?);
        }
        let (observed, complaints) = self.run(world, faultload).await?;
        Ok((before, observed, complaints))
    }

    /// Runs the scenario once under these faults; what was seen, and what is
    /// complaints against it.
    pub async fn run(
        &self,
        world: &dyn World,
        faultload: &Faultload,
    ) -> Result<(Observed, Vec<Complaint>), SetupError> {
        let observed = world.run(0, faultload, &self.identity).await?;
        let complaints = judge(&observed, &self.reference, &self.oracles);
        let complaints = complaints
            .into_iter()
            .map(|(oracle, severity, complaint)| Complaint {
                oracle,
                severity,
                complaint: complaint.summary,
            });
        let complaints = complaints.collect();
        Ok((observed, complaints))
    }
}
