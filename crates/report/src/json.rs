//! JSON for programs: exactly one object, a stable contract.
//!
//! Owns the names and shapes of the fields. Numbers that may exceed 64 bits
//! are decimal strings; points and faultloads are in their full text form, so
//! that they can be given back to Murphy.

mod hardening;

use std::collections::BTreeMap;
use std::io::{self, Write};

use murphy_model::{
    Audit, EdgeProfile, Faultload, Finding, Flag, FlagForm, Incomplete, Point, Span,
};
use serde::Serialize;

use crate::{Explained, Fate, Hardening, Meaning, Summary, redact, unseen};
use hardening::HardeningObject;

/// Writes the summary of a campaign as one object and a newline.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_object(&SummaryObject::new(summary), out)
}

/// Writes an explanation as one object and a newline.
pub fn write_explained(explained: &Explained, out: &mut dyn Write) -> io::Result<()> {
    write_object(&ExplainedObject::new(explained), out)
}

/// Writes what to harden as one object and a newline.
pub fn write_hardening(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    write_object(&HardeningObject::new(hardening), out)
}

fn write_object(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(object)?;
    writeln!(out, "{}", unseen::escaped(&text))
}

#[derive(Serialize)]
struct SummaryObject<'s> {
    scenario: &'s str,
    strategy: &'s str,
    modes: &'s [String],
    seed: u64,
    points: PointsObject,
    space: String,
    possible: Option<String>,
    bound: Option<usize>,
    explored: usize,
    considered: usize,
    pruned: &'s BTreeMap<&'static str, usize>,
    skipped: BTreeMap<&'static str, String>,
    not_exercised: usize,
    speculative: usize,
    failed_executions: usize,
    findings: Vec<FindingObject<'s>>,
    profile: Vec<ProfileObject>,
    complete: bool,
    incomplete: Option<&'static str>,
    assumptions: &'s [String],
    flags: Vec<FlagForm>,
    audit: Option<AuditObject<'s>>,
    minimal: Option<Vec<Vec<String>>>,
    masked: Vec<String>,
    solo: Option<&'s str>,
    besides: BesidesObject,
    timing: TimingObject,
}

impl<'s> SummaryObject<'s> {
    fn new(summary: &'s Summary) -> Self {
        let certificate = &summary.certificate;
        let skips = certificate.skips.as_ref();
        let minimal = certificate.minimal.as_ref();
        let text =
            |(policy, count): (&&'static str, &num_bigint::BigUint)| (*policy, count.to_string());
        SummaryObject {
            scenario: &summary.scenario,
            strategy: summary.strategy,
            modes: &summary.modes,
            seed: summary.seed,
            points: PointsObject {
                total: certificate.points,
                conditional: certificate.conditional,
            },
            space: certificate.space.to_string(),
            possible: skips.map(|skips| skips.possible.to_string()),
            bound: certificate.bound,
            explored: certificate.explored,
            considered: certificate.considered,
            pruned: &certificate.pruned,
            skipped: skips.map_or_else(BTreeMap::new, |s| s.by_policy.iter().map(text).collect()),
            not_exercised: certificate.not_exercised,
            speculative: certificate.speculative,
            failed_executions: summary.failed_executions,
            findings: findings(summary),
            profile: summary.profile.iter().map(ProfileObject::new).collect(),
            complete: certificate.is_complete(),
            incomplete: certificate.incomplete.as_ref().map(Incomplete::name),
            assumptions: &certificate.assumptions,
            flags: certificate.flags.iter().map(Flag::form).collect(),
            audit: certificate.audit.as_ref().map(AuditObject::new),
            minimal: minimal.map(|minimal| minimal.iter().map(fault_texts).collect()),
            masked: summary
                .masked
                .iter()
                .map(|why| redact::owned(why))
                .collect(),
            solo: summary.solo.as_deref(),
            besides: BesidesObject {
                references: summary.apart.references,
                checks: summary.apart.checks,
                repeated: summary.apart.repeated,
            },
            timing: TimingObject::new(summary),
        }
    }
}

/// Runs that are not among those explored.
#[derive(Serialize)]
struct BesidesObject {
    references: usize,
    checks: usize,
    repeated: usize,
}

#[derive(Serialize)]
struct PointsObject {
    total: usize,
    conditional: usize,
}

#[derive(Serialize)]
struct FindingObject<'s> {
    id: &'s str,
    severity: &'static str,
    class: &'static str,
    oracle: &'static str,
    faultload: Vec<String>,
    summary: &'s str,
    edge: Option<String>,
    execution: usize,
    seen: usize,
    also: Vec<Vec<String>>,
    replay: Option<String>,
    known: Option<KnownObject<'s>>,
}

/// What the baseline says of a finding: null where it does not know it. One
/// that has expired has no reason to stay, and fails the build again.
#[derive(Serialize)]
struct KnownObject<'s> {
    reason: Option<&'s str>,
    expired: bool,
}

impl<'s> KnownObject<'s> {
    fn of(id: &str, summary: &'s Summary) -> Option<Self> {
        let reason = summary.excuse(id);
        let known = summary.known.as_ref()?;
        let expired = known.expired.iter().any(|expired| expired == id);
        (reason.is_some() || expired).then_some(KnownObject { reason, expired })
    }
}

fn findings(summary: &Summary) -> Vec<FindingObject<'_>> {
    let findings = summary.findings.iter();
    findings.map(|f| FindingObject::new(f, summary)).collect()
}

impl<'s> FindingObject<'s> {
    fn new(finding: &'s Finding, summary: &'s Summary) -> Self {
        FindingObject {
            id: &finding.id,
            severity: finding.severity.name(),
            class: finding.class.name(),
            oracle: finding.oracle,
            faultload: fault_texts(&finding.faultload),
            summary: &finding.summary,
            edge: finding.edge.as_ref().map(Point::to_string),
            execution: finding.execution,
            seen: finding.seen,
            also: finding.also.iter().map(fault_texts).collect(),
            replay: summary.replay(finding),
            known: KnownObject::of(&finding.id, summary),
        }
    }
}

fn fault_texts(faultload: &Faultload) -> Vec<String> {
    faultload.faults().map(|fault| fault.to_string()).collect()
}

/// `caller` is null where the scenario itself calls; spans are null where
/// nothing of the kind was seen.
#[derive(Serialize)]
struct ProfileObject {
    caller: Option<String>,
    callee: String,
    calls: usize,
    failed: usize,
    attempts: usize,
    backoff_ms: Option<SpanObject>,
    timeout_ms: Option<SpanObject>,
    recovered: usize,
    fallbacks: usize,
    propagated: usize,
    hedged: usize,
}

impl ProfileObject {
    fn new(profile: &EdgeProfile) -> Self {
        ProfileObject {
            caller: profile.edge.caller.as_ref().map(ToString::to_string),
            callee: profile.edge.callee.to_string(),
            calls: profile.calls,
            failed: profile.failed,
            attempts: profile.attempts,
            backoff_ms: profile.backoff.map(SpanObject::new),
            timeout_ms: profile.timeout.map(SpanObject::new),
            recovered: profile.recovered,
            fallbacks: profile.fallbacks,
            propagated: profile.propagated,
            hedged: profile.hedged,
        }
    }
}

#[derive(Serialize)]
struct SpanObject {
    least: f64,
    most: f64,
}

impl SpanObject {
    fn new(span: Span) -> Self {
        let ms = |time: std::time::Duration| three_decimals(time.as_secs_f64() * 1000.0);
        SpanObject {
            least: ms(span.least),
            most: ms(span.most),
        }
    }
}

#[derive(Serialize)]
struct AuditObject<'s> {
    sampled: usize,
    agreed: usize,
    unpredicted: usize,
    disagreed: &'s [String],
}

impl<'s> AuditObject<'s> {
    fn new(audit: &'s Audit) -> Self {
        AuditObject {
            sampled: audit.sampled,
            agreed: audit.agreed,
            unpredicted: audit.unpredicted,
            disagreed: &audit.disagreed,
        }
    }
}

#[derive(Serialize)]
struct TimingObject {
    total_ms: f64,
    reference_ms: f64,
    executions_per_s: f64,
}

impl TimingObject {
    fn new(summary: &Summary) -> Self {
        let timing = &summary.timing;
        let explored = summary.certificate.explored;
        TimingObject {
            total_ms: three_decimals(timing.total.as_secs_f64() * 1000.0),
            reference_ms: three_decimals(timing.reference.as_secs_f64() * 1000.0),
            executions_per_s: three_decimals(timing.executions_per_second(explored)),
        }
    }
}

/// More would be noise.
fn three_decimals(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[derive(Serialize)]
struct ExplainedObject<'e> {
    scenario: &'e str,
    faultload: Vec<String>,
    meanings: Vec<MeaningObject<'e>>,
    impossible: usize,
    more: bool,
}

impl<'e> ExplainedObject<'e> {
    fn new(explained: &'e Explained) -> Self {
        ExplainedObject {
            scenario: &explained.scenario,
            faultload: fault_texts(&explained.asked),
            meanings: explained.meanings.iter().map(MeaningObject::new).collect(),
            impossible: explained.impossible,
            more: explained.more,
        }
    }
}

/// Fields that do not apply to a fate are null, so that readers need no cases.
#[derive(Serialize)]
struct MeaningObject<'e> {
    faultload: Vec<String>,
    fate: &'static str,
    execution: Option<usize>,
    complaint: Option<&'e str>,
    policy: Option<&'static str>,
    reasons: &'e [String],
    predicted: Option<String>,
    possible: bool,
}

impl<'e> MeaningObject<'e> {
    fn new(meaning: &'e Meaning) -> Self {
        let mut object = MeaningObject {
            faultload: fault_texts(&meaning.faultload),
            fate: "open",
            execution: None,
            complaint: None,
            policy: None,
            reasons: &[],
            predicted: None,
            possible: meaning.fate.is_possible(),
        };
        match &meaning.fate {
            Fate::Run { number, complaint } => {
                object.fate = "run";
                object.execution = Some(*number);
                object.complaint = complaint.as_deref();
            }
            Fate::Skipped {
                policy,
                reasons,
                predicted,
                ..
            } => {
                object.fate = "skipped";
                object.policy = Some(policy);
                object.reasons = reasons;
                object.predicted = predicted.map(|reply| reply.to_string());
            }
            Fate::Open { reason } => object.reasons = std::slice::from_ref(reason),
        }
        object
    }
}
