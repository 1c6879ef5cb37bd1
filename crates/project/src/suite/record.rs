//! What is kept of a suite: in the store of all campaigns, round by round.
//!
//! Owns what a later run must know to go on where one was stopped, or to run a
//! finding again: the arguments, and the rounds with what came of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use murphy::replays::find_name;
use murphy_model::{Event, Sink};
use murphy_report::redact;
use murphy_store::{CampaignEntry, CampaignHead, Fingerprint, Recorder, Store};
use murphy_suite::{CaseRun, Injection, Round, SuiteFinding, SuiteReport};
use serde::{Deserialize, Serialize};

use super::{Suite, TypedSuite};
use crate::campaign_record;
use crate::context::Context;
use crate::error::Error;
use crate::messages::complain;
use crate::stored::Stored;
use murphy_config::Usage;

/// What the names of suites begin with in the list of campaigns.
const PREFIX: &str = "suite: ";

/// Keeps what happens.
pub struct SuiteRecord {
    store: Store,
    recorder: Recorder,
    /// The rounds that an earlier run left, by their numbers.
    rounds: BTreeMap<u32, (Round, Vec<CaseRun>)>,
}

/// The arguments, as they are kept.
#[derive(Serialize, Deserialize)]
struct Saved {
    suite: TypedSuite,
    injection: Injection,
    /// Where it was run: what the places in the code are relative to.
    #[serde(default)]
    directory: PathBuf,
}

/// What is set for the tests, secrets by their names alone.
fn without_secrets(typed: &TypedSuite) -> TypedSuite {
    let mut kept = typed.clone();
    for text in &mut kept.set {
        if redact::text(text) != text.as_str() {
            let name = text.split('=').next().unwrap_or_default();
            *text = name.to_owned();
        }
    }
    kept
}

impl SuiteRecord {
    /// Begins a suite, or goes on with one that was stopped before its end and
    /// had the same arguments.
    pub fn begin(suite: &Suite, typed: &TypedSuite, is_resumed: bool) -> Result<Self, Error> {
        let store = suite.project().store()?;
        let saved = Saved {
            suite: without_secrets(typed),
            injection: *suite.how(),
            directory: std::env::current_dir().unwrap_or_default(),
        };
        let settings = serde_json::to_string(&saved).expect("texts and numbers");
        let planned = format!("{:?}", suite.settings());
        let versions = suite.versions();
        let command = format!("{:?}", saved.suite.command);
        let fingerprint = Fingerprint::of([PREFIX, &command, &planned, &versions]);
        let unfinished = match is_resumed {
            true => store.unfinished(&fingerprint)?,
            false => None,
        };
        if is_resumed && unfinished.is_none() {
            crate::messages::note(
                "no interrupted suite has these settings; this one starts afresh",
            );
        }
        let mut rounds = BTreeMap::new();
        let recorder = match &unfinished {
            Some(id) => {
                rounds.extend(stored_rounds(&store.events(id)?));
                store.resume(id)?
            }
            None => store.begin(&CampaignHead {
                scenario: format!("{PREFIX}{}", name(typed)),
                fingerprint,
                settings,
                begun: SystemTime::now(),
            })?,
        };
        Ok(SuiteRecord {
            store,
            recorder,
            rounds,
        })
    }

    /// How many rounds an earlier run left.
    pub fn reused(&self) -> usize {
        self.rounds.len()
    }

    /// What came of this very round in an earlier run.
    pub fn known(&self, round: &Round) -> Option<Vec<CaseRun>> {
        let (known, runs) = self.rounds.get(&round.id)?;
        (known == round).then(|| runs.clone())
    }

    /// Keeps what came of a round that was run to its end.
    pub fn note(&mut self, round: &Round, runs: &[CaseRun]) {
        let is_whole = runs.len() == round.cases.len();
        if is_whole && self.known(round).is_none() {
            self.recorder.note(&Event::SuiteRound {
                round: json(round),
                runs: json(&runs),
            });
        }
    }

    /// Keeps the result.
    pub fn end(&mut self, report: &SuiteReport) {
        self.recorder.note(&Event::SuiteEnded {
            report: json(report),
            stopped: report.stopped,
        });
    }

    /// Takes note that the whole result was reported: it is not to be resumed.
    pub fn tell(&self) {
        campaign_record::tell(&self.store, std::iter::once(&self.recorder));
    }

    /// Says so if not everything could be kept.
    pub fn say_trouble(&self) {
        self.recorder.flush();
        if let Some(trouble) = self.store.trouble() {
            complain(format_args!(
                "part of the suite could not be saved: {trouble}\nhint: the result is still valid; for the next run, {}",
                trouble.hint()
            ));
        }
    }

    /// A finding by its id or the beginning of it, with the arguments of the
    /// newest suite that has it.
    pub fn find(
        config: Option<&Path>,
        id: &str,
        context: &Context,
    ) -> Result<(TypedSuite, SuiteFinding), Error> {
        let stored = Stored::open(config, context)?;
        for entry in stored.store.campaigns()? {
            let Ok(saved) = serde_json::from_str::<Saved>(&entry.settings) else {
                continue;
            };
            let Some(report) = stored_report(&stored.store.events(&entry.campaign)?) else {
                continue;
            };
            let all: Vec<SuiteFinding> =
                report.findings.into_iter().chain(report.warnings).collect();
            let name = find_name(id, all.iter().map(|finding| finding.id.as_str()));
            let name = name.ok().map(str::to_owned);
            if let Some(finding) = all.into_iter().find(|it| Some(&it.id) == name.as_ref()) {
                check_place(&saved.directory, context)?;
                let mut typed = saved.suite;
                typed.settings.injection = saved.injection;
                return Ok((typed, finding));
            }
        }
        Err(Usage::new(format!("no suite in the store has a finding `{id}`"))
            .at("ID", id, id, "not found")
            .hint("`murphy report --list` lists what is stored; `murphy suite run` prints the ids")
            .into())
    }
}

/// Places in the code are relative to where the suite was run.
fn check_place(directory: &Path, context: &Context) -> Result<(), Usage> {
    match directory == context.directory() || directory.as_os_str().is_empty() {
        true => Ok(()),
        false => Err(Usage::new("the suite was run in another directory")
            .hint(format!("go there first: cd {}", directory.display()))),
    }
}

/// Whether what is stored here is of a suite.
pub fn is_suite(entry: &CampaignEntry) -> bool {
    entry.scenario.starts_with(PREFIX)
}

/// The result of a suite with these events, if it has one.
pub fn stored_report(events: &[Event]) -> Option<SuiteReport> {
    let ended = events.iter().rev().find_map(|event| match event {
        Event::SuiteEnded { report, .. } => Some(report),
        _ => None,
    });
    serde_json::from_value(ended?.clone()).ok()
}

fn stored_rounds(events: &[Event]) -> Vec<(u32, (Round, Vec<CaseRun>))> {
    let rounds = events.iter().filter_map(|event| match event {
        Event::SuiteRound { round, runs } => {
            let round: Round = serde_json::from_value(round.clone()).ok()?;
            let runs = serde_json::from_value(runs.clone()).ok()?;
            Some((round.id, (round, runs)))
        }
        _ => None,
    });
    rounds.collect()
}

fn json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("texts, numbers and lists")
}

fn name(typed: &TypedSuite) -> String {
    match &typed.scenario {
        Some(name) => name.clone(),
        None => redact::command(&typed.command),
    }
}
