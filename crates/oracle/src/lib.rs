//! Judges executions and collects their complaints.
//!
//! An [`Oracle`] looks at one execution and says whether something is wrong;
//! each has a module of its own. How much their words count is a matter of
//! [`Settings`]; what happens without faults is known from a [`Reference`].
//! What they say is collected in [`Findings`], which boils many failing
//! executions down to few bugs, each with the smallest faultload that shows
//! it. [`Profile`] judges nothing: it notes what every edge does about
//! failures. Pure: running executions and printing findings are for others.

mod attempts;
mod blame;
mod case;
mod complaint;
mod complaint_text;
mod core_faults;
mod findings;
mod index;
mod limits;
mod minimal;
mod no_cause;
mod not_exercised;
mod oracle;
mod profile;
mod redundant_calls;
mod reference;
mod response;
mod retry_amplification;
mod retry_at_once;
mod retry_not_idempotent;
mod scenario;
mod settings;
#[cfg(test)]
mod testing;
mod timeout_inversion;
mod wrong_status;

pub use blame::failing_calls;
pub use complaint::Complaint;
pub use complaint_text::{mask, one_line, telling_line, with_values};
pub use findings::Findings;
pub use index::FaultloadIndex;
pub use oracle::{Oracle, UnknownOracle};
pub use profile::Profile;
pub use reference::Reference;
pub use scenario::answer_above_faults;
pub use settings::{Level, MOST_ATTEMPTS, ResponseRules, SettingError, Settings, UnknownLevel};

use case::Case;
use murphy_model::{Observed, Severity};

/// What the oracles hold against an execution, each with the severity that
/// the settings leave it.
pub fn judge(
    observed: &Observed,
    reference: &Reference,
    settings: &Settings,
) -> Vec<(Oracle, Severity, Complaint)> {
    let case = Case {
        observed,
        reference,
        settings,
    };
    let mut complaints = Vec::new();
    for oracle in Oracle::ALL {
        let Some(most) = settings.level(oracle).severity() else {
            continue;
        };
        let said = oracle.judge(&case).into_iter();
        complaints.extend(said.map(|c| (oracle, c.severity.min(most), c)));
    }
    complaints
}
