//! Runs a campaign to its end, or to where Ctrl-C stops it.
//!
//! Owns the runtime and what signals mean: the first lets running cases
//! finish, the second stops at once. Either way everything is cleaned up,
//! because what must be is owned by what is dropped here.

use murphy_campaign::{Event, Failed, Hurry, Memory, Outcome, Settings, Sink, Stopper, World, run};

use crate::error::Error;
use crate::output;

/// Does something asynchronous on a runtime of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| anyhow::Error::new(error).context("cannot start threads"))?;
    Ok(runtime.block_on(work))
}

/// Runs a campaign; signals stop it. Says whether one did.
pub(crate) async fn campaign<W: World>(
    world: &W,
    settings: &Settings,
    memory: Memory,
    sinks: &mut [&mut dyn Sink],
) -> Result<(Outcome, bool), Failed> {
    let stopper = Stopper::new();
    let stopping = stopper.stopping();
    let mut sinks = All(sinks);
    let running = run(world, settings, memory, &mut sinks, stopping.clone());
    tokio::select! {
        outcome = running => Ok((outcome?, stopping.hurry() > Hurry::None)),
        never = signals(&stopper) => never,
    }
}

async fn signals(stopper: &Stopper) -> ! {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = signal(SignalKind::terminate());
    let mut terminated = terminated.expect("signals can be listened to");
    for word in [FIRST, SECOND] {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        }
        output::say(word);
        stopper.hurry();
    }
    std::future::pending().await
}

const FIRST: &str = "stopping: the running cases are finished first; once more to stop at once";
const SECOND: &str = "stopping at once";

/// Several listeners as one.
struct All<'s, 'l>(&'s mut [&'l mut dyn Sink]);

impl Sink for All<'_, '_> {
    fn note(&mut self, event: &Event) {
        for sink in self.0.iter_mut() {
            sink.note(event);
        }
    }
}
