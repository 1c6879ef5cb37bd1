//! The forms of a certificate and of findings.
//!
//! A finding is read back as a [`KeptFinding`]: the names of classes and
//! oracles are texts there, so that a store outlives the version that wrote it.

use std::collections::BTreeMap;

use murphy_model::{
    Audit, Certificate, Faultload, Finding, Flag, FlagForm, Incomplete, Severity, Skips,
};
use murphy_report::redact;
use serde::{Deserialize, Serialize};

use super::CodecError;
use super::names::{FaultForm, Spelled, faultload};

/// A finding that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFinding {
    /// Its stable name.
    pub id: String,
    /// Whether it fails the build.
    pub severity: Severity,
    /// The name of its place in the taxonomy.
    pub class: String,
    /// The name of the oracle that spoke.
    pub oracle: String,
    /// The smallest faultload that shows it.
    pub faultload: Faultload,
    /// What is wrong, in one sentence.
    pub summary: String,
    /// Number of the execution that showed it first.
    pub execution: usize,
    /// How many executions showed it.
    pub seen: usize,
    /// Other smallest faultloads that showed the same bug.
    pub also: Vec<Faultload>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FindingForm {
    id: String,
    #[serde(default)]
    severity: SeverityForm,
    class: String,
    oracle: String,
    faultload: Vec<FaultForm>,
    summary: String,
    execution: usize,
    seen: usize,
    also: Vec<Vec<FaultForm>>,
}

impl FindingForm {
    pub(super) fn new(finding: &Finding) -> Self {
        let faults = |faultload: &Faultload| FaultForm::all(faultload, &mut Spelled);
        FindingForm {
            id: finding.id.clone(),
            severity: SeverityForm::new(finding.severity),
            class: finding.class.name().to_owned(),
            oracle: finding.oracle.to_owned(),
            faultload: faults(&finding.faultload),
            summary: redact::owned(&finding.summary),
            execution: finding.execution,
            seen: finding.seen,
            also: finding.also.iter().map(faults).collect(),
        }
    }

    pub(super) fn read(self) -> Result<KeptFinding, CodecError> {
        let also: Result<_, _> = self.also.iter().map(|f| faultload(f, &[])).collect();
        Ok(KeptFinding {
            faultload: faultload(&self.faultload, &[])?,
            also: also?,
            id: self.id,
            severity: self.severity.read(),
            class: self.class,
            oracle: self.oracle,
            summary: self.summary,
            execution: self.execution,
            seen: self.seen,
        })
    }
}

/// Where an earlier version wrote none, it counts: better one finding too many
/// than one too few.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SeverityForm {
    Warn,
    #[default]
    Fail,
}

impl SeverityForm {
    fn new(severity: Severity) -> Self {
        match severity {
            Severity::Warn => SeverityForm::Warn,
            Severity::Fail => SeverityForm::Fail,
        }
    }

    fn read(self) -> Severity {
        match self {
            SeverityForm::Warn => Severity::Warn,
            SeverityForm::Fail => Severity::Fail,
        }
    }
}

/// The certificate as JSON, for the store.
pub(crate) fn certificate_text(certificate: &Certificate) -> String {
    super::written(&CertificateForm::new(certificate))
}

#[derive(Serialize)]
pub(super) struct CertificateForm<'c> {
    points: usize,
    conditional: usize,
    space: String,
    explored: usize,
    considered: usize,
    pruned: &'c BTreeMap<&'static str, usize>,
    skips: Option<SkipsForm<'c>>,
    not_exercised: usize,
    speculative: usize,
    bound: Option<usize>,
    complete: bool,
    incomplete: Option<IncompleteForm>,
    assumptions: &'c [String],
    flags: Vec<FlagForm>,
    audit: Option<AuditForm<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimal: Option<Vec<Vec<FaultForm>>>,
}

impl<'c> CertificateForm<'c> {
    pub(super) fn new(certificate: &'c Certificate) -> Self {
        let faults = |faultload: &Faultload| FaultForm::all(faultload, &mut Spelled);
        CertificateForm {
            points: certificate.points,
            conditional: certificate.conditional,
            space: certificate.space.to_string(),
            explored: certificate.explored,
            considered: certificate.considered,
            pruned: &certificate.pruned,
            skips: certificate.skips.as_ref().map(SkipsForm::new),
            not_exercised: certificate.not_exercised,
            speculative: certificate.speculative,
            bound: certificate.bound,
            complete: certificate.is_complete(),
            incomplete: certificate.incomplete.as_ref().map(IncompleteForm::new),
            assumptions: &certificate.assumptions,
            flags: certificate.flags.iter().map(Flag::form).collect(),
            audit: certificate.audit.as_ref().map(AuditForm::new),
            minimal: certificate
                .minimal
                .as_ref()
                .map(|m| m.iter().map(faults).collect()),
        }
    }
}

/// Of a kept certificate, what is read back.
#[derive(Deserialize)]
pub(super) struct MinimalForm {
    #[serde(default)]
    minimal: Vec<Vec<FaultForm>>,
}

impl MinimalForm {
    pub(super) fn read(self) -> Result<Vec<Faultload>, CodecError> {
        self.minimal.iter().map(|f| faultload(f, &[])).collect()
    }
}

/// Of a kept certificate, why it is not complete.
#[derive(Deserialize)]
pub(super) struct ShortForm {
    #[serde(default)]
    incomplete: Option<Why>,
}

#[derive(Deserialize)]
struct Why {
    why: String,
}

impl ShortForm {
    /// A sample does not say whether it was stopped.
    pub(super) fn is_short(&self) -> bool {
        let why = self.incomplete.as_ref();
        why.is_some_and(|it| [STOPPED, SAMPLING].contains(&it.why.as_str()))
    }
}

const STOPPED: &str = "stopped";
const SAMPLING: &str = "sampling";

#[derive(Serialize)]
struct SkipsForm<'c> {
    possible: String,
    by_policy: BTreeMap<&'c str, String>,
}

impl<'c> SkipsForm<'c> {
    fn new(skips: &'c Skips) -> Self {
        let by_policy = skips.by_policy.iter();
        SkipsForm {
            possible: skips.possible.to_string(),
            by_policy: by_policy.map(|(p, n)| (*p, n.to_string())).collect(),
        }
    }
}

#[derive(Serialize)]
struct IncompleteForm {
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<usize>,
}

impl IncompleteForm {
    fn new(incomplete: &Incomplete) -> Self {
        let waiting = match incomplete {
            Incomplete::Cases { waiting } | Incomplete::Stopped { waiting } => Some(*waiting),
            _ => None,
        };
        let why = incomplete.name();
        IncompleteForm { why, waiting }
    }
}

#[derive(Serialize)]
struct AuditForm<'c> {
    sampled: usize,
    agreed: usize,
    unpredicted: usize,
    disagreed: &'c [String],
}

impl<'c> AuditForm<'c> {
    fn new(audit: &'c Audit) -> Self {
        AuditForm {
            sampled: audit.sampled,
            agreed: audit.agreed,
            unpredicted: audit.unpredicted,
            disagreed: &audit.disagreed,
        }
    }
}
