//! Runs a campaign to its end, or to where Ctrl-C stops it.
//!
//! Owns the runtime and what signals mean: the first Ctrl-C lets running cases
//! finish, the second stops at once; so does whoever ends Murphy (SIGTERM) or
//! hangs up (SIGHUP), since they will not wait. Either way everything is cleaned up,
//! because what must be is owned by what is dropped here.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use murphy::{Finished, run_campaign};
use murphy_campaign::{Failed, Memory, Settings, SetupError, Sink, Stop, Stopper, Stopping, World};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, report};
use crate::{exit, output};

/// Does something asynchronous on a runtime of its own, on this thread, which is
/// enough: the proxies have threads of theirs. A signal stops it at once, unless
/// a campaign is under way, which has its own way of stopping.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    block_on_runtime(&mut Builder::new_current_thread(), work)
}

/// The same on all processors, for systems that are served in this process.
pub(crate) fn block_on_all<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    block_on_runtime(&mut Builder::new_multi_thread(), work)
}

fn block_on_runtime<T>(builder: &mut Builder, work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = builder
        .enable_all()
        .build()
        .map_err(|error| Error::Internal {
            what: "cannot start threads",
            error,
        })?;
    runtime.block_on(async {
        let mut signals = Signals::listen();
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = signals.outside_campaigns() => Err(Error::Interrupted),
        }
    })
}

/// Runs a campaign; signals stop it. Says whether one did.
pub(crate) async fn campaign(
    world: &dyn World,
    settings: &Settings,
    memory: Memory,
    sinks: &mut [&mut dyn Sink],
) -> Result<(Finished, bool), Failed> {
    let _under_way = UnderWay::begin();
    let stopper = Stopper::new();
    let stopping = stopper.stopping();
    let running = run_campaign(world, settings, memory, sinks, stopping.clone());
    let finished = tokio::select! {
        finished = running => finished?,
        never = stop_on_signals(&stopper) => never,
    };
    Ok((finished, stopping.requested() > Stop::No))
}

/// Does something that a graceful stop is asked of; the second signal stops it
/// at once. Says whether there was one.
pub(crate) async fn stoppable<T>(
    work: impl AsyncFnOnce(Stopping) -> Result<T, Error>,
) -> (Result<T, Error>, bool) {
    let _under_way = UnderWay::begin();
    let stopper = Stopper::new();
    let stopping = stopper.stopping();
    let mut now = stopper.stopping();
    let done = tokio::select! {
        done = work(stopping.clone()) => done,
        () = now.more_than(Stop::Graceful) => Err(Error::Interrupted),
        never = stop_on_signals(&stopper) => never,
    };
    (done, stopping.requested() > Stop::No)
}

async fn stop_on_signals(stopper: &Stopper) -> ! {
    let mut signals = Signals::listen();
    if signals.next().await == Wish::Finish {
        output::say(FIRST);
        stopper.stop();
        signals.next().await;
    }
    output::say(SECOND);
    // Asked twice, it stops now.
    stopper.stop();
    stopper.stop();
    std::future::pending().await
}

/// Stops what was brought up; `interrupted` says whether a signal had asked for
/// an end before. There may be a result by now, which no signal takes away:
/// the first waits until all is in order, and the second breaks that off,
/// which leaves the cleaning up to what is dropped.
pub(crate) async fn stop(
    stopping: impl Future<Output = Result<(), SetupError>>,
    mut interrupted: bool,
) -> Stopped {
    let _under_way = UnderWay::begin();
    let mut signals = Signals::listen();
    let mut stopping = std::pin::pin!(stopping);
    loop {
        tokio::select! {
            biased;
            stopped = &mut stopping => {
                let trouble = stopped.err();
                return Stopped { trouble, interrupted };
            }
            wish = signals.next() => interrupted |= wish == Wish::StopNow,
        }
        if std::mem::replace(&mut interrupted, true) {
            output::say(SECOND);
            return Stopped {
                trouble: None,
                interrupted,
            };
        }
        output::say(FIRST_WHILE_STOPPING);
    }
}

/// What came of the end.
pub(crate) struct Stopped {
    /// What is not in order now.
    pub(crate) trouble: Option<SetupError>,
    /// Whether a signal asked for an end, by now or before.
    pub(crate) interrupted: bool,
}

impl Stopped {
    /// The exit code of a result that has been shown, together with what came
    /// of the end; complains about that where it did not go well.
    pub(crate) fn with_result(self, code: u8) -> u8 {
        let trouble = self.trouble.map(|trouble| report(&Error::Broken(trouble)));
        match self.interrupted {
            true => code_of_signal(),
            false => exit::worst(&[code, trouble.unwrap_or(exit::OK)]),
        }
    }
}

const FIRST_WHILE_STOPPING: &str =
    "stopping: shutting down what was started; press Ctrl-C again to stop now";
const FIRST: &str = "stopping: finishing running executions; press Ctrl-C again to stop now";
const SECOND: &str = "stopping now";

/// Whether a campaign is under way. Signals are the whole process's, and so is
/// what they mean at a time.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// The exit code that the last signal stands for.
static CODE: AtomicU8 = AtomicU8::new(exit::INTERRUPTED);

/// The exit code of something that a signal stopped.
pub(crate) fn code_of_signal() -> u8 {
    CODE.load(Ordering::Relaxed)
}

/// A campaign is under way for as long as this is there.
struct UnderWay;

impl UnderWay {
    fn begin() -> Self {
        UNDER_WAY.store(true, Ordering::Relaxed);
        UnderWay
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.store(false, Ordering::Relaxed);
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// A graceful stop; a second one means now.
    Finish,
    /// An end now.
    StopNow,
}

/// The signals that ask Murphy to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> Self {
        let listen = |kind| signal(kind).expect("signals can be listened to");
        Signals {
            interrupt: listen(SignalKind::interrupt()),
            terminate: listen(SignalKind::terminate()),
            hang_up: listen(SignalKind::hangup()),
        }
    }

    async fn next(&mut self) -> Wish {
        let (code, wish) = tokio::select! {
            _ = self.interrupt.recv() => (exit::INTERRUPTED, Wish::Finish),
            _ = self.terminate.recv() => (exit::TERMINATED, Wish::StopNow),
            _ = self.hang_up.recv() => (exit::HUNG_UP, Wish::StopNow),
        };
        CODE.store(code, Ordering::Relaxed);
        wish
    }

    /// Waits for one that no campaign takes care of.
    async fn outside_campaigns(&mut self) {
        loop {
            self.next().await;
            if !UNDER_WAY.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}
