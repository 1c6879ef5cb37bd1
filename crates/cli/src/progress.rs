//! How far a campaign is, for people who wait: a line that changes in place on
//! a terminal, a plain line now and then elsewhere.
//!
//! Owns the look and the pace of it. Where a campaign stands it learns from
//! the campaign's events.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use murphy_campaign::{Event, Sink, Standing};
use murphy_model::Found;
use murphy_report::BugsFound;
use murphy_report::number::{counted, grouped, pace, rough_span};

use crate::context::Context;
use crate::output;

/// Often enough to look alive, seldom enough to cost nothing.
const IN_PLACE: Duration = Duration::from_millis(100);

/// In a log every line stays.
const IN_LOG: Duration = Duration::from_secs(10);

/// So long it takes at most until the next one: a campaign of an hour is not to
/// fill a screen with how far it was.
const SELDOM_IN_LOG: Duration = Duration::from_secs(120);

/// Shows how far a campaign is.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    shown: Instant,
    /// How long the last line has to stay the last one.
    interval: Duration,
    /// Executions that were not made here do not count for the rate.
    stored: usize,
    /// Whether it was said that all single faults are done.
    singles_told: bool,
    scenario: String,
    /// The bugs of this campaign.
    bugs: BugsFound,
    /// Those that were told of, by earlier campaigns of the same run too.
    told: BugsFound,
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
            began: now,
            shown: now,
            interval: if bar.is_some() { IN_PLACE } else { IN_LOG },
            bar,
            stored: 0,
            singles_told: false,
            scenario: String::new(),
            bugs: BugsFound::default(),
            told: BugsFound::default(),
        }
    }

    /// The same after other campaigns that told of these bugs.
    pub(crate) fn after(mut self, told: BugsFound) -> Self {
        self.told = told;
        self
    }

    /// The bugs that were told of.
    pub(crate) fn told(&mut self) -> BugsFound {
        std::mem::take(&mut self.told)
    }

    fn show(&mut self, text: impl FnOnce() -> String, at_once: bool) {
        if !at_once && self.shown.elapsed() < self.interval {
            return;
        }
        self.shown = Instant::now();
        if self.bar.is_none() && !at_once {
            self.interval = (self.interval * 2).min(SELDOM_IN_LOG);
        }
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

    /// Says that a bug was found; another finding of the same bug is none.
    fn tell_found(&mut self, found: &Found) {
        self.bugs.take(&self.scenario, found);
        if self.told.take(&self.scenario, found) {
            self.aside(&murphy_report::found(found));
        }
    }

    /// The same with what counts as a finding in the report.
    fn with_bugs(&self, standing: &Standing) -> Standing {
        Standing {
            findings: standing.findings.min(self.bugs.failures()),
            ..*standing
        }
    }

    fn standing(&self, standing: &Standing) -> String {
        let made = standing.explored.saturating_sub(self.stored);
        told(
            standing,
            pace(made, self.began.elapsed()),
            self.rest(standing),
        )
    }

    /// How long the combinations that wait take at the pace until now, once
    /// all single faults are done.
    fn rest(&self, standing: &Standing) -> Option<Duration> {
        let made = standing.explored.checked_sub(self.stored)?;
        let waiting = standing.waiting.filter(|_| standing.singles_done)?;
        let took = self.began.elapsed().checked_div(made.try_into().ok()?)?;
        Some(took * u32::try_from(waiting + 1).ok()?)
    }

    /// Says once that what follows are combinations, if they take their time.
    fn tell_singles(&mut self, standing: &Standing) {
        let Some(rest) = self.rest(standing).filter(|_| !self.singles_told) else {
            return;
        };
        self.singles_told = true;
        if rest >= IN_LOG {
            self.aside(&singles(standing, rest));
        }
    }
}

/// Where a campaign stands that makes executions at this pace. What its
/// strategy does not tell is left out.
///
/// While single faults are tried the time left is not told: what waits may turn
/// out redundant, and every execution may show calls that open more.
fn told(standing: &Standing, pace: Option<String>, rest: Option<Duration>) -> String {
    let mut parts = vec![format!("{} explored", standing.explored)];
    parts.extend(standing.skipped.map(|skipped| format!("{skipped} skipped")));
    parts.extend(standing.waiting.map(|waiting| match rest {
        None => format!("{waiting} waiting"),
        Some(rest) => {
            let combinations = counted(waiting + 1, "combination");
            format!(
                "{combinations} waiting, about {}",
                rough_span(rest.as_secs_f64())
            )
        }
    }));
    parts.push(format!("{} failed", standing.failed));
    parts.push(counted(standing.findings, "finding"));
    parts.extend(pace);
    parts.join(" · ")
}

/// What is known when every fault was tried alone. How many combinations there
/// will be is not: some turn out redundant, others come up.
fn singles(standing: &Standing, rest: Duration) -> String {
    let waiting = standing.waiting.unwrap_or_default() + 1;
    format!(
        "single faults done: {}, {}; combinations follow: {} known until now, about {}; Ctrl-C ends with a report",
        counted(standing.explored, "execution"),
        counted(standing.findings, "finding"),
        grouped(waiting),
        rough_span(rest.as_secs_f64())
    )
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
            Event::Began(began) => self.scenario.clone_from(&began.scenario),
            Event::Restarted { executions, masked } => {
                self.stored = 0;
                self.bugs = BugsFound::default();
                for why in masked {
                    output::note(format_args!("ignoring {why}"));
                }
                output::note(format_args!(
                    "starting over; {} with other names for these calls are run again",
                    counted(*executions, "execution")
                ));
            }
            Event::ExecutionEnded { stored: true, .. } => self.stored += 1,
            Event::IdentityChosen { identity, .. } => {
                for flag in murphy_campaign::left_out_flags(identity) {
                    self.aside(&format!("note: {}", murphy_report::doubt(&flag)));
                }
            }
            Event::Learned(standing) => {
                let standing = self.with_bugs(standing);
                self.tell_singles(&standing);
                let text = self.standing(&standing);
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
            Event::Found(found) => self.tell_found(found),
            Event::StateLeft(left) => self.tell_found(&murphy_report::state_left(left)),
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
            told(&sampling, pace(40, Duration::from_secs(100)), None),
            "40 explored · 7 failed · 1 finding · 2.5 s per execution"
        );
        let searching = Standing {
            skipped: Some(9),
            waiting: Some(24),
            ..sampling
        };
        assert_eq!(
            told(&searching, None, None),
            "40 explored · 9 skipped · 24 waiting · 7 failed · 1 finding"
        );
    }

    #[test]
    fn once_single_faults_are_done_the_rest_is_forecast() {
        let standing = Standing {
            explored: 34,
            skipped: Some(0),
            waiting: Some(209),
            singles_done: true,
            findings: 3,
            failed: 20,
        };
        let rest = Duration::from_secs(240);
        assert_eq!(
            singles(&standing, rest),
            "single faults done: 34 executions, 3 findings; combinations follow: 210 known until now, about 4 min; Ctrl-C ends with a report"
        );
        assert_eq!(
            told(&standing, None, Some(rest)),
            "34 explored · 0 skipped · 210 combinations waiting, about 4 min · 20 failed · 3 findings"
        );
    }
}
