//! A frontend over APIs with several replicas each, and failover on its side.
//!
//! Each replica is a service of its own: the replicas of one API share caller,
//! method and path, and only the destination differs. The frontend tries
//! replica after replica until one answers, so a request fails exactly if all
//! that it tries of one API fail. This is the model behind the published
//! figures on combinations of faults ([`crate::deployments`]); there is no bug
//! but that replicas come to an end.
//!
//! With `count` out of its identity, all calls to one replica are one point,
//! and a fault there is injected into every one of them: that replica is down.

mod balancer;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use murphy_model::Identity;
use serde_json::json;

use super::expect;
use super::parts::{attempt, leaf};
use crate::names::lasting;
use crate::net::{Abort, Ctx, Request, Response};
use crate::{App, Expected, Service, Settings, Switch, System, Values};
use balancer::{Balancer, Choice};

const TIMEOUT: Duration = Duration::from_secs(2);

const MOST_APIS: u32 = 30;
const MOST_REPLICAS: u32 = 8;

/// Far more than any published request comes near.
const MOST_CALLS: u32 = 20;

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "replicas",
        about: "a frontend that fails over between the replicas of each API it calls",
        switches: SWITCHES,
        build,
        expected,
    }]
}

const SWITCHES: &[Switch] = &[
    Switch {
        name: "apis",
        about: "how many APIs a request calls",
        values: Values::Number(1, MOST_APIS),
        default: "3",
    },
    Switch {
        name: "replicas",
        about: "how many replicas each of them has",
        values: Values::Number(1, MOST_REPLICAS),
        default: "2",
    },
    Switch {
        name: "choice",
        about: "which replica is called first, and which next",
        values: Values::Words(Choice::WORDS),
        default: "priority",
    },
    Switch {
        name: "calls",
        about: "how often a request calls each API; the fraction is the chance of one more",
        values: Values::Tenths(1, MOST_CALLS),
        default: "1",
    },
    Switch {
        name: "attempts",
        about: "how many replicas a call tries; 0 is all of them",
        values: Values::Number(0, MOST_REPLICAS),
        default: "0",
    },
    Switch {
        name: "seed",
        about: "what chance begins with",
        values: Values::Number(0, u32::MAX),
        default: "0",
    },
];

fn expected() -> Vec<Expected> {
    use expect::fails;
    const BOTH_OF_TWO: &[&str] = &[
        "** > a01-1 GET /a01 #1 = 503, ** > a01-2 GET /a01 #1 = 503",
        "** > a02-1 GET /a02 #1 = 503, ** > a02-2 GET /a02 #1 = 503",
    ];
    const BOTH_OF_THREE: &[&str] = &[
        "** > a01-1 GET /a01 #1 = 503, ** > a01-2 GET /a01 #1 = 503",
        "** > a02-1 GET /a02 #1 = 503, ** > a02-2 GET /a02 #1 = 503",
        "** > a03-1 GET /a03 #1 = 503, ** > a03-2 GET /a03 #1 = 503",
    ];
    const THE_FIRST: &[&str] = &[
        "** > a01-1 * #1 = 503",
        "** > a02-1 * #1 = 503",
        "** > a03-1 * #1 = 503",
    ];
    vec![
        fails("", "503", BOTH_OF_THREE),
        fails("apis=2", "503", BOTH_OF_TWO),
        fails("apis=2 calls=2", "503", BOTH_OF_TWO),
        fails("replicas=1", "503", THE_FIRST),
        // The others are never tried.
        fails("replicas=3 attempts=1", "503", THE_FIRST),
    ]
}

fn build(settings: &Settings) -> System {
    let frontend = Arc::new(Frontend::new(settings));
    let mut services = frontend.replicas();
    services.push(Service::new("frontend", move |ctx, _: Request| {
        let frontend = frontend.clone();
        async move { frontend.serve(&ctx).await }
    }));
    System {
        identity: Identity {
            count: false,
            ..Identity::default()
        },
        ..System::new(services, scenario)
    }
}

/// An API, of several replicas.
struct Api {
    /// Where its replicas are asked; no other API has the same.
    path: String,
    /// The service that each replica is.
    replicas: Vec<&'static str>,
}

impl Api {
    fn new(number: u32, replicas: u32) -> Self {
        let replica = |replica| lasting(format!("a{number:02}-{replica}"));
        Api {
            path: format!("/a{number:02}"),
            replicas: (1..=replicas).map(replica).collect(),
        }
    }
}

/// The one service that calls others.
struct Frontend {
    apis: Vec<Api>,
    attempts: usize,
    /// How often it calls each API, in tenths.
    calls: u32,
    balancer: Balancer,
}

impl Frontend {
    fn new(settings: &Settings) -> Self {
        let (apis, replicas) = (settings.number("apis"), settings.number("replicas"));
        let choice = Choice::named(settings.word("choice"));
        let seed = u64::from(settings.number("seed"));
        Frontend {
            apis: (1..=apis).map(|api| Api::new(api, replicas)).collect(),
            attempts: match settings.number("attempts") {
                0 => replicas as usize,
                limit => limit.min(replicas) as usize,
            },
            calls: settings.tenths("calls"),
            balancer: Balancer::new(choice, apis as usize, replicas as usize, seed),
        }
    }

    fn replicas(&self) -> Vec<Service> {
        let names = self.apis.iter().flat_map(|api| &api.replicas);
        names
            .map(|name| leaf(name, json!({"from": name})))
            .collect()
    }

    async fn serve(&self, ctx: &Ctx) -> Result<Response, Abort> {
        for api in 0..self.apis.len() {
            for _ in 0..self.balancer.about(self.calls) {
                self.call(ctx, api).await?;
            }
        }
        Ok(Response::json(json!({"done": self.apis.len()})))
    }

    /// Calls an API: replica after replica, until one answers.
    async fn call(&self, ctx: &Ctx, api: usize) -> Result<Response, Abort> {
        let Api { path, replicas } = &self.apis[api];
        let mut left: Vec<usize> = (0..replicas.len()).collect();
        for _ in 0..self.attempts {
            let replica = self.balancer.pick(api, &left);
            left.retain(|other| *other != replica);
            let call = ctx.get(replicas[replica], path).timeout(TIMEOUT);
            if let Ok(response) = attempt(call).await {
                return Ok(response);
            }
        }
        Err(Abort(503))
    }
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let response = expect::answer(ctx.get("frontend", "/")).await?;
    expect::that(response.status == 200, "200", &response)
}
