//! What a system is like without faults, to see what faults make of it.

use std::sync::Arc;

use murphy_campaign::{BrokenWorld, World, redacted};
use murphy_model::{Faultload, Identity, Observed, Severity, Verdict};
use murphy_oracle::{Oracle, Reference, Settings, judge};

/// What is known of a system without faults, and how to judge it with some.
pub struct Ground {
    identity: Arc<Identity>,
    reference: Reference,
    oracles: Settings,
}

/// What is held against an execution.
pub struct Held {
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

impl Ground {
    /// Runs the scenario without faults, which must go well.
    pub async fn find(
        world: &impl World,
        identity: Identity,
        oracles: Settings,
    ) -> Result<Result<Self, Unfit>, BrokenWorld> {
        let identity = Arc::new(identity);
        let (observed, _) = world.reference(&identity).await?;
        let observed = redacted(observed);
        Ok(match &observed.execution.verdict {
            Verdict::Failed { why } => Err(Unfit {
                complaint: why.clone(),
                output: observed.printed(),
            }),
            _ => Ok(Ground {
                identity,
                reference: Reference::of([&observed]),
                oracles,
            }),
        })
    }

    /// The same after other executions, of which is told what was seen.
    pub async fn run_after(
        &self,
        world: &impl World,
        prefix: &[Faultload],
        faultload: &Faultload,
    ) -> Result<(Vec<Observed>, Observed, Vec<Held>), BrokenWorld> {
        let mut before = Vec::new();
        for faultload in prefix {
            before.push(redacted(world.run(0, faultload, &self.identity).await?));
        }
        let (observed, held) = self.run(world, faultload).await?;
        Ok((before, observed, held))
    }

    /// Runs the scenario once under these faults; what was seen, and what is
    /// held against it.
    pub async fn run(
        &self,
        world: &impl World,
        faultload: &Faultload,
    ) -> Result<(Observed, Vec<Held>), BrokenWorld> {
        let observed = redacted(world.run(0, faultload, &self.identity).await?);
        let complaints = judge(&observed, &self.reference, &self.oracles);
        let held = complaints
            .into_iter()
            .map(|(oracle, severity, complaint)| Held {
                oracle,
                severity,
                complaint: complaint.summary,
            });
        let held = held.collect();
        Ok((observed, held))
    }
}
