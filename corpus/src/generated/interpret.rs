//! Runs generated programs as ordinary handlers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::app::{Service, System};
use crate::net::{Abort, BoxFuture, Ctx, Response, join_all};

use super::program::{Admits, Call, NAMES, Program, Reaction, Step};

/// What services of one system share that outlives a run.
struct Chance {
    coins: Mutex<fastrand::Rng>,
    runs: AtomicU64,
}

/// What one service keeps from run to run.
#[derive(Default)]
struct Kept {
    /// Whether it ran before.
    warm: AtomicBool,
    /// Whether a failure left something behind.
    spoiled: AtomicBool,
}

/// A system of these programs, the entry service first. The scenario is
/// passes on 200 and 503.
pub fn system(programs: Vec<Program>) -> System {
    let chance = Arc::new(Chance {
        coins: Mutex::new(fastrand::Rng::with_seed(programs.len() as u64)),
        runs: AtomicU64::new(0),
    });
    let service = |(index, program): (usize, Program)| {
        let (program, chance) = (Arc::new(program), chance.clone());
        let kept = Arc::new(Kept::default());
        Service::new(NAMES[index], move |ctx, _| {
            let (program, chance, kept) = (program.clone(), chance.clone(), kept.clone());
            async move { serve(&program, &ctx, &chance, &kept).await }
        })
    };
    let services = programs.into_iter().enumerate().map(service).collect();
    System::new(services, |ctx| async move {
        match ctx.get(NAMES[0], "/").send().await {
            Ok(response) if [200, 503].contains(&response.status) => Ok(()),
            Ok(response) => Err(format!("answered {}", response.status)),
            Err(error) => Err(error.to_string()),
        }
    })
}

/// What the outcome of a call means for the service that made it.
enum Next {
    GoOn {
        well: bool,
        /// What the answer said is missing; 0 if nothing.
        missing: u64,
    },
    Answer(u16),
}

impl Next {
    /// Nothing happened that matters.
    const WELL: Next = Next::GoOn {
        well: true,
        missing: 0,
    };

    /// A failure was ignored.
    const FAILED: Next = Next::GoOn {
        well: false,
        missing: 0,
    };
}

async fn serve(
    program: &Program,
    ctx: &Ctx,
    chance: &Chance,
    kept: &Kept,
) -> Result<Response, Abort> {
    let run = chance.runs.fetch_add(1, Ordering::Relaxed);
    let warm = kept.warm.swap(true, Ordering::Relaxed);
    if kept.spoiled.load(Ordering::Relaxed) {
        return Err(Abort::UNHANDLED);
    }
    let mut ignored: Option<usize> = None;
    let mut degraded = false;
    for (index, step) in program.steps.iter().enumerate() {
        let next = match step {
            Step::One(call) => make(call, ctx).await,
            Step::Together(calls) => together(calls, ctx).await,
            Step::IfFailed(call) if ignored.is_some() => make(call, ctx).await,
            Step::IfWell(call) if ignored.is_none() => make(call, ctx).await,
            Step::Maybe(call) if flip(chance) => make(call, ctx).await,
            Step::EverySecond(call) if run.is_multiple_of(2) => make(call, ctx).await,
            Step::Once(call) if !warm => make(call, ctx).await,
            Step::Twins(call) => twins(call, ctx).await,
            _ => Next::WELL,
        };
        match next {
            Next::GoOn { well, missing } => {
                if !well {
                    ignored.get_or_insert(index);
                }
                degraded |= program.brittle.is_some_and(|wants| wants.matches(missing));
            }
            Next::Answer(200) => break,
            Next::Answer(status) => return Err(Abort(status)),
        }
    }
    if program.leaks && ignored.is_some() {
        kept.spoiled.store(true, Ordering::Relaxed);
    }
    if degraded && ignored.is_some() {
        return Err(Abort::UNHANDLED);
    }
    let missing = match (program.admits, ignored) {
        (Admits::Nothing, _) | (_, None) => 0,
        (Admits::That, Some(_)) => 1,
        (Admits::What, Some(index)) => index + 1,
    };
    Ok(Response::json(json!({ "missing": missing })))
}

fn flip(chance: &Chance) -> bool {
    chance.coins.lock().expect("no panic while flipping").bool()
}

/// Two equal calls at the same time: the first may fail, the second must not.
async fn twins(call: &Call, ctx: &Ctx) -> Next {
    let once = || {
        let (call, ctx) = (call.clone(), ctx.clone());
        let attempt: BoxFuture<Result<u64, u16>> =
            Box::pin(async move { attempts(&call, &ctx).await });
        attempt
    };
    match join_all(vec![once(), once()]).await.pop() {
        Some(Err(_)) => Next::Answer(500),
        _ => Next::WELL,
    }
}

async fn together(calls: &[Call], ctx: &Ctx) -> Next {
    let lanes = calls.iter().cloned().map(|call| {
        let ctx = ctx.clone();
        let lane: BoxFuture<Next> = Box::pin(async move { make(&call, &ctx).await });
        lane
    });
    let (mut all_well, mut any_missing) = (true, 0);
    for next in join_all(lanes.collect()).await {
        match next {
            Next::GoOn { well, missing } => {
                all_well &= well;
                any_missing = any_missing.max(missing);
            }
            answer => return answer,
        }
    }
    Next::GoOn {
        well: all_well,
        missing: any_missing,
    }
}

fn make<'a>(
    call: &'a Call,
    ctx: &'a Ctx,
) -> std::pin::Pin<Box<dyn Future<Output = Next> + Send + 'a>> {
    Box::pin(async move {
        let status = match attempts(call, ctx).await {
            Ok(missing) => {
                if let Some((wants, more)) = &call.degraded
                    && wants.matches(missing)
                {
                    make(more, ctx).await;
                }
                return Next::GoOn {
                    well: true,
                    missing,
                };
            }
            Err(status) => status,
        };
        let reaction = match &call.special {
            Some((special, reaction)) if *special == status => reaction,
            _ => &call.failed,
        };
        match reaction {
            Reaction::Ignore => Next::FAILED,
            Reaction::Answer(answer) => Next::Answer(*answer),
            Reaction::Forward => Next::Answer(status),
            Reaction::LeaveRest => Next::Answer(200),
            Reaction::Instead(fallback) => make(fallback, ctx).await,
            Reaction::Also(more) => {
                make(more, ctx).await;
                Next::FAILED
            }
        }
    })
}

/// What a good answer says is missing, or the status of the last failure.
async fn attempts(call: &Call, ctx: &Ctx) -> Result<u64, u16> {
    let mut last = 0;
    for _ in 0..=call.retries {
        match ctx.get(NAMES[call.to], "/").send().await {
            Ok(response) if response.status == 200 => {
                let missing = response
                    .body_json()
                    .and_then(|body| body["missing"].as_u64());
                return Ok(missing.unwrap_or(0));
            }
            Ok(response) => last = response.status,
            Err(_) => last = 502,
        }
    }
    Err(last)
}
