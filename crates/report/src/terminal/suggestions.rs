//! What else to try: commands to type, each with its reason.

use std::io::{self, Write};

use super::heading;
use super::style::QUIET;
use crate::{Suggestion, Summary, suggestions};

pub(super) fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let all = suggestions(summary);
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
