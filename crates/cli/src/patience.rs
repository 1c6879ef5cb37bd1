//! What it costs to make calls hang.
//!
//! Owns the warning: a call that hangs lasts as long as its caller is patient,
//! and Murphy does not cut that short, because how long that is, is what is
//! being tested.

use humantime::format_duration;
use murphy_campaign::Settings as Campaign;
use murphy_model::{Mode, Outcome};
use murphy_system::spec::ScenarioSpec;

/// What to say before calls are made to hang; nothing if none are.
pub(crate) fn note(campaign: &Campaign, scenario: &ScenarioSpec) -> Option<String> {
    let hangs = |mode: Mode| mode.outcome() == Outcome::Hang;
    let mut modes = campaign.modes.iter().filter_map(|text| text.parse().ok());
    modes.any(hangs).then(|| {
        format!(
            "a call that hangs lasts until its caller gives up, at most the scenario's `timeout` of {}; shorter client timeouts, or a lower `timeout` in the scenario, make it cheaper",
            format_duration(scenario.timeout)
        )
    })
}
