//! `murphy demo`: test an example system.

use std::collections::BTreeMap;

use murphy_report::{Summary, json, terminal};
use murphy_search::Policy;

use crate::args::{DemoArgs, Format, StrategyArg};
use crate::campaign::{self, Outcome, ReferenceFailed};
use crate::context::Context;
use crate::error::{Error, complain};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::{exit, output};

pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<u8, Error> {
    let settings = Settings::of_demo(args)?;
    if !args.search.simulate {
        output::say(
            "note: example systems run in memory for now, as with `--simulate`; sockets come later",
        );
    }
    let mut progress = Progress::new(context);
    let report = Report::before(&settings);
    let hint = settings.reference_hint.clone();
    let outcome = campaign::run(settings.plan, &mut progress)
        .map_err(|ReferenceFailed { complaint }| Error::Reference { complaint, hint })?;
    let code = exit_code(&outcome, args.require_complete);
    let summary = report.summary(outcome);
    output::write(|out| match settings.format {
        Format::Human => terminal::write(&summary, out),
        Format::Json => json::write(&summary, out),
    })?;
    say_what_is_missing(code, &summary);
    Ok(code)
}

/// What the report needs to know of the settings.
struct Report {
    scenario: &'static str,
    about: &'static str,
    strategy: &'static str,
    modes: Vec<String>,
    seed: u64,
    explain_command: String,
}

impl Report {
    fn before(settings: &Settings) -> Self {
        Report {
            scenario: settings.plan.scenario,
            about: settings.about,
            strategy: match settings.plan.strategy {
                StrategyArg::Tree => "tree",
                StrategyArg::Random => "random",
            },
            modes: settings.modes.clone(),
            seed: settings.plan.seed,
            explain_command: settings.explain_command.clone(),
        }
    }

    fn summary(self, outcome: Outcome) -> Summary {
        let reasons = Policy::ALL.map(|policy| (policy.name(), policy.reason()));
        Summary {
            scenario: self.scenario.to_owned(),
            about: self.about.to_owned(),
            strategy: self.strategy,
            modes: self.modes,
            seed: self.seed,
            certificate: outcome.certificate,
            reasons: BTreeMap::from(reasons),
            findings: outcome.findings,
            failed_executions: outcome.complaints.len(),
            reference: outcome.reference,
            points: outcome.points,
            timing: outcome.timing,
            explain_command: self.explain_command,
        }
    }
}

fn exit_code(outcome: &Outcome, require_complete: bool) -> u8 {
    let complete = outcome.certificate.is_complete();
    match () {
        () if !outcome.findings.is_empty() => exit::FINDINGS,
        () if !outcome.injected => exit::NOTHING_INJECTED,
        () if require_complete && !complete => exit::INCOMPLETE,
        () => exit::OK,
    }
}

/// An exit code that is neither good nor a finding wants a word.
fn say_what_is_missing(code: u8, summary: &Summary) {
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
