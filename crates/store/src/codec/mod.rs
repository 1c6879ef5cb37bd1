//! The JSON form of what happens in a campaign.
//!
//! Owns names and shapes of the fields, for the store and for whoever follows
//! a campaign line by line. Points, faults, modes and replies are in their
//! text form, times are whole nanoseconds, so that nothing is lost; numbers
//! that may exceed 64 bits are decimal strings. What a resumed campaign needs
//! (executions, identity, findings) can be read back; a certificate is only
//! ever written, because resuming makes a new one.
//!
//! Everything a system under test may have said goes through
//! [`murphy_report::redact`] here: this is the last stop before a disk.

mod ended;
mod identity;
mod left_behind;
mod names;
mod observed;

pub use ended::KeptFinding;
pub use names::{Name, Naming, Spelled};

pub(crate) use ended::certificate_text;

use std::time::Duration;

use murphy_model::{Faultload, Finding, FlagForm, Identity, Observed, Point};
use murphy_report::redact;
use serde::{Deserialize, Serialize};

use ended::{CertificateForm, FindingForm, MinimalForm, ShortForm};
use identity::IdentityForm;
use left_behind::LeftForm;
use murphy_campaign::{Event, LeftBehind, Standing};
use observed::ObservedForm;

/// Something of ours that cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// It is not the JSON that is written here.
    #[error("not as it was written: {0}")]
    Json(String),
    /// A text form that does not read as what it should be.
    #[error("`{text}` is no {what}")]
    Text {
        /// What it should be.
        what: &'static str,
        /// What it is.
        text: String,
    },
    /// A point that is only named by a number that stands for none.
    #[error("no point has the number {0}")]
    NoSuchPoint(u32),
    /// Parts that do not go together.
    #[error("{0}")]
    Contradiction(&'static str),
}

impl From<serde_json::Error> for CodecError {
    fn from(error: serde_json::Error) -> Self {
        CodecError::Json(error.to_string())
    }
}

/// The event as one JSON object on one line, without the line's end.
pub fn event(event: &Event) -> String {
    written(&EventForm::new(event))
}

/// What was seen of an execution, with its points named by `naming`.
pub fn write_observed(observed: &Observed, naming: &mut impl Naming) -> String {
    written(&ObservedForm::new(observed, naming))
}

/// What [`write_observed`] wrote; `points` are those named by numbers.
pub fn read_observed(text: &str, points: &[Point]) -> Result<Observed, CodecError> {
    serde_json::from_str::<ObservedForm>(text)?.read(points)
}

/// How calls are told apart.
pub fn write_identity(identity: &Identity) -> String {
    written(&IdentityForm::new(identity))
}

/// What [`write_identity`] wrote.
pub fn read_identity(text: &str) -> Result<Identity, CodecError> {
    serde_json::from_str::<IdentityForm>(text)?.read()
}

/// A bug.
pub fn write_finding(finding: &Finding) -> String {
    written(&FindingForm::new(finding))
}

/// What [`write_finding`] wrote.
pub fn read_finding(text: &str) -> Result<KeptFinding, CodecError> {
    serde_json::from_str::<FindingForm>(text)?.read()
}

/// State that an execution left behind.
pub(crate) fn write_left_behind(left: &LeftBehind) -> String {
    written(&LeftForm::new(left))
}

/// What [`write_left_behind`] wrote.
pub(crate) fn read_left_behind(text: &str) -> Result<LeftBehind, CodecError> {
    serde_json::from_str::<LeftForm>(text)?.read()
}

/// The minimal failing combinations of a kept certificate.
pub(crate) fn read_minimal(text: &str) -> Result<Vec<Faultload>, CodecError> {
    serde_json::from_str::<MinimalForm>(text)?.read()
}

/// Whether a kept certificate is of a search that may have been stopped before
/// it had no more to try.
pub(crate) fn read_is_short(text: &str) -> Result<bool, CodecError> {
    Ok(serde_json::from_str::<ShortForm>(text)?.is_short())
}

/// Sentences about what was masked, which may quote what was seen.
pub(crate) fn write_masked(masked: &[String]) -> String {
    written(&clean(masked))
}

fn clean(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|text| redact::owned(text)).collect()
}

fn written(form: &impl Serialize) -> String {
    serde_json::to_string(form).expect("the forms hold nothing that JSON does not know")
}

/// The form of an [`Event`].
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum EventForm<'e> {
    Began {
        scenario: &'e str,
        strategy: &'e str,
        modes: &'e [String],
        seed: u64,
        jobs: u32,
        resumed: usize,
    },
    ReferenceRan {
        number: usize,
        observed: ObservedForm,
    },
    IdentityChosen {
        identity: IdentityForm,
        masked: Vec<String>,
    },
    Restarted {
        executions: usize,
        masked: Vec<String>,
    },
    ExecutionEnded {
        ticket: u64,
        observed: ObservedForm,
        stored: bool,
    },
    Learned {
        explored: usize,
        skipped: Option<usize>,
        waiting: Option<usize>,
        failed: usize,
        findings: usize,
    },
    Audited {
        number: usize,
        observed: ObservedForm,
        agreed: bool,
        stored: bool,
    },
    Checked {
        number: usize,
        observed: ObservedForm,
        passed: bool,
    },
    StateLeft(LeftForm),
    FailedInParallel(FlagForm),
    Repeated {
        number: usize,
        observed: ObservedForm,
    },
    Ended {
        certificate: CertificateForm<'e>,
        findings: Vec<FindingForm>,
        took_ns: Nanos,
    },
}

impl<'e> EventForm<'e> {
    fn new(event: &'e Event) -> Self {
        match event {
            Event::Began {
                scenario,
                strategy,
                modes,
                seed,
                jobs,
                resumed,
            } => EventForm::Began {
                scenario,
                strategy,
                modes,
                seed: *seed,
                jobs: *jobs,
                resumed: *resumed,
            },
            Event::ReferenceRan { number, observed } => EventForm::ReferenceRan {
                number: *number,
                observed: ObservedForm::new(observed, &mut Spelled),
            },
            Event::IdentityChosen { identity, masked } => EventForm::IdentityChosen {
                identity: IdentityForm::new(identity),
                masked: clean(masked),
            },
            Event::Restarted { executions, masked } => EventForm::Restarted {
                executions: *executions,
                masked: clean(masked),
            },
            Event::ExecutionEnded {
                ticket,
                observed,
                stored,
            } => EventForm::ExecutionEnded {
                ticket: ticket.0,
                observed: ObservedForm::new(observed, &mut Spelled),
                stored: *stored,
            },
            Event::Learned(Standing {
                explored,
                skipped,
                waiting,
                failed,
                findings,
            }) => EventForm::Learned {
                explored: *explored,
                skipped: *skipped,
                waiting: *waiting,
                failed: *failed,
                findings: *findings,
            },
            Event::Audited {
                number,
                observed,
                agreed,
                stored,
            } => EventForm::Audited {
                number: *number,
                observed: ObservedForm::new(observed, &mut Spelled),
                agreed: *agreed,
                stored: *stored,
            },
            Event::Checked {
                number,
                observed,
                passed,
            } => EventForm::Checked {
                number: *number,
                observed: ObservedForm::new(observed, &mut Spelled),
                passed: *passed,
            },
            Event::StateLeft(left) => EventForm::StateLeft(LeftForm::new(left)),
            Event::FailedInParallel(flag) => EventForm::FailedInParallel(flag.form()),
            Event::Repeated { number, observed } => EventForm::Repeated {
                number: *number,
                observed: ObservedForm::new(observed, &mut Spelled),
            },
            Event::Ended {
                certificate,
                findings,
                took,
            } => EventForm::Ended {
                certificate: CertificateForm::new(certificate),
                findings: findings.iter().map(FindingForm::new).collect(),
                took_ns: Nanos::of(*took),
            },
        }
    }
}

/// A time span in whole nanoseconds: five centuries fit, which is enough.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Nanos(u64);

impl Nanos {
    fn of(span: Duration) -> Self {
        Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }

    fn span(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}
