//! How far a campaign is, for people who wait: a line that changes in place on
//! a terminal, a plain line now and then elsewhere.
//!
//! Owns the look and the pace of it. Where a campaign stands it learns from
//! the campaign's events.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use murphy_campaign::{Event, Sink, Standing};
use murphy_report::number::{counted, pace};

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
        let bar = (context.live_progress && !output::is_quiet()).then(|| {
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
            None => output::progress(text()),
        }
    }

    /// Says what is being done now, for who waits for it.
    pub(crate) fn step(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(IN_PLACE);
        }
        self.show(|| text.to_owned(), true);
    }

    /// Says something that stays, beside the line that changes.
    fn aside(&self, text: &str) {
        let say = || output::progress(text);
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    fn standing(&self, standing: &Standing) -> String {
        let made = standing.explored.saturating_sub(self.stored);
        told(standing, pace(made, self.began.elapsed()))
    }
}

/// Where a campaign stands that makes executions at this pace. What its
/// strategy does not tell is left out.
///
/// The time left is not told: what waits may turn out redundant, and every
/// execution may show calls that open more, so neither end of a range is known.
fn told(standing: &Standing, pace: Option<String>) -> String {
    let mut parts = vec![format!("{} explored", standing.explored)];
    parts.extend(standing.skipped.map(|skipped| format!("{skipped} skipped")));
    parts.extend(standing.waiting.map(|waiting| format!("{waiting} waiting")));
    parts.push(format!("{} failed", standing.failed));
    parts.push(counted(standing.findings, "finding"));
    parts.extend(pace);
    parts.join(" · ")
}

impl Sink for Progress {
    fn note(&mut self, event: &Event) {
        match event {
            Event::ReferenceRan { number, observed } => {
                let took = observed.took;
                self.show(
                    || {
                        format!(
                            "reference {number}: {}, {took:.0?}",
                            counted(observed.execution.trace.calls().len(), "call")
                        )
                    },
                    self.bar.is_some(),
                );
            }
            Event::Restarted { executions, masked } => {
                self.stored = 0;
                for why in masked {
                    output::note(format_args!("ignoring {why}"));
                }
                output::note(format_args!(
                    "starting over; {} with other names for these calls are run again",
                    counted(*executions, "execution")
                ));
            }
            Event::ExecutionEnded { stored: true, .. } => self.stored += 1,
            Event::Learned(standing) => {
                let text = self.standing(standing);
                self.show(|| text, false);
            }
            Event::Audited { number, .. } => {
                let text = format!("audit: {}", counted(*number, "skipped case"));
                self.show(|| text, false);
            }
            Event::Checked { passed: false, .. } => {
                let text = "the scenario fails without faults: looking for the execution that left state behind";
                self.show(|| text.to_owned(), self.bar.is_some());
            }
            Event::FailedInParallel(flag) => {
                self.aside(&format!("note: {}", murphy_report::doubt(flag)));
            }
            Event::Found(found) => self.aside(&murphy_report::found(found)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_strategy_does_not_tell_is_left_out() {
        let sampling = Standing {
            explored: 40,
            failed: 7,
            findings: 1,
            ..Standing::default()
        };
        assert_eq!(
            told(&sampling, pace(40, Duration::from_secs(100))),
            "40 explored · 7 failed · 1 finding · 2.5 s per execution"
        );
        let searching = Standing {
            skipped: Some(9),
            waiting: Some(24),
            ..sampling
        };
        assert_eq!(
            told(&searching, None),
            "40 explored · 9 skipped · 24 waiting · 7 failed · 1 finding"
        );
    }
}
