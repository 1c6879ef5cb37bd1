//! A test that came by no entry: what it was told, where Murphy listened, and
//! what was seen instead.
//!
//! Owns noticing it in a run without faults, and saying what to change. Most
//! often the test calls an address of its own, past Murphy, which otherwise
//! shows only as "nothing to inject".

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use murphy_campaign::{Event, Sink, World as _};
use murphy_config::TYPED;
use murphy_model::{Link, Observed};
use murphy_report::number::counted;
use murphy_system::spec::{CommandSpec, ScenarioSpec, SystemSpec};
use murphy_system::template::{Place, Places, expand, names};
use murphy_system::{LiveWorld, bypassed, url_variable};

use crate::error::Error;

/// More calls than this are not read.
const MOST_CALLS: usize = 5;

/// More services than this are not read either.
const MOST_SERVICES: usize = 5;

/// Keeps the first run without faults.
#[derive(Default)]
pub struct FirstReference(Option<Arc<Observed>>);

impl FirstReference {
    /// What was missed in it at the entries, if it was run.
    pub fn missed(
        &self,
        world: &LiveWorld,
        system: &SystemSpec,
        scenario: &ScenarioSpec,
    ) -> Option<MissedEntry> {
        let observed = self.0.as_deref()?;
        MissedEntry::of(world, system, scenario, observed)
    }
}

impl Sink for FirstReference {
    fn note(&mut self, event: &Event) {
        if let Event::ReferenceRan { observed, .. } = event {
            self.0.get_or_insert_with(|| observed.clone());
        }
    }
}

/// A test of which no call reached an entry.
#[derive(Debug, PartialEq, Eq)]
pub struct MissedEntry {
    scenario: String,
    /// Where the test could have entered: each service with its address.
    entries: Vec<(String, String)>,
    /// The variables that lead there, with their values.
    told: Vec<(String, String)>,
    /// Variables of the test that lead to a service itself: the variable, its
    /// value, the service.
    past_murphy: Vec<(String, String, String)>,
    /// Calls that came by other ways.
    elsewhere: Vec<String>,
    /// Services of which only ignored paths were called.
    ignored: Vec<String>,
}

impl MissedEntry {
    /// `None` where a call did reach an entry, and for tests that Murphy carries
    /// out itself.
    pub fn of(
        world: &LiveWorld,
        system: &SystemSpec,
        scenario: &ScenarioSpec,
        observed: &Observed,
    ) -> Option<Self> {
        let command = scenario.kind.command()?;
        if enters(observed) {
            return None;
        }
        let names = likely_entries_first(system);
        let entry = |name: &String| Some((name.clone(), world.entry(0, name)?));
        let entries: Vec<(String, String)> = names.iter().filter_map(entry).collect();
        let has_ignored = |name: &&String| world.system().registry().has_ignored(name);
        Some(MissedEntry {
            scenario: scenario.name.clone(),
            told: told(command, &entries),
            past_murphy: past_murphy(command, world, &names),
            elsewhere: elsewhere(world, observed),
            ignored: names.iter().filter(has_ignored).cloned().collect(),
            entries,
        })
    }

    /// What is known, a line each.
    fn facts(&self) -> String {
        let listed = |all: &[(String, String)], between: &str| {
            let some = all.iter().take(MOST_SERVICES);
            let some = some.map(|(name, value)| format!("{name}{between}{value}"));
            let more = all.len().saturating_sub(MOST_SERVICES);
            let more = (more > 0).then(|| format!("{more} more"));
            some.chain(more).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!("  the test was told {}\n", listed(&self.told, "="));
        let entries = listed(&self.entries, " at ");
        let _ = writeln!(text, "  Murphy listened for it: {entries}");
        for (variable, value, service) in &self.past_murphy {
            let _ = writeln!(
                text,
                "  {variable}={value} leads to `{service}` itself, past Murphy: write `{{{service}.url}}` there"
            );
        }
        let _ = writeln!(text, "  calls seen elsewhere: {}", self.calls());
        if !self.ignored.is_empty() {
            let services = self.ignored.join(", ");
            let _ = writeln!(
                text,
                "  calls to ignored paths of {services} were seen (health checks, `[inject] ignore`)"
            );
        }
        text
    }

    fn calls(&self) -> String {
        if self.elsewhere.is_empty() {
            return "none".to_owned();
        }
        let some = self.elsewhere.iter().take(MOST_CALLS).cloned();
        let more = match self.elsewhere.len().saturating_sub(MOST_CALLS) {
            0 => None,
            more => Some(format!("and {}", counted(more, "more call"))),
        };
        some.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// The way out.
    fn way_out(&self) -> String {
        let (service, _) = self.entries.first().cloned().unwrap_or_default();
        let own = match &self.told[..] {
            [(name, _), ..] => name.clone(),
            [] => url_variable(&service),
        };
        // A test that was typed is in no file.
        let hand_over = match self.scenario.as_str() {
            TYPED => format!("`NAME = \"{{{service}.url}}\"` to `[env]`"),
            name => format!("`env = {{ NAME = \"{{{service}.url}}\" }}` to `[scenario.{name}]`"),
        };
        format!(
            "let the test call the address in {own}; where it reads another variable, add {hand_over}; where the address is in its source, set `listen` of the service to that address and move the service"
        )
    }

    /// In place of what else is said where nothing was tested.
    pub fn complaint(&self) -> String {
        format!(
            "nothing was tested: nothing reached an entry, so the test made no call that Murphy could follow\n{}hint: {}",
            self.facts(),
            self.way_out()
        )
    }

    /// Beside a result.
    pub fn note(&self) -> String {
        format!(
            "note: nothing reached an entry, so what the test itself calls is not known\n{}hint: {}",
            self.facts(),
            self.way_out()
        )
    }

    /// A test that fails without faults may do so for this reason.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Reference {
                complaint,
                output,
                hint,
            } => Error::Reference {
                complaint,
                output,
                hint: format!(
                    "{hint}\nhint: nothing reached an entry, which may be why: {}\n{}",
                    self.way_out(),
                    self.facts().trim_end()
                ),
            },
            other => other,
        }
    }

    /// A section of a report.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "\nNOTHING reached an entry")?;
        write!(out, "{}", self.facts())?;
        writeln!(out, "  {}", self.way_out())
    }
}

/// The proxied services; first those that no other one is told of, which are
/// more likely to be a test's to call.
fn likely_entries_first(system: &SystemSpec) -> Vec<String> {
    let alone = bypassed(system, &[]).into_iter();
    let alone: Vec<&str> = alone.map(|it| it.name.as_str()).collect();
    let services = system.services.iter().filter(|it| it.proxied);
    let mut all: Vec<String> = services.map(|it| it.name.clone()).collect();
    all.sort_by_key(|it| !alone.contains(&it.as_str()));
    all
}

/// Whether a call came in where only the test calls, or may have: what stands
/// on its own was made by somebody else.
fn enters(observed: &Observed) -> bool {
    let trace = &observed.execution.trace;
    trace.ids().any(|id| {
        let link = observed.detail(id).map(|detail| detail.link);
        trace.call(id).parent.is_none() && link != Some(Link::Orphan)
    })
}

/// The variables of a test that hold an entry: its own, which it was given on
/// purpose, before those that every test has.
fn told(command: &CommandSpec, entries: &[(String, String)]) -> Vec<(String, String)> {
    let place = |(name, at): &(String, String)| Some((name.clone(), Place::parse(at)?));
    let places: Places = entries.iter().filter_map(place).collect();
    let own = command.environment.iter().filter_map(|(name, value)| {
        let is_entry = names(value).is_ok_and(|names| !names.is_empty());
        let value = expand(value, &places, None).ok()?;
        is_entry.then(|| (name.clone(), value))
    });
    let usual = entries
        .iter()
        .map(|(name, at)| (url_variable(name), format!("http://{at}")));
    own.chain(usual).collect()
}

/// The variables that a test was given and that lead to a service itself.
fn past_murphy(
    command: &CommandSpec,
    world: &LiveWorld,
    services: &[String],
) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (variable, value) in &command.environment {
        let address = value.split_once("://").map_or(&**value, |(_, rest)| rest);
        let address = address.split('/').next().unwrap_or_default();
        let address = address.replace("localhost:", "127.0.0.1:");
        let is_there = |it: &&String| world.system().direct(it).as_ref() == Some(&address);
        if let Some(service) = services.iter().find(is_there) {
            all.push((variable.clone(), value.clone(), service.clone()));
        }
    }
    all
}

/// The calls that were seen, but came in elsewhere. What they sent is of no
/// interest.
fn elsewhere(world: &LiveWorld, observed: &Observed) -> Vec<String> {
    let unattributed = world.unattributed().into_iter().map(|it| it.at);
    let calls = observed.execution.trace.calls().iter();
    let calls = calls.map(|call| call.point.clone());
    let all = unattributed.chain(calls).chain(world.lost_in_trials());
    let mut shown: Vec<String> = Vec::new();
    for at in all {
        let frame = at.frame();
        let call = format!("{} {}", frame.destination, frame.interface);
        if !shown.contains(&call) {
            shown.push(call);
        }
    }
    shown
}
