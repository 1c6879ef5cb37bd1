//! Variants of Users with defaults that also guard themselves against a
//! failing Bookings: by breakers, by waiting, by trying again.
//!
//! Apart from the patient ones they keep state that outlives a request, so
//! what they do depends on what happened before.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::super::breaker::Breaker;
use super::super::parts::{Failure, attempt};
use super::data;
use super::services::{get_bookings, get_movie, or_default, users, walk};
use super::users::with_default_movies;
use crate::Service;
use crate::net::{Abort, CallError, Ctx, PendingCall, Response};

/// The failures a hand-made breaker bears ...
const BEARABLE_FAILURES: usize = 10;
/// ... within this time.
const MEMORY: Duration = Duration::from_secs(100);

/// How long the patient variant waits after a lost connection: as long as its
/// test waits for everything.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the stubborn variant asks, and how long it waits after each try.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// With a hand-made breaker around each callee, counting what went wrong
/// lately. A call that is skipped counts as gone wrong.
pub(super) fn with_history() -> Service {
    guarded_by::<History>()
}

/// With a library's breaker around each callee, which counts lost calls only.
pub(super) fn with_breakers() -> Service {
    guarded_by::<LostCalls>()
}

/// Something that may keep calls to one service from being sent.
trait Guard: Default + Send + Sync + 'static {
    /// The answer to the call if it is sent and succeeds.
    fn call(&self, ctx: &Ctx, call: PendingCall) -> impl Future<Output = Option<Response>> + Send;
}

/// Users with defaults and one guard for each of its callees.
fn guarded_by<G: Guard>() -> Service {
    let guards = Arc::new((G::default(), G::default()));
    users(move |ctx, user| {
        let guards = guards.clone();
        async move {
            let (for_bookings, for_movies) = &*guards;
            let call = get_bookings(&ctx, "bookings", &user);
            let answer = for_bookings.call(&ctx, call).await;
            let bookings = or_default(answer, data::default_bookings)?;
            let movie = |id: String| {
                let answer = for_movies.call(&ctx, get_movie(&ctx, &id));
                async move { or_default(answer.await, data::default_movie) }
            };
            walk(bookings, movie).await
        }
    })
}

/// When calls to one service went wrong.
#[derive(Default)]
struct History(Mutex<Vec<Duration>>);

impl Guard for History {
    async fn call(&self, ctx: &Ctx, call: PendingCall) -> Option<Response> {
        let answer = match self.recent(ctx.now()) > BEARABLE_FAILURES {
            true => None,
            false => attempt(call).await.ok(),
        };
        if answer.is_none() {
            self.failures().push(ctx.now());
        }
        answer
    }
}

impl History {
    fn recent(&self, now: Duration) -> usize {
        let mut failures = self.failures();
        failures.retain(|failed| *failed + MEMORY > now);
        failures.len()
    }

    fn failures(&self) -> std::sync::MutexGuard<'_, Vec<Duration>> {
        self.0.lock().expect("no panic while a history is held")
    }
}

/// A library's breaker to which an error status is no failure.
struct LostCalls(Breaker);

impl Default for LostCalls {
    fn default() -> Self {
        LostCalls(Breaker::new(|failure| failure == Failure::NoAnswer))
    }
}

impl Guard for LostCalls {
    async fn call(&self, ctx: &Ctx, call: PendingCall) -> Option<Response> {
        self.0.call(ctx, call).await.and_then(Result::ok)
    }
}

/// Passes it on when Bookings turns requests away; has a default for every
/// other failure.
pub(super) async fn passing_overload_on(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let answer = attempt(get_bookings(&ctx, "bookings", &user)).await;
    if let Err(Failure::Status(429)) = answer {
        return Err(Abort(429));
    }
    let bookings = or_default(answer.ok(), data::default_bookings)?;
    with_default_movies(&ctx, bookings).await
}

/// Waits for Bookings to come back when its connection fails, but does not
/// even ask again.
pub(super) async fn patient(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let answer = get_bookings(&ctx, "bookings", &user).send().await;
    if answer == Err(CallError::Connection) {
        ctx.sleep(PATIENCE).await;
    }
    let answer = answer.ok().filter(|response| response.status == 200);
    let bookings = or_default(answer, data::default_bookings)?;
    with_default_movies(&ctx, bookings).await
}

/// Asks Bookings again and again before it uses the default.
pub(super) async fn stubborn(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let mut answer = None;
    for _ in 0..TRIES {
        answer = attempt(get_bookings(&ctx, "bookings", &user)).await.ok();
        ctx.sleep(PAUSE).await;
        if answer.is_some() {
            break;
        }
    }
    let bookings = or_default(answer, data::default_bookings)?;
    with_default_movies(&ctx, bookings).await
}
