//! Runs generated programs as ordinary handlers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::app::{Service, System};
use crate::net::{Abort, BoxFuture, Ctx, Response, join_all};

use super::program::{Call, NAMES, Program, Reaction, Step};

/// What services of one system share that outlives a run.
struct Chance {
    coins: Mutex<fastrand::Rng>,
    runs: AtomicU64,
}

/// A system of these programs, the entry service first. The scenario is
/// content with 200 and 503.
pub fn system(programs: Vec<Program>) -> System {
    let chance = Arc::new(Chance {
        coins: Mutex::new(fastrand::Rng::with_seed(programs.len() as u64)),
        runs: AtomicU64::new(0),
    });
    let service = |(index, program): (usize, Program)| {
        let (program, chance) = (Arc::new(program), chance.clone());
        Service::new(NAMES[index], move |ctx, _| {
            let (program, chance) = (program.clone(), chance.clone());
            async move { serve(&program, &ctx, &chance).await }
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
    GoOn { well: bool },
    Answer(u16),
}

async fn serve(program: &Program, ctx: &Ctx, chance: &Chance) -> Result<Response, Abort> {
    let run = chance.runs.fetch_add(1, Ordering::Relaxed);
    let mut all_well = true;
    for step in &program.steps {
        let next = match step {
            Step::One(call) => make(call, ctx).await,
            Step::Together(calls) => together(calls, ctx).await,
            Step::IfFailed(call) if !all_well => make(call, ctx).await,
            Step::IfWell(call) if all_well => make(call, ctx).await,
            Step::Maybe(call) if flip(chance) => make(call, ctx).await,
            Step::EverySecond(call) if run.is_multiple_of(2) => make(call, ctx).await,
            _ => Next::GoOn { well: true },
        };
        match next {
            Next::GoOn { well } => all_well &= well,
            Next::Answer(200) => break,
            Next::Answer(status) => return Err(Abort(status)),
        }
    }
    let admitted = program.admits && !all_well;
    Ok(Response::json(json!({ "degraded": admitted })))
}

fn flip(chance: &Chance) -> bool {
    chance.coins.lock().expect("no panic while flipping").bool()
}

async fn together(calls: &[Call], ctx: &Ctx) -> Next {
    let lanes = calls.iter().cloned().map(|call| {
        let ctx = ctx.clone();
        let lane: BoxFuture<Next> = Box::pin(async move { make(&call, &ctx).await });
        lane
    });
    let mut all_well = true;
    for next in join_all(lanes.collect()).await {
        match next {
            Next::GoOn { well } => all_well &= well,
            answer => return answer,
        }
    }
    Next::GoOn { well: all_well }
}

fn make<'a>(
    call: &'a Call,
    ctx: &'a Ctx,
) -> std::pin::Pin<Box<dyn Future<Output = Next> + Send + 'a>> {
    Box::pin(async move {
        let status = match attempts(call, ctx).await {
            Ok(degraded) => {
                if let (true, Some(more)) = (degraded, &call.degraded) {
                    make(more, ctx).await;
                }
                return Next::GoOn { well: true };
            }
            Err(status) => status,
        };
        let reaction = match &call.special {
            Some((special, reaction)) if *special == status => reaction,
            _ => &call.failed,
        };
        match reaction {
            Reaction::Ignore => Next::GoOn { well: false },
            Reaction::Answer(answer) => Next::Answer(*answer),
            Reaction::Forward => Next::Answer(status),
            Reaction::LeaveRest => Next::Answer(200),
            Reaction::Instead(fallback) => make(fallback, ctx).await,
            Reaction::Also(more) => {
                make(more, ctx).await;
                Next::GoOn { well: false }
            }
        }
    })
}

/// Whether a good answer was degraded, or the status of the last failure.
async fn attempts(call: &Call, ctx: &Ctx) -> Result<bool, u16> {
    let mut last = 0;
    for _ in 0..=call.retries {
        match ctx.get(NAMES[call.to], "/").send().await {
            Ok(response) if response.status == 200 => {
                let degraded = response.body_json().is_some_and(|b| b["degraded"] == true);
                return Ok(degraded);
            }
            Ok(response) => last = response.status,
            Err(_) => last = 502,
        }
    }
    Err(last)
}
