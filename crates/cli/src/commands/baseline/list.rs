//! The entries of a baseline, each with whether it still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use murphy_report::bug_name;
use murphy_report::terminal::visible;
use murphy_store::baseline::{Date, Entry};

use crate::args::BaselineListArgs;
use crate::context::Context;
use crate::error::Error;
use crate::stored::{self, Stored};
use crate::{baseline_filter, campaign_record, exit, output};

/// Whether an entry is of use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It excuses its finding.
    Holds,
    /// Its day is over: it excuses nothing.
    Expired,
    /// The last complete campaign did not find it any more.
    Stale,
}

pub(super) fn run(args: &BaselineListArgs, context: &Context) -> Result<u8, Error> {
    let file = super::file_of(&args.file, context)?;
    let baseline = baseline_filter::load(&file)?;
    let found = found_last(&args.file.config, context)?;
    let today = baseline_filter::today();
    let entries = baseline.entries().iter();
    let entries = entries.map(|entry| (entry, state(entry, &found, &today)));
    let entries: Vec<(&Entry, State)> = entries.collect();
    output::write(|out| write(&entries, &file, out))?;
    Ok(exit::OK)
}

/// What the last campaigns found, by scenario, where they looked everywhere: only
/// then is a bug known to be gone.
#[derive(Default)]
struct FoundLast {
    ids: BTreeMap<String, Vec<String>>,
    /// The bugs, in whatever scenario.
    bugs: BTreeSet<String>,
}

fn found_last(config: &Option<std::path::PathBuf>, context: &Context) -> Result<FoundLast, Error> {
    let mut found = FoundLast::default();
    let Some(stored) = Stored::open_if_any(config.as_deref(), context)? else {
        return Ok(found);
    };
    let mut campaigns = stored.last()?;
    campaigns.retain(|entry| {
        entry.incomplete.is_none() && !campaign_record::asked(&entry.settings).search.is_narrowed()
    });
    for entry in &campaigns {
        found.ids.entry(entry.scenario.clone()).or_default();
    }
    for stored::Found { entry, finding } in stored.findings(campaigns)? {
        found.bugs.insert(bug_name(&finding));
        found
            .ids
            .entry(entry.scenario)
            .or_default()
            .push(finding.id);
    }
    Ok(found)
}

fn state(entry: &Entry, found: &FoundLast, today: &Date) -> State {
    let ids = found.ids.get(&entry.scenario);
    let is_elsewhere = found.bugs.iter().any(|bug| entry.is_about(bug));
    match () {
        () if !is_elsewhere && ids.is_some_and(|ids| !ids.contains(&entry.id)) => State::Stale,
        () if entry.is_expired(today) => State::Expired,
        () => State::Holds,
    }
}

fn write(entries: &[(&Entry, State)], file: &Path, out: &mut dyn Write) -> io::Result<()> {
    if entries.is_empty() {
        return writeln!(
            out,
            "{}: no finding is taken as known\n  `murphy baseline add ID` adds one of the last campaigns",
            file.display()
        );
    }
    let of = |state: State| entries.iter().filter(move |(_, it)| *it == state);
    writeln!(
        out,
        "{}: {} of {} hold",
        file.display(),
        of(State::Holds).count(),
        match entries.len() {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        }
    )?;
    for (entry, state) in entries {
        writeln!(out)?;
        write_entry(entry, *state, out)?;
    }
    let ids = |state: State| {
        let mut ids: Vec<&str> = of(state).map(|(entry, _)| entry.id.as_str()).collect();
        ids.dedup();
        ids.join(" ")
    };
    for (state, advice) in [
        (
            State::Stale,
            "Stale: the last complete campaign did not find them. Take them out: murphy baseline remove",
        ),
        (
            State::Expired,
            "Expired: what they are about fails the build. Fix it, or renew: murphy baseline add --expires DATE",
        ),
    ] {
        if of(state).next().is_some() {
            writeln!(out, "\n{advice} {}", ids(state))?;
        }
    }
    Ok(())
}

fn write_entry(entry: &Entry, state: State, out: &mut dyn Write) -> io::Result<()> {
    let mut title = vec![entry.id.clone(), entry.scenario.clone()];
    title.extend((!entry.class.is_empty()).then(|| entry.class.clone()));
    title.extend(entry.added.as_ref().map(|day| format!("added {day}")));
    title.extend(entry.expires.as_ref().map(|day| match state {
        State::Expired => format!("EXPIRED on {day}"),
        _ => format!("expires {day}"),
    }));
    if state == State::Stale {
        title.push("STALE".to_owned());
    }
    writeln!(out, "  {}", visible(&title.join("  ")))?;
    let modes = entry.modes.join(", ");
    let call = match (entry.call.as_str(), modes.as_str()) {
        ("", "") => None,
        ("", modes) => Some(format!("with {modes}")),
        (call, "") => Some(call.to_owned()),
        (call, modes) => Some(format!("{call} = {modes}")),
    };
    if let Some(call) = call {
        writeln!(out, "    {}", visible(&call))?;
    }
    if let Some(summary) = entry.summary.lines().next() {
        writeln!(out, "    {}", visible(summary))?;
    }
    match entry.reason.as_str() {
        "" => writeln!(out, "    no reason given"),
        reason => writeln!(out, "    reason: {}", visible(reason)),
    }
}

#[cfg(test)]
mod tests {
    use murphy_store::baseline::{Baseline, Excuse, ToKnow};

    use super::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn an_entry_is_stale_once_no_scenario_shows_its_bug() {
        let known = ToKnow {
            id: "M-1",
            class: "no-handling",
            call: String::new(),
            bug: "the cart".to_owned(),
            summary: "it failed",
            modes: BTreeSet::new(),
        };
        let excuse = Excuse {
            reason: String::new(),
            expires: Some(day("2026-12-31")),
        };
        let mut baseline = Baseline::default();
        baseline.add("buy", [known], &excuse, &day("2026-11-16"));
        let entry = &baseline.entries()[0];
        let found = |scenario: &str, ids: &[&str], bugs: &[&str]| FoundLast {
            ids: [(
                scenario.to_owned(),
                ids.iter().map(|it| (*it).to_owned()).collect(),
            )]
            .into(),
            bugs: bugs.iter().map(|it| (*it).to_owned()).collect(),
        };
        let cases = [
            (found("buy", &["M-1"], &[]), State::Holds),
            (found("buy", &[], &["the stock"]), State::Stale),
            (found("buy", &[], &["the cart"]), State::Holds),
            (found("pay", &[], &[]), State::Holds),
        ];
        for (at, (found, expected)) in cases.into_iter().enumerate() {
            let is_so = state(entry, &found, &day("2026-12-01")) == expected;
            assert!(is_so, "case {at}");
        }
        let found = found("buy", &[], &["the cart"]);
        assert!(state(entry, &found, &day("2027-01-01")) == State::Expired);
    }
}
