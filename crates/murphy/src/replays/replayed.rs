//! What became of a finding.

use std::fmt;
use std::io::{self, Write};

use murphy_model::{Observed, Trace, Verdict};
use murphy_oracle::Oracle;
use murphy_report::terminal;

use super::{Replay, ReplayError};

/// A finding that was replayed. Written as the text that the command line
/// shows, without colours.
#[derive(Clone, Debug)]
pub struct Replayed {
    replay: Replay,
    word: Word,
    observed: Observed,
}

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// It still shows.
    Failed {
        /// What is held against it.
        complaint: String,
    },
    /// All faults struck, and nothing is held against it.
    Fixed,
    /// Not all faults struck: nothing can be said.
    NotReached {
        /// Those that did not.
        missing: Vec<String>,
    },
}

impl Replayed {
    /// What became of it, by what was seen and what oracles hold against that.
    #[doc(hidden)]
    pub fn new(
        replay: Replay,
        observed: Observed,
        said: Vec<(Oracle, String)>,
    ) -> Result<Self, ReplayError> {
        let oracle = replay.oracle()?;
        let same = said.into_iter().find(|(spoke, _)| *spoke == oracle);
        let word = match same {
            Some((_, complaint)) => Word::Failed { complaint },
            None => without_complaint(&observed),
        };
        Ok(Replayed {
            replay,
            word,
            observed,
        })
    }

    /// What became of it.
    pub fn word(&self) -> &Word {
        &self.word
    }

    /// The calls there were.
    pub fn trace(&self) -> &Trace {
        &self.observed.execution.trace
    }

    /// Panics with what was seen unless the finding is fixed: also if its
    /// faults had nothing to strike, which tells nothing.
    #[track_caller]
    pub fn assert_fixed(&self) {
        if self.word != Word::Fixed {
            panic!("{self}");
        }
    }

    /// Writes it for a terminal.
    #[doc(hidden)]
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (id, scenario) = (&self.replay.id, &self.replay.scenario);
        match &self.word {
            Word::Failed { complaint } => writeln!(out, "{id} FAILED: {complaint}")?,
            Word::Fixed => writeln!(
                out,
                "{id} FIXED: all its faults struck, and `{scenario}` is content"
            )?,
            Word::NotReached { missing } => {
                writeln!(out, "{id} NOT REACHED: these faults had nothing to strike")?;
                for fault in missing {
                    writeln!(out, "  {fault}")?;
                }
            }
        }
        for fault in &self.replay.faultload {
            writeln!(out, "  with {fault}")?;
        }
        terminal::write_calls(self.trace(), out)?;
        match (&self.observed.output, &self.word) {
            (Some(output), Word::Failed { .. }) => {
                writeln!(out, "\nWhat was printed")?;
                output
                    .lines()
                    .try_for_each(|line| writeln!(out, "  | {line}"))
            }
            _ => Ok(()),
        }
    }
}

fn without_complaint(observed: &Observed) -> Word {
    let execution = &observed.execution;
    if let Verdict::NotExercised { missing } = &execution.verdict {
        return Word::NotReached {
            missing: missing.iter().map(|fault| fault.to_string()).collect(),
        };
    }
    let struck = execution.trace.struck();
    let missing: Vec<String> = execution
        .faultload
        .faults()
        .filter(|fault| !struck.faults().any(|other| other == *fault))
        .map(|fault| fault.to_string())
        .collect();
    match missing.is_empty() {
        true => Word::Fixed,
        false => Word::NotReached { missing },
    }
}

impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write(&mut text).map_err(|_| fmt::Error)?;
        let text = String::from_utf8_lossy(&text);
        f.write_str(&anstream::adapter::strip_str(&text).to_string())
    }
}
