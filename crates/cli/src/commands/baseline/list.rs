//! The entries of a baseline, each with whether it still holds.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

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

/// What the last campaign of each scenario found, where it looked everywhere:
/// only then is a bug known to be gone.
fn found_last(
    config: &Option<std::path::PathBuf>,
    context: &Context,
) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let Some(stored) = Stored::open_if_any(config.as_deref(), context)? else {
        return Ok(found);
    };
    let mut campaigns = stored.last()?;
    campaigns.retain(|entry| {
        entry.incomplete.is_none() && !campaign_record::asked(&entry.settings).search.is_narrowed()
    });
    for entry in &campaigns {
        found.entry(entry.scenario.clone()).or_default();
    }
    for stored::Found { entry, finding } in stored.findings(campaigns)? {
        found.entry(entry.scenario).or_default().push(finding.id);
    }
    Ok(found)
}

fn state(entry: &Entry, found: &BTreeMap<String, Vec<String>>, today: &Date) -> State {
    let found = found.get(&entry.scenario);
    match () {
        () if found.is_some_and(|found| !found.contains(&entry.id)) => State::Stale,
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
