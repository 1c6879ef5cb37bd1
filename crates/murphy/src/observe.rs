//! A scenario without faults, for commands that only look.

use murphy_campaign::live::spec::ScenarioSpec;
use murphy_campaign::{Chosen, Event, Settings as Campaign, Sink};
use murphy_model::Observed;

use crate::error::Error;
use crate::project::Project;
use crate::runtime;

/// What to try where a scenario fails without faults.
pub(crate) const HINT: &str = "fix the test or the system first: faults tell nothing about what is broken without them; `murphy doctor` looks at the wiring";

/// What was seen.
pub(crate) struct Seen {
    pub(crate) observed: Observed,
    pub(crate) chosen: Chosen,
}

/// Brings the system up, runs the references and stops it again.
pub(crate) fn references(
    project: &Project,
    scenario: &ScenarioSpec,
    campaign: &Campaign,
) -> Result<Seen, Error> {
    runtime::block_on(async {
        let (world, _) = project.bring_up(scenario, 1, "look").await?;
        let done = murphy_campaign::references(&world, campaign, &mut Nobody).await;
        let stopped = world.stop().await;
        let (observed, chosen) = done.map_err(|failed| Error::of_campaign(failed, HINT))?;
        stopped?;
        Ok(Seen { observed, chosen })
    })?
}

/// Listens to nothing.
pub(crate) struct Nobody;

impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}
