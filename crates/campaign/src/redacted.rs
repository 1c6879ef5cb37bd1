//! Executions without the secrets that a system under test gave away.
//!
//! Done once, where an execution comes in, and before anyone judges it: the
//! oracles, the store and the reports then speak of the same text, and a
//! resumed campaign comes to the same findings as an uninterrupted one.

use murphy_model::{Observed, Verdict};
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
