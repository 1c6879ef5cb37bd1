//! What enters a campaign's events, without the secrets that a system under
//! test gave away.
//!
//! Done once, where an execution comes in, and before anyone judges it: the
//! oracles, the store and the reports then speak of the same text, and a
//! resumed campaign comes to the same findings as an uninterrupted one.

use murphy_model::{Finding, Observed, Verdict};
use murphy_report::redact;

/// The same execution, its complaint and what was printed without secrets.
pub fn redacted(mut observed: Observed) -> Observed {
    if let Verdict::Failed { why } = &mut observed.execution.verdict {
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
