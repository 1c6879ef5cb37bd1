//! What to change before a campaign, most urgent first, over all scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use murphy_campaign::{Failed, Refused};
use murphy_model::Link;
use murphy_report::point_text;

use super::{Report, Room, advice};

/// Something to change, in the order of urgency.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Fails,
    Flaky,
    Unstable,
    UnseenCalls,
    UnseenService(String),
    NothingToInject,
    NoContextFrom(String),
    GuessedCallers,
    OnlyInTheFirstRun(String),
}

/// What to change, with the scenarios that show it. Scenarios of one system
/// have most of it in common, so it is said once.
#[derive(Default)]
pub(super) struct Changes {
    scenarios: usize,
    changes: BTreeMap<Change, BTreeSet<String>>,
}

impl Changes {
    /// Adds what a scenario shows.
    pub(super) fn add(&mut self, report: &Report<'_>) {
        self.scenarios += 1;
        for change in changes(report) {
            let scenarios = self.changes.entry(change).or_default();
            scenarios.insert(report.scenario.name.clone());
        }
    }

    /// Writes the changes by number, or that there are none to make; nothing
    /// where no scenario was run.
    pub(super) fn write(
        &self,
        typed_command: bool,
        room: Room,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.scenarios == 0 {
            return Ok(());
        }
        writeln!(out, "\nWhat to change")?;
        if self.changes.is_empty() {
            let next = match typed_command {
                false => "`murphy run`",
                true => "`murphy run -- …` with the same test",
            };
            return writeln!(out, "  nothing: {next} can begin");
        }
        for (number, change) in (1..).zip(self.texts(room)) {
            let mut lines = change.lines();
            writeln!(out, "  {number}. {}", lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| writeln!(out, "     {line}"))?;
        }
        Ok(())
    }

    /// The changes in words; services with the same trouble are named together.
    fn texts(&self, room: Room) -> Vec<String> {
        let mut texts = Vec::new();
        let mut unseen: BTreeSet<&str> = BTreeSet::new();
        let mut without_context: BTreeSet<&str> = BTreeSet::new();
        for change in self.changes.keys() {
            match change {
                Change::UnseenService(service) => unseen.insert(service),
                Change::NoContextFrom(service) => without_context.insert(service),
                _ => continue,
            };
        }
        for (change, scenarios) in &self.changes {
            let text = match change {
                Change::UnseenService(_) if unseen.is_empty() => continue,
                Change::UnseenService(_) => self.unseen(&std::mem::take(&mut unseen)),
                Change::NoContextFrom(_) if without_context.is_empty() => continue,
                Change::NoContextFrom(_) => {
                    advice::how_to_propagate(&std::mem::take(&mut without_context), room)
                }
                other => format!("{}{}", alone(other), self.not_all(scenarios)),
            };
            texts.push(text);
        }
        texts
    }

    fn unseen(&self, services: &BTreeSet<&str>) -> String {
        let named = |service: &&str| {
            let change = Change::UnseenService((*service).to_owned());
            let scenarios = self.changes.get(&change);
            let not_all = scenarios.map(|it| self.not_all(it));
            format!("{service}{}", not_all.unwrap_or_default())
        };
        let services: Vec<String> = services.iter().map(named).collect();
        format!(
            "Let Murphy see the calls to {}, or say that there are none (see NOT seen).",
            services.join(", ")
        )
    }

    /// Which scenarios show it, if not all of them do.
    fn not_all(&self, scenarios: &BTreeSet<String>) -> String {
        match scenarios.len() < self.scenarios {
            true => {
                let names: Vec<&str> = scenarios.iter().map(String::as_str).collect();
                format!(" ({})", names.join(", "))
            }
            false => String::new(),
        }
    }
}

/// The text of a change that is said by itself.
fn alone(change: &Change) -> String {
    match change {
        Change::Fails => "Make the test pass without faults: they tell nothing about what is broken\nwithout them.".to_owned(),
        Change::Flaky => "Make the test pass every time without faults.".to_owned(),
        Change::Unstable => "Make the test lead to the same calls every time (see the error).".to_owned(),
        Change::UnseenCalls => "Let calls say who made them (see NOT seen).".to_owned(),
        Change::NothingToInject => "Let services call each other by their proxies: `{NAME.url}` in `env` or\n`command`, or a `listen` address.".to_owned(),
        Change::GuessedCallers => "Where who made a call is a guess, say whom each service calls: `calls = [\"…\"]`\nin `[services.NAME]`.".to_owned(),
        Change::OnlyInTheFirstRun(at) => format!(
            "`{at}` is made only in the first run after a\nstart: `[system] restart = \"execution\"` tests it, and a `setup` request that makes\nit leaves it out on purpose."
        ),
        Change::UnseenService(_) | Change::NoContextFrom(_) => String::new(),
    }
}

fn changes(report: &Report<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(match report.settled {
        Err(Failed::Refused(Refused::Fails { .. })) => Some(Change::Fails),
        Err(Failed::Refused(Refused::Flaky { .. })) => Some(Change::Flaky),
        Err(Failed::Refused(Refused::Unstable { .. })) => Some(Change::Unstable),
        _ => None,
    });
    if !report.unseen.calls.is_empty() {
        changes.push(Change::UnseenCalls);
    }
    let unseen = report.unseen.services.iter().cloned();
    changes.extend(unseen.map(Change::UnseenService));
    if report.faults().is_empty() {
        changes.push(Change::NothingToInject);
    }
    let suspects = report.suspects().into_iter().map(str::to_owned);
    changes.extend(suspects.map(Change::NoContextFrom));
    let is_guess = |link: &Link| matches!(link, Link::Ambiguous | Link::Background);
    if report.observed.details.iter().any(|it| is_guess(&it.link)) {
        changes.push(Change::GuessedCallers);
    }
    let first_run = report.settled.map_or(&[][..], |it| &it.chosen.first_run);
    let first_run = first_run.iter().map(|at| point_text(at).to_string());
    changes.extend(first_run.map(Change::OnlyInTheFirstRun));
    changes
}
