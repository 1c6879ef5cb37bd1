//! `murphy demo`: test an example system.

use murphy_campaign::Memory;
use murphy_report::{json, terminal};

use crate::args::{DemoArgs, Format};
use crate::context::Context;
use crate::error::Error;
use crate::progress::Progress;
use crate::reporting::{Subject, exit_code, say_what_is_missing};
use crate::settings::Settings;
use crate::worlds::Demo;
use crate::{output, runtime};

pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<u8, Error> {
    let settings = Settings::of_demo(args)?;
    let subject = Subject::of(&settings);
    let hint = settings.reference_hint;
    let outcome = runtime::block_on(async {
        let world = Demo::open(settings.place).await?;
        let mut progress = Progress::new(context);
        let memory = Memory::default();
        let campaign = &settings.campaign;
        runtime::campaign(&world, campaign, memory, &mut [&mut progress])
            .await
            .map_err(|failed| Error::of_campaign(failed, &hint))
    })??;
    let code = exit_code(&outcome, settings.require_complete);
    let summary = subject.summary(&outcome);
    output::write(|out| match settings.format {
        Format::Human => terminal::write(&summary, out),
        Format::Json => json::write(&summary, out),
    })?;
    say_what_is_missing(code, &summary);
    Ok(code)
}
