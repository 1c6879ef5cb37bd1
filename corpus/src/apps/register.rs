//! A controller that registers with many proxies at once.
//!
//! The lanes run concurrently and retry on their own, so the number of cases
//! is one lane's to the power of the lanes, and calls of different lanes come
//! in any order. There is no bug.

use std::time::Duration;

use serde_json::json;

use super::expect::{self, DECLARED, HTTP};
use super::parts::{Failure, leaf, retrying};
use crate::net::{Abort, BoxFuture, Ctx, Request, Response, join_all};
use crate::{App, Expected, Service, Settings, Switch, System, Values};

const TIMEOUT: Duration = Duration::from_secs(5);

const PROXIES: [&str; 8] = [
    "proxy-1", "proxy-2", "proxy-3", "proxy-4", "proxy-5", "proxy-6", "proxy-7", "proxy-8",
];

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "register",
        about: "concurrent calls to many proxies, each with its own retries",
        switches: &[
            Switch {
                name: "proxies",
                about: "how many proxies there are",
                values: Values::Number(1, 8),
                default: "3",
            },
            Switch {
                name: "retries",
                about: "how often a failed registration is tried again",
                values: Values::Number(0, 8),
                default: "0",
            },
        ],
        build,
        expected,
    }]
}

fn expected() -> Vec<Expected> {
    vec![
        expect::fails("", HTTP, &[]),
        expect::fails("", DECLARED, &[]),
        expect::fails("retries=1", HTTP, &[]),
        expect::fails("retries=1", DECLARED, &[]),
    ]
}

fn build(settings: &Settings) -> System {
    let proxies = &PROXIES[..settings.number("proxies") as usize];
    let retries = settings.number("retries");
    let controller = move |ctx, _: Request| controller(ctx, proxies, retries);
    let mut services = vec![Service::new("controller", controller)];
    services.extend(
        proxies
            .iter()
            .map(|proxy| leaf(proxy, json!({"registered": true}))),
    );
    System::new(services, scenario)
}

async fn controller(
    ctx: Ctx,
    proxies: &'static [&'static str],
    retries: u32,
) -> Result<Response, Abort> {
    let lanes = proxies
        .iter()
        .map(|proxy| register(ctx.clone(), proxy, retries));
    let answers = join_all(lanes.collect()).await;
    if answers.iter().any(Result::is_err) {
        return Err(Abort(500));
    }
    Ok(Response::json(json!({"registered": answers.len()})))
}

fn register(ctx: Ctx, proxy: &'static str, retries: u32) -> BoxFuture<Result<Response, Failure>> {
    Box::pin(async move {
        let call = || ctx.post(proxy, "/register").timeout(TIMEOUT);
        retrying(retries, call).await
    })
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let response = expect::answer(ctx.post("controller", "/register")).await?;
    expect::ok_or(&ctx, &response, &[200, 500])
}
