//! One campaign, from its settings to what is reported of it.
//!
//! The only way to run one: `murphy run`, `murphy demo` and Rust programs come
//! through here, whatever the world is that they bring. Bringing that up is for
//! them, and so is showing the summary.

use murphy_campaign::{Event, Failed, Memory, Outcome, Settings, Sink, Stopping, World};
use murphy_report::{Collector, Summary};

/// A campaign that came to its end.
pub struct Finished {
    /// What came of it.
    pub outcome: Outcome,
    /// What is reported of it.
    pub summary: Summary,
}

/// Runs a campaign; the listeners are told what happens, as it happens.
pub async fn run_campaign(
    world: &dyn World,
    settings: &Settings,
    memory: Memory,
    listeners: &mut [&mut dyn Sink],
    stopping: Stopping,
) -> Result<Finished, Failed> {
    let mut sinks = Listeners {
        collector: Collector::default(),
        others: listeners,
    };
    let outcome = murphy_campaign::run(world, settings, memory, &mut sinks, stopping).await?;
    let summary = sinks.collector.summary();
    Ok(Finished {
        outcome,
        summary: summary.expect("a campaign with an outcome has ended"),
    })
}

/// Several listeners as one. The summary is made first.
struct Listeners<'s, 'l> {
    collector: Collector,
    others: &'s mut [&'l mut dyn Sink],
}

impl Sink for Listeners<'_, '_> {
    fn note(&mut self, event: &Event) {
        self.collector.note(event);
        for sink in self.others.iter_mut() {
            sink.note(event);
        }
    }
}
