//! `murphy baseline write`: take what the last campaigns found as known.

use murphy_model::Finding;
use murphy_store::Store;
use murphy_store::baseline::{Date, ToKnow};

use crate::args::BaselineArgs;
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::{baseline_filter, campaign_record, exit, output};
use murphy_config::Usage;

pub(crate) fn run(args: &BaselineArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let expires = args.expires.as_deref().map(date).transpose()?;
    let file = project.baseline(args.baseline.as_deref());
    let mut baseline = baseline_filter::load(&file)?;
    let store = Store::open_existing(project.state())?;
    let store =
        store.ok_or_else(|| Usage::new("nothing was found yet").hint("run `murphy run` first"))?;
    let (mut added, mut seen, mut ended) = (0, 0, 0);
    for scenario in &project.scenarios {
        let Some(last) = campaign_record::last_result(&store, &project, scenario)? else {
            continue;
        };
        let result = store.ended(&last.campaign)?;
        let findings = result.map(|it| it.findings).unwrap_or_default();
        ended += 1;
        seen += findings.len();
        added += baseline.add(
            &scenario.name,
            findings.iter().map(to_know),
            &args.reason,
            expires.as_ref(),
            &baseline_filter::today(),
        );
    }
    if ended == 0 {
        return Err(none_ended(&project).into());
    }
    baseline
        .save(&file)
        .map_err(|error| Usage::new(error.to_string()))?;
    output::write(|out| {
        writeln!(
            out,
            "{}: {added} of {seen} findings are new to it; they do not fail the build any more",
            file.display()
        )
    })?;
    Ok(exit::OK)
}

fn to_know(finding: &Finding) -> ToKnow<'_> {
    ToKnow {
        id: &finding.id,
        summary: &finding.summary,
        modes: finding.modes(),
    }
}

fn none_ended(project: &Project) -> Usage {
    let refused = match &project.scenarios[..] {
        [only] => campaign_record::none_ended(project, only),
        _ => Usage::new("no campaign on any of the scenarios has ended yet"),
    };
    refused.hint("run `murphy run` first; what it finds can then be taken as known")
}

fn date(text: &str) -> Result<Date, Usage> {
    let date: Date = text
        .parse()
        .map_err(|error: murphy_store::baseline::NotADate| {
            Usage::new(error.to_string())
                .at("--expires", text, text, "a day is expected")
                .hint("write for example `--expires 2027-01-31`")
        })?;
    match date < baseline_filter::today() {
        true => Err(Usage::new("this would excuse nothing: the day is past")
            .at("--expires", text, text, "before today")
            .hint("name the last day on which the findings may stay, or leave it out")),
        false => Ok(date),
    }
}
