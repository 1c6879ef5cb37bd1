//! Serves call trees by ordinary handlers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use murphy_model::Identity;
use serde_json::json;

use super::{CallTree, ENTRY, Order, Site, Step, Work};
use crate::app::{Service, System};
use crate::names::lasting;
use crate::net::{Abort, Ctx, Response};

/// What random orders are drawn from; it goes on from one request to the next.
type Luck = Arc<Mutex<fastrand::Rng>>;

impl CallTree {
    /// A system that does what the tree says: its scenario makes the request
    /// and wants 200.
    ///
    /// The replicas of a site share caller, method and path. All calls to one
    /// of them by one caller are one point.
    pub fn system(&self) -> System {
        let luck: Luck = Arc::new(Mutex::new(fastrand::Rng::with_seed(self.seed)));
        let mut services = vec![service(ENTRY.0, &self.work, &luck)];
        add_below(&self.work, &luck, &mut services);
        System {
            identity: Identity {
                count: false,
                ..Identity::default()
            },
            ..System::new(services, scenario)
        }
    }
}

fn add_below(work: &Work, luck: &Luck, services: &mut Vec<Service>) {
    for site in work.sites() {
        let replicas = site.names().map(lasting);
        services.extend(replicas.map(|name| service(name, &site.work, luck)));
        add_below(&site.work, luck, services);
    }
}

fn service(name: &'static str, work: &Work, luck: &Luck) -> Service {
    let (work, luck) = (Arc::new(work.clone()), luck.clone());
    Service::new(name, move |ctx, _| {
        let (work, luck) = (work.clone(), luck.clone());
        async move {
            match perform(&work, &ctx, &luck).await {
                true => Ok(Response::json(json!({}))),
                false => Err(Abort(503)),
            }
        }
    })
}

/// Whether a service got done what it does.
async fn perform(work: &Work, ctx: &Ctx, luck: &Luck) -> bool {
    match work {
        Work::Nothing => true,
        Work::All(steps) => {
            for step in steps {
                if !take(step, ctx, luck).await {
                    return false;
                }
            }
            true
        }
        Work::Any(order, sites) => {
            for site in ordered(sites.iter(), *order, luck) {
                if call(site, ctx, luck).await {
                    return true;
                }
            }
            false
        }
    }
}

/// Whether a service can go on after a step.
async fn take(step: &Step, ctx: &Ctx, luck: &Luck) -> bool {
    match step {
        Step::Needed(site) => call(site, ctx, luck).await,
        Step::Optional(site) => {
            call(site, ctx, luck).await;
            true
        }
        Step::Leads(first, then) => !call(first, ctx, luck).await || call(then, ctx, luck).await,
    }
}

/// Whether a replica answered well.
async fn call(site: &Site, ctx: &Ctx, luck: &Luck) -> bool {
    let patience = Duration::from_secs(patience(&site.work));
    for name in ordered(site.names().map(lasting), site.order, luck) {
        let call = ctx.get(name, site.path()).timeout(patience);
        if call.send().await.is_ok_and(|answer| answer.status == 200) {
            return true;
        }
    }
    false
}

fn ordered<T>(alternatives: impl Iterator<Item = T>, order: Order, luck: &Luck) -> Vec<T> {
    let mut alternatives: Vec<T> = alternatives.collect();
    if order == Order::Random {
        let mut luck = luck.lock().expect("no panic while shuffling");
        luck.shuffle(&mut alternatives);
    }
    alternatives
}

/// How many seconds to wait for a service: more than it may wait itself.
fn patience(work: &Work) -> u64 {
    let below = work.sites().into_iter();
    let below = below.map(|site| site.replicas as u64 * patience(&site.work));
    1 + below.sum::<u64>()
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    match ctx.get(ENTRY.0, ENTRY.1).send().await {
        Ok(response) if response.status == 200 => Ok(()),
        Ok(response) => Err(format!("expected 200, got {}", response.status)),
        Err(error) => Err(format!("expected an answer, but: {error}")),
    }
}
