//! How far a campaign is, for people who wait: a line that changes in place on
//! a terminal, a plain line now and then elsewhere.
//!
//! Owns the look and the pace of it. Where a campaign stands it learns from
//! the campaign's events.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use murphy_campaign::{Event, Sink, Standing};

use crate::context::Context;
use crate::output;

/// Often enough to look alive, seldom enough to cost nothing.
const IN_PLACE: Duration = Duration::from_millis(100);

/// In a log every line stays.
const IN_LOG: Duration = Duration::from_secs(10);

/// Shows how far a campaign is.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    shown: Instant,
    /// Executions that were not made here do not count for the rate.
    stored: usize,
}

impl Progress {
    /// As the surroundings allow it.
    pub(crate) fn new(context: &Context) -> Self {
        let bar = context.live_progress.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(
                ProgressStyle::with_template("{spinner} {msg}").expect("a valid template"),
            )
        });
        let now = Instant::now();
        Progress {
            bar,
            began: now,
            shown: now,
            stored: 0,
        }
    }

    fn show(&mut self, text: impl FnOnce() -> String, at_once: bool) {
        let interval = match &self.bar {
            Some(_) => IN_PLACE,
            None => IN_LOG,
        };
        if !at_once && self.shown.elapsed() < interval {
            return;
        }
        self.shown = Instant::now();
        match &self.bar {
            Some(bar) => {
                bar.set_message(text());
                bar.tick();
            }
            None => output::say(text()),
        }
    }

    fn standing(&self, standing: &Standing) -> String {
        let Standing {
            explored,
            skipped,
            waiting,
            failed,
        } = standing;
        let made = explored.saturating_sub(self.stored) as f64;
        let rate = made / self.began.elapsed().as_secs_f64().max(0.001);
        let left = match rate > 0.0 && *waiting > 0 {
            // More may turn up: it is never less than this.
            true => format!(" · at least {} left", seconds(*waiting as f64 / rate)),
            false => String::new(),
        };
        format!(
            "{explored} explored · {skipped} skipped · {waiting} waiting · {failed} failed · {}/s{left}",
            rounded(rate)
        )
    }
}

impl Sink for Progress {
    fn note(&mut self, event: &Event) {
        match event {
            Event::ReferenceRan { number, observed } => {
                let took = observed.took;
                self.show(
                    || {
                        format!(
                            "reference {number}: {} calls, {took:.0?}",
                            observed.execution.trace.calls().len()
                        )
                    },
                    self.bar.is_some(),
                );
            }
            Event::ExecutionEnded { stored: true, .. } => self.stored += 1,
            Event::Learned(standing) => {
                let text = self.standing(standing);
                self.show(|| text, false);
            }
            Event::Ended { .. } => self.clear(),
            _ => {}
        }
    }
}

impl Progress {
    /// Takes the line away, so that results start on a clean one.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn rounded(rate: f64) -> String {
    match rate < 10.0 {
        true => format!("{rate:.1}"),
        false => format!("{rate:.0}"),
    }
}

fn seconds(seconds: f64) -> String {
    match seconds < 120.0 {
        true => format!("{seconds:.0}s"),
        false => format!("{:.0}m", seconds / 60.0),
    }
}
