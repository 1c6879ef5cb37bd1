//! What else to try: commands to type, each with its reason.

use std::io::{self, Write};

use super::heading;
use super::style::QUIET;
use crate::{Suggestion, Summary, suggestions};

/// More than this is advice that nobody follows.
const MOST: usize = 3;

/// What the scenarios of a run suggest; the same modes are told once.
pub(super) fn write(summaries: &[&Summary], out: &mut dyn Write) -> io::Result<()> {
    let mut all: Vec<Suggestion> = Vec::new();
    for suggestion in summaries.iter().flat_map(|summary| suggestions(summary)) {
        if !all.iter().any(|other| other.modes == suggestion.modes) {
            all.push(suggestion);
        }
    }
    all.truncate(MOST);
    if all.is_empty() {
        return Ok(());
    }
    heading("What else to try", out)?;
    let what = |it: &Suggestion| it.command.clone().unwrap_or(format!("modes {}", it.modes));
    let width = all.iter().map(|it| what(it).chars().count()).max();
    for suggestion in &all {
        writeln!(
            out,
            "  {:width$}  {QUIET}{}{QUIET:#}",
            what(suggestion),
            suggestion.why,
            width = width.unwrap_or_default()
        )?;
    }
    Ok(())
}
