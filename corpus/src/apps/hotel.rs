//! DeathStarBench's hotel reservation: four front pages over one set of services.
//!
//! Every dependency is hard. `search` forwards the statuses of what it calls
//! one to one, as gRPC code does, so that a fault at `search` shows the front
//! end nothing that a fault below it did not. There is no bug.

use std::time::Duration;

use serde_json::json;

use super::expect;
use super::parts::{Failure, hard, hard_500, leaf};
use crate::net::{Abort, Ctx, PendingCall, Request, Response};
use crate::{App, Service, System, Wire};

/// Long enough for `search` to see a timeout of its own and answer.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);
const LEAF_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn apps() -> Vec<App> {
    vec![
        App {
            name: "hotel-search",
            about: "DeathStarBench: hotels nearby that are free",
            switches: &[Wire::SWITCH],
            build: |settings| System {
                wire: Wire::of(settings),
                ..System::new(services(), |ctx| scenario(ctx, "/hotels"))
            },
            expected: expect::nothing_fails_on_either_wire,
        },
        App {
            name: "hotel-reserve",
            about: "DeathStarBench: a reservation by a known user",
            switches: &[],
            build: |_| System::new(services(), |ctx| scenario(ctx, "/reservation")),
            expected: expect::nothing_fails,
        },
        App {
            name: "hotel-recommend",
            about: "DeathStarBench: recommended hotels and their profiles",
            switches: &[],
            build: |_| System::new(services(), |ctx| scenario(ctx, "/recommendations")),
            expected: expect::nothing_fails,
        },
        App {
            name: "hotel-login",
            about: "DeathStarBench: a login",
            switches: &[],
            build: |_| System::new(services(), |ctx| scenario(ctx, "/user")),
            expected: expect::nothing_fails,
        },
    ]
}

fn services() -> Vec<Service> {
    vec![
        Service::new("frontend", frontend),
        Service::new("search", search),
        leaf("geo", json!({"hotels": ["1", "2", "3"]})),
        leaf("rate", json!({"plans": [{"hotel": "1", "rate": 109.0}]})),
        leaf("reservation", json!({"hotels": ["1"]})),
        leaf(
            "profile",
            json!({"hotels": [{"id": "1", "name": "Clift Hotel"}]}),
        ),
        leaf("recommendation", json!({"hotels": ["1"]})),
        leaf("user", json!({"correct": true})),
    ]
}

async fn frontend(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let needs: &[(&str, &str)] = match request.path() {
        "/hotels" => &[
            ("search", "/search/Nearby"),
            ("reservation", "/reservation/CheckAvailability"),
            ("profile", "/profile/GetProfiles"),
        ],
        "/reservation" => &[
            ("user", "/user/CheckUser"),
            ("reservation", "/reservation/MakeReservation"),
        ],
        "/recommendations" => &[
            ("recommendation", "/recommendation/GetRecommendations"),
            ("profile", "/profile/GetProfiles"),
        ],
        "/user" => &[("user", "/user/CheckUser")],
        _ => return Err(Abort(404)),
    };
    for (service, path) in needs {
        hard_500(call(&ctx, service, path)).await?;
    }
    Ok(Response::json(json!({"done": request.path()})))
}

async fn search(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    forwarding(call(&ctx, "geo", "/geo/Nearby")).await?;
    forwarding(call(&ctx, "rate", "/rate/GetRates")).await
}

async fn forwarding(call: PendingCall) -> Result<Response, Abort> {
    hard(call, |failure| match failure {
        Failure::Status(status) => status,
        Failure::NoAnswer => 503,
    })
    .await
}

fn call(ctx: &Ctx, service: &'static str, path: &str) -> PendingCall {
    let timeout = match service {
        "search" => SEARCH_TIMEOUT,
        _ => LEAF_TIMEOUT,
    };
    ctx.post(service, path).timeout(timeout)
}

async fn scenario(ctx: Ctx, page: &'static str) -> Result<(), String> {
    let response = expect::answer(ctx.get("frontend", page)).await?;
    expect::ok_or(&ctx, &response, &[200, 500])
}
