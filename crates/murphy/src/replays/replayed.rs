//! What became of a finding.

use std::fmt;
use std::io::{self, Write};

use murphy_campaign::BrokenWorld;
use murphy_model::{Observed, Severity, Trace, Verdict};
use murphy_oracle::Oracle;
use murphy_report::terminal;

use super::{Held, Replay, ReplayError};

/// A finding that was replayed. Written as the text that the command line
/// shows, without colours.
#[derive(Clone, Debug)]
pub struct Replayed {
    replay: Replay,
    word: Word,
    /// The execution that the word is about.
    observed: Observed,
    /// How many faultloads were tried.
    tried: usize,
    /// How often one was repeated, because it is luck into which of several
    /// equal calls its fault is injected.
    repeats: usize,
    left: Option<BrokenWorld>,
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
    /// It showed after other executions, and nothing is known that brings it
    /// about alone.
    NotAlone,
}

impl Word {
    /// A failure outweighs all, and what was not reached is not fixed.
    fn gravity(&self) -> u8 {
        match self {
            Word::Fixed => 0,
            Word::NotReached { .. } | Word::NotAlone => 1,
            Word::Failed { .. } => 2,
        }
    }
}

impl Replayed {
    /// What became of it, by what was seen and what is held against that.
    #[doc(hidden)]
    pub fn new(replay: Replay, observed: Observed, held: &[Held]) -> Result<Self, ReplayError> {
        let found_by = match replay.after {
            // Whichever complains of a run without faults found the same.
            Some(_) => held.iter().find(|one| one.severity == Severity::Fail),
            None => None,
        };
        let found_by = found_by.map_or_else(|| replay.oracle(), |one| Ok(one.oracle))?;
        let word = match complaint(found_by, held) {
            Some(complaint) => Word::Failed { complaint },
            None if replay.is_lost() => Word::NotAlone,
            None => without_complaint(&observed),
        };
        Ok(Replayed {
            replay,
            word,
            observed,
            tried: 1,
            repeats: 0,
            left: None,
        })
    }

    /// The same after these executions: unless all their faults were injected,
    /// nothing can be said.
    #[doc(hidden)]
    pub fn after(mut self, before: &[Observed]) -> Self {
        let missed = before.iter().filter_map(|it| match without_complaint(it) {
            Word::NotReached { missing } => Some(missing),
            _ => None,
        });
        let missing: Vec<String> = missed.flatten().collect();
        if self.word == Word::Fixed && !missing.is_empty() {
            self.word = Word::NotReached { missing };
        }
        self
    }

    /// What became of it under another of its faultloads too: it is fixed only
    /// if it is under all.
    #[doc(hidden)]
    pub fn and(self, other: Replayed) -> Self {
        let tried = self.tried + other.tried;
        let repeats = self.repeats + other.repeats;
        let worse = match other.word.gravity() > self.word.gravity() {
            true => other,
            false => self,
        };
        Replayed {
            tried,
            repeats,
            ..worse
        }
    }

    /// The same faultload once more.
    pub(super) fn once_more(self, other: Replayed) -> Self {
        let (tried, repeats) = (self.tried, self.repeats + 1);
        Replayed {
            tried,
            repeats,
            ..self.and(other)
        }
    }

    /// Whether a fault was injected into one of several equal calls that were
    /// made at the same time.
    pub(super) fn is_luck(&self) -> bool {
        let trace = self.trace();
        let mut ids = trace.ids();
        ids.any(|id| trace.call(id).injected.is_some() && trace.has_twin(id))
    }

    /// The same, and what went wrong when all was over.
    pub(crate) fn leaving(self, left: Option<BrokenWorld>) -> Self {
        Replayed { left, ..self }
    }

    /// What became of it.
    pub fn word(&self) -> &Word {
        &self.word
    }

    /// The calls there were.
    pub fn trace(&self) -> &Trace {
        &self.observed.execution.trace
    }

    /// What went wrong when all was over: a step of the teardown that failed, or
    /// a service that could not be brought back for it. What became of the
    /// finding stands.
    pub fn left_behind(&self) -> Option<&BrokenWorld> {
        self.left.as_ref()
    }

    /// Panics with what was seen unless the finding is fixed: also if its
    /// faults had nothing to strike, which tells nothing, or if the teardown
    /// failed.
    #[track_caller]
    pub fn assert_fixed(&self) {
        if self.word != Word::Fixed {
            panic!("{self}");
        }
        if let Some(left) = &self.left {
            panic!("it is fixed, but the teardown failed: {left}\n\n{self}");
        }
    }

    /// Writes it for a terminal.
    #[doc(hidden)]
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (id, scenario) = (&self.replay.id, &self.replay.scenario);
        match &self.word {
            Word::Failed { complaint } => {
                let lines: Vec<String> = complaint.lines().map(terminal::visible).collect();
                writeln!(out, "{id} FAILED: {}", lines.join("\n"))?;
            }
            Word::Fixed if self.replay.after.is_some() => writeln!(
                out,
                "{id} FIXED: all faults were injected, and `{scenario}` passed without faults afterwards"
            )?,
            Word::NotAlone => writeln!(
                out,
                "{id} cannot be replayed alone: it showed after other executions, and `{scenario}` passes now\n  run the campaign again to see whether it is gone"
            )?,
            Word::Fixed if self.tried > 1 => writeln!(
                out,
                "{id} FIXED: in each of {} variants all faults were injected and `{scenario}` passed",
                self.tried
            )?,
            Word::Fixed => writeln!(
                out,
                "{id} FIXED: all faults were injected and `{scenario}` passed"
            )?,
            Word::NotReached { missing } => {
                writeln!(out, "{id} NOT REACHED: no call matched these faults")?;
                for fault in missing {
                    writeln!(out, "  {fault}")?;
                }
            }
        }
        for faults in self.replay.after.iter().flatten() {
            writeln!(out, "  after {}", faults)?;
        }
        for fault in self.observed.execution.faultload.faults() {
            writeln!(out, "  with {fault}")?;
        }
        if self.repeats > 0 {
            writeln!(
                out,
                "  repeated {} times: equal calls are made at the same time, and a fault may be injected into either",
                self.repeats
            )?;
        }
        terminal::write_calls(self.trace(), out)?;
        match (self.observed.printed(), &self.word) {
            (Some(output), Word::Failed { .. }) => {
                writeln!(out, "\nWhat was printed")?;
                output
                    .lines()
                    .try_for_each(|line| writeln!(out, "  | {}", terminal::visible(line)))
            }
            _ => Ok(()),
        }
    }
}

/// What is still wrong: what was found, or something else that fails. That
/// faults had nothing to strike is no failure here, but a word of its own.
fn complaint(found_by: Oracle, held: &[Held]) -> Option<String> {
    let same = held.iter().find(|one| one.oracle == found_by);
    if let Some(same) = same {
        return Some(same.complaint.clone());
    }
    let fails = |one: &&Held| one.severity == Severity::Fail && one.oracle != Oracle::NotExercised;
    let other = held.iter().find(fails)?;
    let Held {
        oracle, complaint, ..
    } = other;
    Some(format!(
        "not as it was found, but by the oracle {}: {complaint}",
        oracle.name()
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_fixed_in_every_variant_is_fixed() {
        let failed = Word::Failed {
            complaint: String::new(),
        };
        let missed = Word::NotReached {
            missing: Vec::new(),
        };
        let mut words = [&failed, &Word::Fixed, &missed];
        words.sort_by_key(|word| word.gravity());
        assert_eq!(words, [&Word::Fixed, &missed, &failed]);
    }

    fn held(oracle: Oracle, severity: Severity) -> Held {
        Held {
            oracle,
            severity,
            complaint: "no".to_owned(),
        }
    }

    fn replay(faultload: &[&str], after: Option<&[&str]>) -> Replay {
        let identity = murphy_model::Identity::default();
        let replay = serde_json::json!({
            "format": murphy_model::FORMAT, "murphy": "", "id": "M-1", "scenario": "buys", "oracle": "scenario", "summary": "",
            "faultload": faultload, "identity": identity, "system": "program",
            "after": after.map(|after| vec![after]),
        });
        serde_json::from_value(replay).unwrap()
    }

    /// Passed under these faults, of which none found a call.
    fn passed(faults: &str) -> Observed {
        let execution = murphy_model::Execution {
            faultload: faults.parse().unwrap(),
            trace: Trace::default(),
            verdict: Verdict::Passed,
        };
        Observed::bare(execution, std::time::Duration::ZERO)
    }

    #[test]
    fn an_empty_faultload_is_never_fixed() {
        let fault = "a GET / > b GET / = 503";
        let word = |replay: Replay, before: &[Observed]| {
            let replayed = Replayed::new(replay, passed("none"), &[]).unwrap();
            replayed.after(before).word
        };
        assert_eq!(word(replay(&[], None), &[]), Word::NotAlone);
        let mut lost = replay(&[fault], None);
        lost.after = Some(Vec::new());
        assert_eq!(word(lost, &[]), Word::NotAlone);
        let known = || replay(&[fault], Some(&[fault]));
        let missing = vec![fault.to_owned()];
        assert_eq!(
            word(known(), &[passed(fault)]),
            Word::NotReached { missing }
        );
        assert_eq!(word(known(), &[]), Word::Fixed);
    }

    #[test]
    fn what_fails_in_another_way_is_not_fixed() {
        let found_by = Oracle::Scenario;
        let word = |held: &[Held]| complaint(found_by, held);
        assert_eq!(word(&[]), None);
        let same = held(Oracle::Scenario, Severity::Warn);
        assert_eq!(word(&[same]).as_deref(), Some("no"));
        let other = held(Oracle::NoCause, Severity::Fail);
        let said = word(&[other]).unwrap();
        assert!(said.contains("the oracle no-cause: no"), "{said}");
        let warning = held(Oracle::NoCause, Severity::Warn);
        let missed = held(Oracle::NotExercised, Severity::Fail);
        assert_eq!(word(&[warning, missed]), None);
    }
}
