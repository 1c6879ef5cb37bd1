//! What became of a faultload, in sentences.

use std::io::{self, Write};

use super::label::Labels;
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use crate::{Explained, Fate, Meaning};

pub(super) fn write(explained: &Explained, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&explained.points);
    for (i, meaning) in explained.meanings.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_meaning(meaning, &labels, out)?;
    }
    if explained.impossible > 0 {
        writeln!(
            out,
            "\n{QUIET}{} other readings of it name calls that do not happen together.{QUIET:#}",
            explained.impossible
        )?;
    }
    match explained.more {
        true => writeln!(
            out,
            "\n{QUIET}It may mean more than these; name the calls more exactly to see others.{QUIET:#}"
        ),
        false => Ok(()),
    }
}

fn write_meaning(meaning: &Meaning, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    match meaning.faultload.is_empty() {
        true => writeln!(out, "{TITLE}no faults{TITLE:#} (the reference)")?,
        false => {
            for fault in meaning.faultload.faults() {
                writeln!(out, "{TITLE}{}{TITLE:#}", labels.fault(&fault))?;
            }
        }
    }
    write_fate(&meaning.fate, labels, out)
}

fn write_fate(fate: &Fate, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    match fate {
        Fate::Run { number, complaint } => {
            writeln!(out, "  {GOOD}run{GOOD:#} as execution {number}")?;
            match complaint {
                Some(complaint) => writeln!(out, "  {BAD}failed:{BAD:#} {complaint}"),
                None => writeln!(out, "  the scenario passed"),
            }
        }
        Fate::Skipped {
            policy,
            reasons,
            predicted,
            ..
        } => {
            writeln!(
                out,
                "  {CAREFUL}skipped{CAREFUL:#} by {TITLE}{policy}{TITLE:#}, because"
            )?;
            for reason in reasons {
                writeln!(out, "  - {}", labels.sentence(reason))?;
            }
            match predicted {
                Some(reply) => writeln!(out, "  the scenario would get: {reply}"),
                None => Ok(()),
            }
        }
        Fate::Open { reason } => writeln!(
            out,
            "  {CAREFUL}open{CAREFUL:#}: {}",
            labels.sentence(reason)
        ),
    }
}
