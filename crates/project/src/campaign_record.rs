//! What is kept of a campaign, and what was kept of earlier ones.
//!
//! Owns which earlier campaign counts: the one that is to be resumed, or the
//! last one with `--since-last`. How it is kept is the store's business, what
//! still holds of it is decided in `campaign::since`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use murphy::replays::System;
use murphy_campaign::since::{Past, Versions};
use murphy_campaign::{Memory, ResolvedIdentity, Settings as Campaign};
use murphy_model::{Faultload, Identity};
use murphy_report::redact;
use murphy_store::{
    CampaignEntry, CampaignHead, CampaignId, CampaignState, Fingerprint, Recorder, Store,
};
use murphy_system::spec::ScenarioSpec;
use murphy_system::versions;

use crate::error::Error;
use crate::messages::{self, complain};
use crate::project::Project;
use crate::typed::{Earlier, SavedArgs};
use murphy_config::Usage;

/// What is kept of a campaign, and what was kept of the last.
pub struct CampaignRecord {
    store: Arc<Store>,
    /// Keeps what happens.
    pub recorder: Recorder,
    /// What an earlier run of this campaign left.
    pub memory: Memory,
    /// The last campaign, if what still holds of it is not to be run again.
    pub past: Option<(Identity, Past)>,
    /// The services as they are now.
    pub versions: Versions,
}

impl CampaignRecord {
    /// Begins a campaign in a store, or goes on with one; `own` are files that
    /// Murphy writes itself.
    pub fn open(
        store: Arc<Store>,
        earlier: Earlier,
        saved: SavedArgs,
        project: &Project,
        scenario: &ScenarioSpec,
        campaign: &Campaign,
        own: &[PathBuf],
    ) -> Result<Self, Error> {
        let system = &project.config.system;
        let tested = TestedInputs {
            versions: versions::of_services(system, &project.config.versions, own),
            test: versions::of_test(scenario, system, own),
            murphy: env!("CARGO_PKG_VERSION").to_owned(),
            inject: inject(project),
            search: Searched::of(campaign),
        };
        let fingerprint = fingerprint(project, campaign, &tested);
        let resumed = earlier == Earlier::Resumed;
        let unfinished = match resumed {
            true => store.unfinished(&fingerprint)?,
            false => None,
        };
        if resumed && unfinished.is_none() {
            let why = match broken_off(&store, &campaign.scenario)? {
                Some(other) => tested.why_not_resumed(&saved, &other),
                None => "no interrupted campaign has these settings".to_owned(),
            };
            messages::note(format_args!("{why}; this one starts afresh"));
        }
        let past = match earlier == Earlier::Compared {
            true => last(&store, campaign, &tested)?,
            false => None,
        };
        let (recorder, memory) = match &unfinished {
            Some(id) => (store.resume(id)?, remember(&store, id)?),
            None => {
                let inputs = RunInputs {
                    tested: tested.clone(),
                    asked: saved,
                    system: project.system(),
                };
                let head = CampaignHead {
                    scenario: campaign.scenario.clone(),
                    fingerprint,
                    settings: inputs.text(),
                    begun: SystemTime::now(),
                };
                (store.begin(&head)?, Memory::default())
            }
        };
        Ok(CampaignRecord {
            store,
            recorder,
            memory,
            past,
            versions: tested.versions,
        })
    }

    /// The campaign's name.
    pub fn name(&self) -> &str {
        self.recorder.campaign().as_str()
    }

    /// Says so if not everything could be kept.
    pub fn say_trouble(&self) {
        self.recorder.flush();
        if let Some(trouble) = self.store.trouble() {
            complain(format_args!(
                "part of the campaign could not be saved: {trouble}\nhint: the result is still valid; for the next run, {}",
                trouble.hint()
            ));
        }
    }
}

/// Takes note that all that came of these campaigns of one run was reported.
/// If it is not, the next `--resume` reports it once more, which does no harm.
pub fn tell<'r>(store: &Store, all: impl Iterator<Item = &'r Recorder>) {
    let campaigns: Vec<CampaignId> = all.map(|it| it.campaign().clone()).collect();
    if let Err(trouble) = store.tell(&campaigns) {
        complain(format_args!(
            "could not record that the result was reported: {trouble}\nhint: {}",
            trouble.hint()
        ));
    }
}

fn remember(store: &Store, id: &CampaignId) -> Result<Memory, Error> {
    let chosen = store.identity(id)?;
    let chosen = chosen.map(|(identity, masked)| ResolvedIdentity {
        masked,
        ..ResolvedIdentity::exactly(identity)
    });
    Ok(Memory {
        campaign: Some(id.as_str().to_owned()),
        chosen,
        executions: store.executions(id)?,
        left_behind: store.left_behind(id)?,
    })
}

/// The newest campaign on this scenario that has a result, of those for which
/// the same was typed after `--`: that is another test, or only a part of it.
pub fn last_result(
    store: &Store,
    project: &Project,
    scenario: &ScenarioSpec,
) -> Result<Option<CampaignEntry>, Error> {
    let typed = &project.command;
    let is_meant = |entry: &CampaignEntry| {
        entry.scenario == scenario.name
            && entry.state.has_result()
            && asked(&entry.settings).test == *typed
    };
    Ok(store.campaigns()?.into_iter().find(is_meant))
}

/// What is said where there is none; the way out is for the caller to tell.
pub fn none_ended(project: &Project, scenario: &ScenarioSpec) -> Usage {
    let what = match &project.command[..] {
        [] => format!("`{}`", scenario.name),
        test => format!("`{}`", redact::spoken(test)),
    };
    Usage::new(format!("no campaign on {what} has ended yet"))
}

/// The newest campaign on this scenario, if it was interrupted or stopped.
fn broken_off(store: &Store, scenario: &str) -> Result<Option<CampaignEntry>, Error> {
    let newest = store.campaigns()?.into_iter();
    let newest = newest
        .filter(|it| it.state != CampaignState::UnderWay)
        .find(|it| it.scenario == scenario);
    Ok(newest.filter(|it| it.state != CampaignState::Ended))
}

/// The last campaign with the same test that came to its end.
fn last(
    store: &Store,
    campaign: &Campaign,
    now: &TestedInputs,
) -> Result<Option<(Identity, Past)>, Error> {
    let ended = store.last_ended(&campaign.scenario)?;
    let Some(ended) = ended else {
        messages::note("no campaign on this scenario has ended yet; this one runs everything");
        return Ok(None);
    };
    let then: TestedInputs = serde_json::from_str(&ended.entry.settings).unwrap_or_default();
    if let Some(what) = now.other_than(&then) {
        messages::note(format_args!(
            "{what} has changed since the last campaign; this one runs everything"
        ));
        return Ok(None);
    }
    let mut executions = ended.executions;
    let reference = executions.remove(&Faultload::none());
    let parts = ended.identity.zip(reference);
    Ok(parts.map(|(identity, reference)| {
        let past = Past {
            versions: then.versions,
            reference: reference.execution.trace,
            executions,
        };
        (identity, past)
    }))
}

/// What a later run must know of this one: what its verdicts are of.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct TestedInputs {
    versions: Versions,
    test: String,
    murphy: String,
    inject: String,
    search: Searched,
}

/// What the search was, whether it was typed or written.
#[derive(Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Searched {
    strategy: String,
    modes: Vec<String>,
    seed: u64,
}

impl Searched {
    fn of(campaign: &Campaign) -> Self {
        Searched {
            strategy: campaign.strategy.name().to_owned(),
            modes: campaign.modes.clone(),
            seed: campaign.seed,
        }
    }
}

impl TestedInputs {
    /// What differs that every verdict depends on, if anything does.
    fn other_than(&self, then: &TestedInputs) -> Option<&'static str> {
        [
            ("Murphy's version", &self.murphy, &then.murphy),
            ("the test", &self.test, &then.test),
            ("`[inject]`", &self.inject, &then.inject),
        ]
        .into_iter()
        .find_map(|(what, now, then)| (now != then).then_some(what))
    }

    /// Why a campaign that was interrupted cannot go on as this one.
    fn why_not_resumed(&self, asked_now: &SavedArgs, then: &CampaignEntry) -> String {
        let tested: TestedInputs = serde_json::from_str(&then.settings).unwrap_or_default();
        let has_changed = |what: &str| {
            format!(
                "{what} has changed since campaign {} was interrupted",
                then.campaign.as_str()
            )
        };
        if asked(&then.settings).test != asked_now.test {
            return format!(
                "campaign {} was interrupted, but ran another test",
                then.campaign.as_str()
            );
        }
        if let Some(what) = self.other_than(&tested) {
            return has_changed(what);
        }
        let known = self.versions.keys().chain(tested.versions.keys());
        let mut known = known.collect::<BTreeSet<_>>().into_iter();
        if let Some(service) =
            known.find(|name| self.versions.get(*name) != tested.versions.get(*name))
        {
            return has_changed(&format!("service `{service}`"));
        }
        let typed =
            |asked: &SavedArgs| serde_json::to_string(&(&asked.search, &asked.strategy)).ok();
        if self.search != tested.search || typed(asked_now) != typed(&asked(&then.settings)) {
            return format!(
                "campaign {} was interrupted, but used different options",
                then.campaign.as_str()
            );
        }
        has_changed("murphy.toml, or a variable that it names,")
    }
}

/// A digest of what is said about injected answers and of what is ignored.
fn inject(project: &Project) -> String {
    let proxy = &project.config.proxy;
    let all = format!(
        "{:?} {} {:?} {:?} {:?}",
        proxy.answers,
        proxy.marker,
        proxy.ignored,
        proxy.idempotency_keys,
        proxy.idempotency_fields
    );
    Fingerprint::of([&*all]).as_str().to_owned()
}

/// What a campaign was asked to do, by what the store keeps of it.
pub fn asked(settings: &str) -> SavedArgs {
    RunInputs::read(settings).map_or_else(SavedArgs::default, |inputs| inputs.asked)
}

/// The system that a campaign was run in, by what the store keeps of it; of one
/// that a Rust program kept, none.
pub fn system(settings: &str) -> Option<System> {
    RunInputs::read(settings).map(|inputs| inputs.system)
}

/// All that is kept of the settings.
#[derive(serde::Serialize, serde::Deserialize)]
struct RunInputs {
    #[serde(flatten)]
    tested: TestedInputs,
    asked: SavedArgs,
    system: System,
}

impl RunInputs {
    fn read(settings: &str) -> Option<Self> {
        serde_json::from_str(settings).ok()
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("texts only")
    }
}

/// Equal for campaigns of which one can go on where the other stopped: the
/// number of jobs and where results go do not count.
fn fingerprint(project: &Project, campaign: &Campaign, tested: &TestedInputs) -> Fingerprint {
    let versions = format!("{:?}", tested.versions);
    // With what variables of the environment stand for.
    let services = format!("{:?}", project.config.system.services);
    let search = format!(
        "{:?} {:?} {} {:?}",
        campaign.options, campaign.strategy, campaign.seed, campaign.identity
    );
    Fingerprint::of([
        env!("CARGO_PKG_VERSION"),
        project.config.file.text(),
        &project.command.join("\u{1f}"),
        &campaign.scenario,
        &search,
        &versions,
        &tested.test,
        &services,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_murphy_may_see_otherwise_is_run_again() {
        let now = TestedInputs {
            murphy: "2.0.0".to_owned(),
            ..TestedInputs::default()
        };
        assert_eq!(now.other_than(&now), None);
        // What an earlier version kept says nothing of it.
        let then = serde_json::from_str(r#"{"versions":{},"test":""}"#).unwrap();
        assert_eq!(now.other_than(&then), Some("Murphy's version"));
    }
}
