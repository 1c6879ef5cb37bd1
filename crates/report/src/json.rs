//! JSON for programs: exactly one object, a stable contract.
//!
//! Owns the names and shapes of the fields. Numbers that may exceed 64 bits
//! are decimal strings; points and faultloads are in their full text form, so
//! that they can be given back to Murphy.

mod hardening;
mod suites;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use murphy_model::{
    Audit, Besides, BugClass, EdgeProfile, Faultload, Finding, Flag, Incomplete, Place, Point,
    Reply, Severity, Span,
};
use serde::Serialize;

use crate::bugs;
use crate::terminal::RunResult;
use crate::{
    Explained, Fate, Hardening, Meaning, Suggestion, Summary, redact, suggestions, unseen,
};
use hardening::HardeningObject;
pub use suites::Suite;
use suites::SuitesObject;

/// Writes the summary of a campaign as one object and a newline.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_object(&SummaryObject::new(summary), out)
}

/// Writes what came of all tests of suites as one object and a newline: what was
/// seen of them first, and the summary of each that was searched.
pub fn write_suites(
    suites: &[Suite],
    results: &[RunResult],
    out: &mut dyn Write,
) -> io::Result<()> {
    write_object(&SuitesObject::new(suites, results), out)
}

/// Writes an explanation as one object and a newline.
pub fn write_explained(explained: &Explained, out: &mut dyn Write) -> io::Result<()> {
    write_object(&ExplainedObject::new(explained), out)
}

/// Writes one finding as one object and a newline, as it is in the summary.
pub fn write_finding(summary: &Summary, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    write_object(&FindingObject::new(finding, summary), out)
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
    pruned: &'s BTreeMap<Cow<'static, str>, usize>,
    skipped: BTreeMap<&'s str, String>,
    not_exercised: usize,
    speculative: usize,
    failed_executions: usize,
    refused_executions: usize,
    findings: Vec<FindingObject<'s>>,
    profile: Vec<ProfileObject<'s>>,
    complete: bool,
    incomplete: Option<String>,
    assumptions: &'s [String],
    flags: &'s [Flag],
    audit: Option<&'s Audit>,
    minimal: Option<&'s [Faultload]>,
    masked: Vec<String>,
    solo: Option<&'s str>,
    besides: Besides,
    suggestions: Vec<SuggestionObject>,
    timing: TimingObject,
}

impl<'s> SummaryObject<'s> {
    fn new(summary: &'s Summary) -> Self {
        let certificate = &summary.certificate;
        let skips = certificate.skips.as_ref();
        let skipped = skips.into_iter().flat_map(|skips| &skips.by_policy);
        let skipped = skipped.map(|(policy, count)| (&**policy, count.to_string()));
        SummaryObject {
            scenario: &summary.scenario,
            strategy: &summary.strategy,
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
            skipped: skipped.collect(),
            not_exercised: certificate.not_exercised,
            speculative: certificate.speculative,
            failed_executions: summary.failed_executions,
            refused_executions: summary.refused(),
            findings: findings(summary),
            profile: summary.profile.iter().map(ProfileObject::new).collect(),
            complete: certificate.is_complete(),
            incomplete: certificate.incomplete.as_ref().map(Incomplete::name),
            assumptions: &certificate.assumptions,
            flags: &certificate.flags,
            audit: certificate.audit.as_ref(),
            minimal: certificate.minimal.as_deref(),
            masked: summary
                .masked
                .iter()
                .map(|why| redact::owned(why))
                .collect(),
            solo: summary.solo.as_deref(),
            besides: summary.besides,
            suggestions: SuggestionObject::all(summary),
            timing: TimingObject::new(summary),
        }
    }
}

/// Modes for another campaign; `command` is null where a program ran this one.
#[derive(Serialize)]
struct SuggestionObject {
    modes: String,
    why: String,
    command: Option<String>,
}

impl SuggestionObject {
    fn all(summary: &Summary) -> Vec<Self> {
        let all = suggestions(summary).into_iter();
        let object = |it: Suggestion| SuggestionObject {
            modes: it.modes,
            why: it.why,
            command: it.command,
        };
        all.map(object).collect()
    }
}

#[derive(Serialize)]
struct PointsObject {
    total: usize,
    conditional: usize,
}

#[derive(Serialize)]
struct FindingObject<'s> {
    id: &'s str,
    severity: Severity,
    class: BugClass,
    oracle: &'s str,
    faultload: &'s Faultload,
    summary: &'s str,
    edge: Option<&'s Point>,
    execution: usize,
    seen: usize,
    also: &'s [Faultload],
    /// The finding that stands for the same bug in reports for people.
    same_as: Option<&'s str>,
    replay: Option<String>,
    known: Option<KnownObject<'s>>,
}

/// What the baseline says of a finding: null where it does not know it. One
/// that has expired has no reason to stay, and fails the build again.
#[derive(Serialize)]
struct KnownObject<'s> {
    reason: Option<&'s str>,
    /// The entry of the same bug in another test or scenario.
    through: Option<&'s str>,
    expired: bool,
}

impl<'s> KnownObject<'s> {
    fn of(id: &str, summary: &'s Summary) -> Option<Self> {
        let reason = summary.excuse(id);
        let known = summary.known.as_ref()?;
        let expired = known.expired.iter().any(|expired| expired == id);
        (reason.is_some() || expired).then_some(KnownObject {
            reason,
            through: known.through.get(id).map(String::as_str),
            expired,
        })
    }
}

fn findings(summary: &Summary) -> Vec<FindingObject<'_>> {
    let mut same_as: BTreeMap<&str, &str> = BTreeMap::new();
    for bug in bugs::of([summary]) {
        let (_, shown) = bug.shown();
        let others = bug.others().iter().chain(bug.also());
        same_as.extend(others.map(|(_, other)| (other.id.as_str(), shown.id.as_str())));
    }
    let findings = summary.findings.iter();
    findings
        .map(|finding| FindingObject {
            same_as: same_as.get(finding.id.as_str()).copied(),
            ..FindingObject::new(finding, summary)
        })
        .collect()
}

impl<'s> FindingObject<'s> {
    fn new(finding: &'s Finding, summary: &'s Summary) -> Self {
        FindingObject {
            id: &finding.id,
            severity: finding.severity,
            class: finding.class,
            oracle: &finding.oracle,
            faultload: &finding.faultload,
            summary: &finding.summary,
            edge: finding.edge.as_ref(),
            execution: finding.execution,
            seen: finding.seen,
            also: &finding.also,
            same_as: None,
            replay: summary.replay(finding),
            known: KnownObject::of(&finding.id, summary),
        }
    }
}

/// `caller` is null where the scenario itself calls; spans are null where
/// nothing of the kind was seen.
#[derive(Serialize)]
struct ProfileObject<'s> {
    caller: Option<&'s Place>,
    callee: &'s Place,
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

impl<'s> ProfileObject<'s> {
    fn new(profile: &'s EdgeProfile) -> Self {
        ProfileObject {
            caller: profile.edge.caller.as_ref(),
            callee: &profile.edge.callee,
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
    faultload: &'e Faultload,
    meanings: Vec<MeaningObject<'e>>,
    impossible: usize,
    more: bool,
}

impl<'e> ExplainedObject<'e> {
    fn new(explained: &'e Explained) -> Self {
        ExplainedObject {
            scenario: &explained.scenario,
            faultload: &explained.asked,
            meanings: explained.meanings.iter().map(MeaningObject::new).collect(),
            impossible: explained.impossible,
            more: explained.more,
        }
    }
}

/// Fields that do not apply to a fate are null, so that readers need no cases.
#[derive(Serialize)]
struct MeaningObject<'e> {
    faultload: &'e Faultload,
    fate: &'static str,
    execution: Option<usize>,
    complaint: Option<&'e str>,
    policy: Option<&'static str>,
    reasons: &'e [String],
    predicted: Option<Reply>,
    possible: bool,
}

impl<'e> MeaningObject<'e> {
    fn new(meaning: &'e Meaning) -> Self {
        let mut object = MeaningObject {
            faultload: &meaning.faultload,
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
                object.predicted = *predicted;
            }
            Fate::Open { reason } => object.reasons = std::slice::from_ref(reason),
        }
        object
    }
}
