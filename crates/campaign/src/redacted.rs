//! What a system under test said, without the secrets that it gave away.
//!
//! Done once, where an execution comes in (`World::run` and `World::record`),
//! and before anything judges it: the oracles, the store and the reports then
//! speak of the same text, and a resumed campaign comes to the same findings as
//! an uninterrupted one. What is printed is redacted where it is printed.

use murphy_model::{Finding, Observed, Verdict};
use murphy_report::redact;

/// The same execution, its complaint and what was printed without secrets.
pub(crate) fn redacted(mut observed: Observed) -> Observed {
    if let Verdict::Failed { why } | Verdict::Refused { why } = &mut observed.execution.verdict {
        *why = redact::owned(why);
    }
    observed.output = observed.output.as_deref().map(redact::owned);
    observed.logged = observed.logged.as_deref().map(redact::owned);
    observed
}

/// The same sentences, which may quote what was seen, without secrets.
pub(crate) fn sentences(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|text| redact::owned(text)).collect()
}

/// The same findings, what is wrong told without secrets.
pub(crate) fn findings(mut findings: Vec<Finding>) -> Vec<Finding> {
    for finding in &mut findings {
        finding.summary = redact::owned(&finding.summary);
    }
    findings
}
