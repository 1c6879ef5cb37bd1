//! From what came of a campaign to what is shown of it.
//!
//! Owns the summary that every format is made from, and the exit code.

use std::collections::BTreeMap;

use murphy_campaign::Outcome;
use murphy_model::{Finding, Severity};
use murphy_report::{Summary, Timing};
use murphy_search::Policy;

use crate::error::complain;
use crate::exit;
use crate::settings::Settings;

/// What the report needs to know of the settings.
pub(crate) struct Subject {
    pub(crate) scenario: String,
    pub(crate) about: String,
    pub(crate) strategy: &'static str,
    pub(crate) modes: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) explain_command: String,
    /// Replays a finding, without its name.
    pub(crate) replay_command: Option<String>,
}

impl Subject {
    pub(crate) fn of(settings: &Settings) -> Self {
        Subject {
            scenario: settings.campaign.scenario.clone(),
            about: settings.about.to_owned(),
            strategy: settings.campaign.strategy.name(),
            modes: settings.campaign.modes.clone(),
            seed: settings.campaign.seed,
            explain_command: settings.explain_command.clone(),
            replay_command: None,
        }
    }

    /// All that is reported.
    pub(crate) fn summary(self, outcome: &Outcome) -> Summary {
        let reasons = Policy::ALL.map(|policy| (policy.name(), policy.reason()));
        let failed = |case: &&murphy_campaign::Case| case.verdict.is_failure();
        Summary {
            scenario: self.scenario,
            about: self.about,
            strategy: self.strategy,
            modes: self.modes,
            seed: self.seed,
            certificate: outcome.certificate.clone(),
            reasons: BTreeMap::from(reasons),
            findings: outcome.findings.clone(),
            failed_executions: outcome.cases.iter().filter(failed).count(),
            reference: outcome.reference.execution.trace.clone(),
            points: outcome.points.clone(),
            timing: Timing {
                total: outcome.took,
                reference: outcome.reference_took,
            },
            profile: outcome.profile.rows(),
            explain_command: self.explain_command,
            replay_command: self.replay_command,
        }
    }
}

/// How it went, for scripts.
pub(crate) fn exit_code(outcome: &Outcome, require_complete: bool) -> u8 {
    let complete = outcome.certificate.is_complete();
    let fails = |finding: &Finding| finding.severity == Severity::Fail;
    match () {
        () if outcome.findings.iter().any(fails) => exit::FINDINGS,
        () if !outcome.injected => exit::NOTHING_INJECTED,
        () if require_complete && !complete => exit::INCOMPLETE,
        () => exit::OK,
    }
}

/// An exit code that is neither good nor a finding wants a word.
pub(crate) fn say_what_is_missing(code: u8, summary: &Summary) {
    let explored = summary.certificate.explored;
    match code {
        exit::NOTHING_INJECTED if summary.certificate.points == 0 => complain(
            "nothing was tested: no call can be made to fail\nhint: the scenario makes no calls below its own, or `--only` and `--except` leave none",
        ),
        exit::NOTHING_INJECTED if summary.certificate.is_complete() => complain(
            "nothing was tested: these modes show callers only what they are shown anyway\nhint: choose `--modes` that are failures, such as 503 or reset",
        ),
        exit::NOTHING_INJECTED => complain(format_args!(
            "nothing was tested: no fault struck (executions: {explored})\nhint: allow more with `--max-cases` or `--max-time`"
        )),
        exit::INCOMPLETE => {
            complain("the search is not complete, which `--require-complete` asks for");
        }
        _ => {}
    }
}
