//! The progress line: for people who wait, on stderr, in place.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::context::Context;

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// Where a campaign stands.
pub(crate) struct Standing {
    pub(crate) explored: usize,
    pub(crate) skipped: usize,
    pub(crate) waiting: usize,
    pub(crate) failed: usize,
}

/// A line that changes in place; nothing where that is not wanted.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    drawn: Instant,
}

impl Progress {
    /// Shown only if the surroundings allow it.
    pub(crate) fn new(context: &Context) -> Self {
        Progress::with(context.live_progress.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(
                ProgressStyle::with_template("{spinner} {msg}").expect("a valid template"),
            )
        }))
    }

    /// Never shown.
    pub(crate) fn quiet() -> Self {
        Progress::with(None)
    }

    fn with(bar: Option<ProgressBar>) -> Self {
        let now = Instant::now();
        Progress {
            bar,
            began: now,
            drawn: now,
        }
    }

    /// Says where the campaign stands, if it is time to.
    pub(crate) fn update(&mut self, standing: impl FnOnce() -> Standing) {
        let Some(bar) = &self.bar else {
            return;
        };
        if self.drawn.elapsed() < INTERVAL {
            return;
        }
        self.drawn = Instant::now();
        let Standing {
            explored,
            skipped,
            waiting,
            failed,
        } = standing();
        let rate = explored as f64 / self.began.elapsed().as_secs_f64();
        bar.set_message(format!(
            "{explored} explored · {skipped} skipped · {waiting} waiting · {failed} failed · {rate:.0}/s"
        ));
        bar.tick();
    }

    /// Takes the line away, so that results start on a clean one.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
