//! What became of a finding.

use std::fmt;
use std::io::{self, Write};

use murphy_campaign::SetupError;
use murphy_model::{Fault, Observed, Severity, Trace, Verdict};
use murphy_oracle::Oracle;
use murphy_report::{fault_text, faultload_text, terminal};

use super::{Complaint, Replay, ReplayError};

/// A finding that was replayed. Written as the text that the command line
/// shows, without colours.
#[derive(Clone, Debug)]
pub struct Replayed {
    replay: Replay,
    result: ReplayResult,
    /// The execution that the result is about.
    observed: Observed,
    /// How many faultloads were tried.
    tried: usize,
    /// How often one was repeated, because it is luck into which of several
    /// equal calls its fault is injected.
    repeats: usize,
    left: Option<SetupError>,
}

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayResult {
    /// It still shows.
    Failed {
        /// Complaints about it.
        complaint: String,
    },
    /// All faults were injected, and no oracle complains.
    Fixed,
    /// Not all faults were injected: nothing can be said.
    NotReached {
        /// Those that did not.
        missing: Vec<String>,
    },
    /// It showed after other executions, and nothing is known that brings it
    /// about alone.
    NotAlone,
}

impl ReplayResult {
    /// A failure outweighs all, and what was not reached is not fixed.
    fn gravity(&self) -> u8 {
        match self {
            ReplayResult::Fixed => 0,
            ReplayResult::NotReached { .. } | ReplayResult::NotAlone => 1,
            ReplayResult::Failed { .. } => 2,
        }
    }
}

impl Replayed {
    /// What became of it, by what was seen and complaints about that.
    #[doc(hidden)]
    pub fn new(
        replay: Replay,
        observed: Observed,
        complaints: &[Complaint],
    ) -> Result<Self, ReplayError> {
        let found_by = match replay.after {
            // Whichever complains of a run without faults found the same.
            Some(_) => complaints.iter().find(|one| one.severity == Severity::Fail),
            None => None,
        };
        let found_by = found_by.map_or_else(|| replay.oracle(), |one| Ok(one.oracle))?;
        let result = match complaint(found_by, complaints) {
            Some(complaint) => ReplayResult::Failed { complaint },
            None if replay.is_lost() => ReplayResult::NotAlone,
            None => without_complaint(&observed),
        };
        Ok(Replayed {
            replay,
            result,
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
            ReplayResult::NotReached { missing } => Some(missing),
            _ => None,
        });
        let missing: Vec<String> = missed.flatten().collect();
        if self.result == ReplayResult::Fixed && !missing.is_empty() {
            self.result = ReplayResult::NotReached { missing };
        }
        self
    }

    /// What became of it under another of its faultloads too: it is fixed only
    /// if it is under all.
    #[doc(hidden)]
    pub fn and(self, other: Replayed) -> Self {
        let tried = self.tried + other.tried;
        let repeats = self.repeats + other.repeats;
        let worse = match other.result.gravity() > self.result.gravity() {
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
    pub(crate) fn leaving(self, left: Option<SetupError>) -> Self {
        Replayed { left, ..self }
    }

    /// What became of it.
    pub fn result(&self) -> &ReplayResult {
        &self.result
    }

    /// The calls there were.
    pub fn trace(&self) -> &Trace {
        &self.observed.execution.trace
    }

    /// What went wrong when all was over: a step of the teardown that failed, or
    /// a service that could not be brought back for it. What became of the
    /// finding stands.
    pub fn left_behind(&self) -> Option<&SetupError> {
        self.left.as_ref()
    }

    /// Panics with what was seen unless the finding is fixed: also if its
    /// faults matched no call, which tells nothing, or if the teardown
    /// failed.
    #[track_caller]
    pub fn assert_fixed(&self) {
        if self.result != ReplayResult::Fixed {
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
        let ended = match self.observed.execution.verdict {
            Verdict::Refused { .. } => "was refused honestly, as `under_fault` allows",
            _ => "passed",
        };
        match &self.result {
            ReplayResult::Failed { complaint } => {
                let lines: Vec<String> = complaint.lines().map(terminal::visible).collect();
                writeln!(out, "{id} FAILED: {}", lines.join("\n"))?;
            }
            ReplayResult::Fixed if self.replay.after.is_some() => writeln!(
                out,
                "{id} FIXED: all faults were injected, and `{scenario}` passed without faults afterwards"
            )?,
            ReplayResult::NotAlone => writeln!(
                out,
                "{id} cannot be replayed alone: it showed after other executions, and `{scenario}` passes now\n  run the campaign again to see whether it is gone"
            )?,
            ReplayResult::Fixed if self.tried > 1 => writeln!(
                out,
                "{id} FIXED: in each of {} variants all faults were injected and `{scenario}` {ended}",
                self.tried
            )?,
            ReplayResult::Fixed => writeln!(
                out,
                "{id} FIXED: all faults were injected and `{scenario}` {ended}"
            )?,
            ReplayResult::NotReached { missing } => {
                let why = match missing.iter().any(|fault| fault.contains(" = tls:")) {
                    true => "these faults were not injected",
                    false => "no call matched these faults",
                };
                writeln!(out, "{id} NOT REACHED: {why}")?;
                for fault in missing {
                    writeln!(out, "  {fault}")?;
                }
            }
        }
        for faults in self.replay.after.iter().flatten() {
            writeln!(out, "  after {}", faultload_text(faults))?;
        }
        for fault in self.observed.execution.faultload.faults() {
            writeln!(out, "  with {}", fault_text(&fault))?;
        }
        if self.repeats > 0 {
            writeln!(
                out,
                "  repeated {} times: equal calls are made at the same time, and a fault may be injected into either",
                self.repeats
            )?;
        }
        terminal::write_injected_calls(self.trace(), out)?;
        match (self.observed.printed(), &self.result) {
            (Some(output), ReplayResult::Failed { .. }) => {
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
/// faults matched no call is no failure here, but a result of its own.
fn complaint(found_by: Oracle, complaints: &[Complaint]) -> Option<String> {
    let same = complaints.iter().find(|one| one.oracle == found_by);
    if let Some(same) = same {
        return Some(same.complaint.clone());
    }
    let fails =
        |one: &&Complaint| one.severity == Severity::Fail && one.oracle != Oracle::NotExercised;
    let other = complaints.iter().find(fails)?;
    let Complaint {
        oracle, complaint, ..
    } = other;
    Some(format!(
        "not as it was found, but by the oracle {}: {complaint}",
        oracle.name()
    ))
}

fn without_complaint(observed: &Observed) -> ReplayResult {
    let missing = missing(observed);
    match missing.is_empty() {
        true => ReplayResult::Fixed,
        false => ReplayResult::NotReached {
            missing: missing.iter().map(fault_text).collect(),
        },
    }
}

/// The faults that no call matched, or that took no effect.
pub fn missing(observed: &Observed) -> Vec<Fault> {
    let execution = &observed.execution;
    if let Verdict::NotExercised { missing } = &execution.verdict {
        return missing.clone();
    }
    let injected = execution.trace.injected();
    let is_missing = |fault: &Fault| !injected.faults().any(|other| other == *fault);
    execution.faultload.faults().filter(is_missing).collect()
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
        let failed = ReplayResult::Failed {
            complaint: String::new(),
        };
        let missed = ReplayResult::NotReached {
            missing: Vec::new(),
        };
        let mut results = [&failed, &ReplayResult::Fixed, &missed];
        results.sort_by_key(|result| result.gravity());
        assert_eq!(results, [&ReplayResult::Fixed, &missed, &failed]);
    }

    fn complaints(oracle: Oracle, severity: Severity) -> Complaint {
        Complaint {
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
        let result = |replay: Replay, before: &[Observed]| {
            let replayed = Replayed::new(replay, passed("none"), &[]).unwrap();
            replayed.after(before).result
        };
        assert_eq!(result(replay(&[], None), &[]), ReplayResult::NotAlone);
        let mut lost = replay(&[fault], None);
        lost.after = Some(Vec::new());
        assert_eq!(result(lost, &[]), ReplayResult::NotAlone);
        let known = || replay(&[fault], Some(&[fault]));
        let missing = vec![fault.to_owned()];
        assert_eq!(
            result(known(), &[passed(fault)]),
            ReplayResult::NotReached { missing }
        );
        assert_eq!(result(known(), &[]), ReplayResult::Fixed);
    }

    #[test]
    fn what_fails_in_another_way_is_not_fixed() {
        let found_by = Oracle::Scenario;
        let result = |complaints: &[Complaint]| complaint(found_by, complaints);
        assert_eq!(result(&[]), None);
        let same = complaints(Oracle::Scenario, Severity::Warn);
        assert_eq!(result(&[same]).as_deref(), Some("no"));
        let other = complaints(Oracle::NoCause, Severity::Fail);
        let said = result(&[other]).unwrap();
        assert!(said.contains("the oracle no-cause: no"), "{said}");
        let warning = complaints(Oracle::NoCause, Severity::Warn);
        let missed = complaints(Oracle::NotExercised, Severity::Fail);
        assert_eq!(result(&[warning, missed]), None);
    }
}
