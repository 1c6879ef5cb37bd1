//! `murphy demo`: test an example system.

use std::path::Path;

use murphy::Finished;
use murphy::replays::System;
use murphy_campaign::{Memory, Sink};
use murphy_report::terminal::{self, RunResult};
use murphy_store::Ndjson;

use crate::args::{DemoArgs, Format};
use crate::context::Context;
use crate::error::Error;
use crate::progress::Progress;
use crate::reporting::{self, Output, Replays, Reports};
use crate::settings::Settings;
use crate::worlds;
use crate::{output, runtime};
use murphy_config as config;

pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<u8, Error> {
    if args.campaign.quiet {
        output::be_quiet();
    }
    let (system, typed) = (args.system.typed(), args.campaign.typed(&args.search));
    let settings = Settings::of_system("murphy demo", &args.app, &system, &typed)?;
    let reports = Reports::of(&args.campaign.report, &[])?;
    reports.check()?;
    let hint = settings.reference_hint;
    let campaign = settings.campaign;
    let (finished, interrupted) = runtime::block_on_all(async {
        let world = worlds::open(settings.place).await?;
        let mut progress = Progress::new(context);
        let mut events = reports.events()?.map(Ndjson::new);
        let mut sinks: Vec<&mut dyn Sink> = vec![&mut progress];
        sinks.extend(events.as_mut().map(|events| events as &mut dyn Sink));
        runtime::campaign(&*world, &campaign, Memory::default(), &mut sinks)
            .await
            .map_err(|failed| Error::of_campaign(failed, &hint))
    })??;
    let Finished {
        outcome,
        mut summary,
    } = finished;
    let system = System::Demo {
        app: campaign.scenario.clone(),
        set: args.system.set.clone(),
        simulate: args.system.simulate,
        keep_state: args.system.keep_state,
    };
    let replays = Replays {
        scenario: &summary.scenario,
        identity: &outcome.chosen.identity,
        prefixes: &outcome.prefixes,
        system: &system,
        state: Path::new(config::STORE),
    };
    let replays = replays.save(&summary.findings);
    summary.replay_command = reporting::replay_command(&replays);
    let (format, detail) = (args.search.format, args.campaign.detail());
    let output = Output {
        format,
        detail,
        is_shown_later: false,
    };
    reporting::write(&summary, &replays, output, &reports)?;
    let code = reporting::exit_code(&summary, args.campaign.require_complete);
    if outcome.broken.is_none() {
        reporting::say_what_is_missing(code, &summary, campaign.max_time);
    }
    if format == Format::Human {
        let results = [RunResult::Ran(Box::new(summary))];
        output::write(|out| terminal::write_run(&results, detail, context.width, out))?;
    }
    let code = reporting::with_broken(code, outcome.broken);
    Ok(match interrupted {
        true => runtime::code_of_signal(),
        false => code,
    })
}
