//! A circuit breaker as libraries offer it, shared by several systems.
//!
//! Owns when calls are let through. What counts as a failure differs between
//! the systems (only lost calls, or error statuses too), so each one tells.

use std::sync::Mutex;
use std::time::Duration;

use super::parts::{Failure, attempt};
use crate::net::{Ctx, PendingCall, Response};

/// Failures in a row that open the breaker; the library's default.
const THRESHOLD: u32 = 5;

/// How long it stays open before one trial is let through.
const RECOVERY: Duration = Duration::from_secs(30);

/// Stops calling a service that failed too often in a row.
pub(super) struct Breaker {
    counts: fn(Failure) -> bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: u32,
    /// When the breaker opened or last let a trial through.
    opened: Option<Duration>,
}

impl Breaker {
    /// A closed breaker; `counts` says which failures it counts.
    pub(super) fn new(counts: fn(Failure) -> bool) -> Self {
        Breaker {
            counts,
            state: Mutex::default(),
        }
    }

    /// Makes the call; `None` if the breaker is open, and nothing is sent.
    pub(super) async fn call(
        &self,
        ctx: &Ctx,
        call: PendingCall,
    ) -> Option<Result<Response, Failure>> {
        if !self.admit(ctx.now()) {
            return None;
        }
        let answer = attempt(call).await;
        self.record(
            ctx.now(),
            answer
                .as_ref()
                .is_err_and(|failure| (self.counts)(*failure)),
        );
        Some(answer)
    }

    fn admit(&self, now: Duration) -> bool {
        let mut state = self.state.lock().expect("no panic while a breaker is held");
        match state.opened {
            None => true,
            // The trial starts a new wait for everyone else: were the caller
            // to vanish, the breaker would not wait for the answer for ever.
            Some(opened) if now >= opened + RECOVERY => {
                state.opened = Some(now);
                true
            }
            Some(_) => false,
        }
    }

    fn record(&self, now: Duration, failed: bool) {
        let mut state = self.state.lock().expect("no panic while a breaker is held");
        if !failed {
            *state = State::default();
            return;
        }
        state.failures += 1;
        if state.failures >= THRESHOLD {
            state.opened = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use murphy_model::{Faultload, Verdict};

    use super::*;
    use crate::net::Abort;
    use crate::{Service, Simulator, System};

    /// Runs a scenario against a service that answers 500 until `healthy_at`.
    fn run<Fut>(healthy_at: Duration, scenario: fn(Ctx, Arc<Breaker>) -> Fut)
    where
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        let flaky = Service::new("flaky", move |ctx, _| async move {
            match ctx.now() < healthy_at {
                true => Err(Abort(500)),
                false => Ok(Response::text("well")),
            }
        });
        let breaker = Arc::new(Breaker::new(|_| true));
        let system = System::new(vec![flaky], move |ctx| scenario(ctx, breaker.clone()));
        let execution = Simulator::of(system).run(&Faultload::none());
        assert_eq!(execution.verdict, Verdict::Passed);
    }

    const GOOD: char = '+';
    const BAD: char = '-';
    const NOT_SENT: char = '0';

    /// Complains unless calls in a row fare like this.
    async fn expect(ctx: &Ctx, breaker: &Breaker, wanted: &[char]) -> Result<(), String> {
        for (nth, wanted) in wanted.iter().enumerate() {
            let fared = match breaker.call(ctx, ctx.get("flaky", "/")).await {
                Some(Ok(_)) => GOOD,
                Some(Err(_)) => BAD,
                None => NOT_SENT,
            };
            if fared != *wanted {
                return Err(format!(
                    "call {nth} at {:?}: {fared}, not {wanted}",
                    ctx.now()
                ));
            }
        }
        Ok(())
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_a_good_trial_closes_it() {
        run(Duration::from_secs(31), |ctx, breaker| async move {
            expect(&ctx, &breaker, &[BAD, BAD, BAD, BAD, BAD, NOT_SENT]).await?;
            ctx.sleep(RECOVERY).await;
            expect(&ctx, &breaker, &[BAD, NOT_SENT]).await?;
            ctx.sleep(RECOVERY).await;
            expect(&ctx, &breaker, &[GOOD; 6]).await
        });
    }

    #[test]
    fn a_success_starts_the_count_afresh() {
        run(Duration::from_secs(1), |ctx, breaker| async move {
            expect(&ctx, &breaker, &[BAD; 4]).await?;
            ctx.sleep(Duration::from_secs(1)).await;
            expect(&ctx, &breaker, &[GOOD]).await?;
            breaker.record(ctx.now(), true);
            expect(&ctx, &breaker, &[GOOD]).await
        });
    }
}
