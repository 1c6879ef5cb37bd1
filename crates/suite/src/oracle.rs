//! Oracles: what an execution says against the application.
//!
//! Facts first, text last: how the call went (the proxy), how the test went and
//! what it raised (the library), what else was called (compared with the
//! reference). An error that is the injected one is no bug of the application:
//! it reached the test, which is what errors are for.

mod cause;
mod trace;

use murphy_model::BugClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::Attempt;
use crate::case::{Aim, CaseRun, TestEnd};
use crate::cloud_call::{CallOutcome, CloudCall};
use crate::exclusion::Reason;
use crate::reference::{Frames, TestReference};
use crate::settings::SuiteSettings;

/// Which oracle speaks.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum SuiteOracle {
    /// The test fails, and the service refused the retry.
    O1,
    /// The test fails, although the retry succeeded.
    O2,
    /// The test fails for something other than the error that was injected.
    O3,
    /// The test fails for the error that was injected.
    O4,
    /// The answer to the retry is another than the one that was lost.
    O6,
    /// The call failed for good, and the test passes.
    O7,
    /// The process crashed, or the test takes too long.
    O8,
}

/// One fault of an execution, with all there is to judge it by.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'e> {
    pub(crate) aim: &'e Aim,
    /// The place of the call that the fault was injected into.
    pub(crate) place: usize,
    pub(crate) run: &'e CaseRun,
    pub(crate) reference: &'e TestReference,
    pub(crate) frames: &'e Frames,
    pub(crate) settings: &'e SuiteSettings,
}

/// What an oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) oracle: SuiteOracle,
    pub(crate) class: BugClass,
    pub(crate) exception: Option<String>,
    /// The frames of the application that raised it.
    pub(crate) frames: Vec<String>,
    pub(crate) message: String,
    /// The same with its values, as this execution shows it.
    pub(crate) example: String,
    /// Why it is only a warning, if it would be more otherwise.
    pub(crate) reason: Option<Reason>,
}

/// What a test that got a fault shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Passed,
    Propagated,
    Failed(Complaint),
    /// It failed, but that may be the emulator's doing.
    Suspect(Complaint),
}

/// What is said about a fault.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) ruling: Ruling,
    /// What is worth a warning although no test fails for it.
    pub(crate) warnings: Vec<Complaint>,
    /// What is worth a note.
    pub(crate) smells: Vec<Complaint>,
}

impl<'e> Evidence<'e> {
    fn call(&self) -> &'e CloudCall {
        &self.run.record.calls[self.place]
    }

    fn attempts(&self) -> impl DoubleEndedIterator<Item = &'e Attempt> {
        self.run.record.attempts_of(self.place)
    }

    pub(crate) fn outcome(&self) -> CallOutcome {
        self.run.record.outcome(self.place)
    }

    /// O6: whether the retry was answered otherwise than the attempt before it.
    pub(crate) fn answers_differ(&self) -> bool {
        trace::answers_differ(self)
    }

    /// What all oracles say.
    pub(crate) fn judge(&self) -> Judgement {
        let mut judgement = Judgement {
            ruling: self.ruling(),
            warnings: Vec::new(),
            smells: Vec::new(),
        };
        if self.answers_differ() {
            let text = "the answer to the retry is not the one that was lost";
            let complaint = self.note(SuiteOracle::O6, BugClass::SilentViolation, text);
            judgement.warnings.push(Complaint {
                // The service would have known the retry again.
                reason: self.call().token.then_some(Reason::EmulatorSuspect),
                ..complaint
            });
        }
        let is_swallowed = self.outcome() == CallOutcome::Failed;
        if is_swallowed && self.run.result.outcome == TestEnd::Passed {
            let differs = trace::changes_differ(self);
            let text = match differs {
                true => "the call failed, the test passes, and what is written later differs",
                false => "the call failed, and the test passes",
            };
            let complaint = self.note(SuiteOracle::O7, BugClass::StateDivergence, text);
            match differs {
                true => judgement.warnings.push(complaint),
                false => judgement.smells.push(complaint),
            }
        }
        judgement
    }

    fn ruling(&self) -> Ruling {
        use SuiteOracle::{O1, O2, O3, O4, O8};
        let result = &self.run.result;
        if !result.is_failure() {
            return Ruling::Passed;
        }
        if matches!(result.outcome, TestEnd::Crashed | TestEnd::Hung) {
            return Ruling::Failed(self.complaint(O8, BugClass::NoHandling));
        }
        match self.outcome() {
            CallOutcome::Transformed => {
                let complaint = self.complaint(O1, self.class_of_refusal());
                match self.emulator() {
                    None => Ruling::Failed(complaint),
                    reason => Ruling::Suspect(Complaint {
                        reason,
                        ..complaint
                    }),
                }
            }
            CallOutcome::Masked => Ruling::Failed(self.complaint(O2, self.class_of_success())),
            CallOutcome::Failed | CallOutcome::Abandoned if !cause::is_injected(self) => {
                Ruling::Failed(self.complaint(O3, self.class_of_failure()))
            }
            _ if self.settings.system => Ruling::Failed(self.complaint(O4, BugClass::NoHandling)),
            _ => Ruling::Propagated,
        }
    }

    /// Why a refused retry may be the emulator's fault.
    fn emulator(&self) -> Option<Reason> {
        let call = self.call();
        let status = self.attempts().next_back().and_then(Attempt::status);
        let known = &self.settings.differences;
        if call.token {
            return Some(Reason::EmulatorSuspect);
        }
        let is_met = known
            .iter()
            .any(|known| known.is_met(&call.site.operation, status));
        is_met.then_some(Reason::EmulatorDifference)
    }

    /// A refusal that is raised as it is, or breaks something else, is
    /// unrelated to the fault; where services refuse later calls, too, what the
    /// application believes is not what is there.
    fn class_of_refusal(&self) -> BugClass {
        let exceptions = &self.run.result.exceptions;
        let id = &self.call().id;
        let is_raised = id.is_some() && exceptions.iter().any(|raised| raised.call == *id);
        match !is_raised && trace::has_later_error(self) {
            true => BugClass::StateDivergence,
            false => BugClass::UnrelatedException,
        }
    }

    fn class_of_success(&self) -> BugClass {
        match trace::has_later_error(self) {
            true => BugClass::StateDivergence,
            false => BugClass::SilentViolation,
        }
    }

    fn class_of_failure(&self) -> BugClass {
        if trace::has_later_error(self) {
            BugClass::StateDivergence
        } else if self.is_seen_by_test() {
            BugClass::SilentViolation
        } else {
            BugClass::UnrelatedException
        }
    }

    /// Whether the application returned something wrong, and nothing broke
    /// before the test looked at it.
    fn is_seen_by_test(&self) -> bool {
        let result = &self.run.result;
        let raised = result.exceptions.first();
        let in_test = raised.is_some_and(|raised| {
            !raised.frames.is_empty() && self.frames_of_application().is_empty()
        });
        result.assertion.is_some() || in_test
    }

    fn frames_of_application(&self) -> Vec<String> {
        let raised = self.run.result.exceptions.first();
        let frames = raised.map_or(&[][..], |raised| &raised.frames);
        let of_application = frames
            .iter()
            .filter(|frame| self.frames.is_application(frame));
        of_application.cloned().collect()
    }

    fn complaint(&self, oracle: SuiteOracle, class: BugClass) -> Complaint {
        let result = &self.run.result;
        let raised = result.exceptions.first();
        let ended = match result.outcome {
            TestEnd::Crashed => Some("crash"),
            TestEnd::Hung => Some("hang"),
            _ => None,
        };
        let raised = raised.map(|raised| raised.kind.clone());
        let asserted = result
            .assertion
            .as_ref()
            .map(|_| "AssertionError".to_owned());
        Complaint {
            oracle,
            class,
            exception: ended.map(str::to_owned).or(raised).or(asserted),
            frames: self.frames_of_application(),
            message: masked(&result.message),
            example: result.message.clone(),
            reason: None,
        }
    }

    fn note(&self, oracle: SuiteOracle, class: BugClass, message: &str) -> Complaint {
        Complaint {
            oracle,
            class,
            exception: None,
            frames: Vec::new(),
            message: message.to_owned(),
            example: String::new(),
            reason: None,
        }
    }
}

/// A message without what differs from run to run: numbers, long hexadecimal
/// words, and what stands in quotes.
fn masked(message: &str) -> String {
    let mut masked = String::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let (taken, shown) = match first {
            '"' | '\'' => match rest[1..].find(first) {
                Some(end) => (end + 2, "…"),
                None => (1, &rest[..1]),
            },
            _ if word > 0 && looks_generated(&rest[..word]) => (word, "…"),
            _ if word > 0 => (word, &rest[..word]),
            _ => (first.len_utf8(), &rest[..first.len_utf8()]),
        };
        masked.push_str(shown);
        rest = &rest[taken..];
    }
    masked
}

fn looks_generated(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_hex = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    has_digit && (is_hex || word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
