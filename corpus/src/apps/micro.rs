//! A system of resilience patterns: retry, fallback, tolerated failures.
//!
//! `a` calls `b` (retried once), `c` (which tolerates `d`, and is tolerated
//! itself) and `e` (which needs `f`), and falls back from `e` to `g`. There is
//! no bug: it shows how patterns multiply the cases.

use std::time::Duration;

use serde_json::json;

use super::expect;
use super::parts::{attempt, hard_500, leaf, retrying};
use crate::net::{Abort, Ctx, PendingCall, Request, Response};
use crate::{App, Service, System, Wire};

/// Long enough for `c` and `e` to see a timeout of their own and answer.
const MIDDLE_TIMEOUT: Duration = Duration::from_secs(5);
const LEAF_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "micro",
        about: "seven services with a retry, a fallback and tolerated failures",
        switches: &[Wire::SWITCH],
        build: |settings| System {
            wire: Wire::of(settings),
            ..System::new(services(), scenario)
        },
        expected: expect::nothing_fails_on_either_wire,
    }]
}

fn services() -> Vec<Service> {
    vec![
        Service::new("a", a),
        leaf("b", json!("b")),
        Service::new("c", c),
        leaf("d", json!("d")),
        Service::new("e", e),
        leaf("f", json!("f")),
        leaf("g", json!("g")),
    ]
}

async fn a(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    retrying(1, || get(&ctx, "b"))
        .await
        .map_err(|_| Abort(500))?;
    let _ = attempt(get(&ctx, "c")).await;
    if attempt(get(&ctx, "e")).await.is_err() {
        hard_500(get(&ctx, "g")).await?;
    }
    Ok(Response::json(json!("a")))
}

async fn c(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    let _ = attempt(get(&ctx, "d")).await;
    Ok(Response::json(json!("c")))
}

async fn e(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    hard_500(get(&ctx, "f")).await
}

fn get(ctx: &Ctx, service: &'static str) -> PendingCall {
    let timeout = match service {
        "c" | "e" => MIDDLE_TIMEOUT,
        _ => LEAF_TIMEOUT,
    };
    ctx.get(service, "/").timeout(timeout)
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let response = expect::answer(ctx.get("a", "/")).await?;
    expect::ok_or(&ctx, &response, &[200, 500])
}
