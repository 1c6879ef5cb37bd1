//! `murphy baseline write`: take what the last campaigns found as known.

use murphy_campaign::baseline::Date;
use murphy_campaign::store::Store;

use crate::args::BaselineArgs;
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::usage::Usage;
use crate::{exit, known, output};

pub(crate) fn run(args: &BaselineArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let expires = args.expires.as_deref().map(date).transpose()?;
    let file = project.baseline(args.baseline.as_deref());
    let mut baseline = known::load(&file)?;
    let store = Store::open_existing(project.state())?;
    let store =
        store.ok_or_else(|| Usage::new("nothing was found yet").hint("run `murphy run` first"))?;
    let (mut added, mut seen) = (0, 0);
    for scenario in &project.scenarios {
        let Some(last) = store.last_ended(&scenario.name)? else {
            continue;
        };
        let findings = store.findings(&last.entry.campaign)?;
        seen += findings.len();
        added += baseline.add(
            &scenario.name,
            findings
                .iter()
                .map(|it| (it.id.as_str(), it.summary.as_str())),
            &args.reason,
            expires.as_ref(),
            &known::today(),
        );
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

fn date(text: &str) -> Result<Date, Usage> {
    text.parse()
        .map_err(|error: murphy_campaign::baseline::NotADate| {
            Usage::new(error.to_string())
                .at("--expires", text, text, "a day is expected")
                .hint("write for example `--expires 2027-01-31`")
        })
}
