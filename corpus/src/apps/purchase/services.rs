//! The six services, and the accounts and the cart they keep.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::parts::attempt;
use super::{DISCOUNTS, Discount};
use crate::Service;
use crate::net::{Abort, Ctx, PendingCall, Request, Response};

/// How long callers wait where nothing else is said.
pub(super) const TIMEOUT: Duration = Duration::from_secs(6);

/// How long the order service waits for pricing, which itself waits for
/// shipping: longer than that.
const PRICING_TIMEOUT: Duration = Duration::from_secs(7);

/// The same, configured by mistake.
const MISTAKEN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the gateway waits: longer than everything behind it together.
const ORDER_TIMEOUT: Duration = Duration::from_secs(60);

/// What is in the consumer's account before the purchase, in cents.
pub(super) const FUNDS: u64 = 20_000;

/// What the cart costs without a discount, in cents.
pub(super) const FULL_PRICE: u64 = 10_000;

/// What the switches decide.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether every failure ends the sale.
    pub(super) hard: bool,
    /// The discounts to look up, greatest first.
    pub(super) discounts: &'static [Discount],
    /// Whether the two mistakes are made.
    pub(super) bugs: bool,
}

/// What the services have stored.
#[derive(Default)]
pub(super) struct Shop(Mutex<Stored>);

/// The accounts, kept by order, and the total, kept by cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) consumer: u64,
    pub(super) merchant: u64,
    pub(super) cart_total: u64,
}

impl Default for Stored {
    fn default() -> Self {
        Stored {
            consumer: FUNDS,
            merchant: 0,
            cart_total: FULL_PRICE,
        }
    }
}

impl Shop {
    /// Makes everything as it was before any purchase.
    pub(super) fn reset(&self) {
        self.update(|stored| *stored = Stored::default());
    }

    pub(super) fn stored(&self) -> Stored {
        *self.0.lock().expect("no panic while the shop is held")
    }

    fn update<T>(&self, change: impl FnOnce(&mut Stored) -> T) -> T {
        change(&mut self.0.lock().expect("no panic while the shop is held"))
    }
}

pub(super) fn all(rules: Rules, shop: &Arc<Shop>) -> Vec<Service> {
    vec![
        Service::new("api-gateway", gateway).raises(&[503]),
        order(rules, shop.clone()),
        Service::new("user", user).raises(&[404]),
        cart(shop.clone()),
        Service::new("pricing", pricing).raises(&[404, 503]),
        Service::new("shipping", |_, _| async {
            Ok(Response::json(json!({"cost": 0})))
        }),
    ]
}

async fn gateway(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let purchase = request.json().ok_or(Abort(400))?;
    let call = ctx
        .post("order", "/orders")
        .json(&purchase)
        .timeout(ORDER_TIMEOUT);
    needed(call).await.map(Response::json)
}

async fn user(_: Ctx, request: Request) -> Result<Response, Abort> {
    match request.path() {
        "/sessions/first-visit" => Ok(Response::json(json!({"user": "consumer"}))),
        _ => Err(Abort(404)),
    }
}

/// Grants a discount if the cart can be shipped at all.
async fn pricing(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let code = request
        .path()
        .strip_prefix("/discounts/")
        .ok_or(Abort(404))?;
    let discount = DISCOUNTS.iter().find(|(known, _)| *known == code);
    let (_, percent) = discount.ok_or(Abort(404))?;
    needed(
        ctx.get("shipping", "/estimates/first-cart")
            .timeout(TIMEOUT),
    )
    .await?;
    Ok(Response::json(json!({"percent": percent})))
}

fn cart(shop: Arc<Shop>) -> Service {
    let service = Service::new("cart", move |_, request| {
        let shop = shop.clone();
        async move {
            match (request.method(), request.path()) {
                ("GET", "/carts/first-visit") => {
                    let total = shop.stored().cart_total;
                    Ok(Response::json(
                        json!({"cart": "first-cart", "total": total}),
                    ))
                }
                ("PUT", "/carts/first-cart") => {
                    let change = request.json().ok_or(Abort(400))?;
                    let percent = number(&change, "percent")?;
                    let total = shop.update(|stored| {
                        stored.cart_total = discounted(stored.cart_total, percent);
                        stored.cart_total
                    });
                    Ok(Response::json(
                        json!({"cart": "first-cart", "total": total}),
                    ))
                }
                _ => Err(Abort(404)),
            }
        }
    });
    service.raises(&[404])
}

fn order(rules: Rules, shop: Arc<Shop>) -> Service {
    let service = Service::new("order", move |ctx, request| {
        let clerk = Clerk { ctx, rules };
        let shop = shop.clone();
        async move {
            let total = clerk.price(&request).await?;
            shop.update(|stored| {
                stored.consumer -= total;
                stored.merchant += total;
            });
            Ok(Response::json(json!({"total": total})))
        }
    });
    service.raises(&[503])
}

/// The order service at work on one order.
struct Clerk {
    ctx: Ctx,
    rules: Rules,
}

impl Clerk {
    /// What the customer has to pay.
    async fn price(&self, request: &Request) -> Result<u64, Abort> {
        let purchase = request.json().ok_or(Abort(400))?;
        let session = purchase["session"].as_str().ok_or(Abort(400))?;
        self.get("user", &format!("/sessions/{session}")).await?;
        let cart = self.get("cart", &format!("/carts/{session}")).await?;
        let total = number(&cart, "total")?;
        match self.greatest_discount().await? {
            Some(percent) => self.adjust(&cart, total, percent).await,
            None => Ok(total),
        }
    }

    async fn get(&self, service: &'static str, path: &str) -> Result<Value, Abort> {
        needed(self.ctx.get(service, path).timeout(TIMEOUT)).await
    }

    /// The greatest discount among those whose lookup succeeds.
    async fn greatest_discount(&self) -> Result<Option<u64>, Abort> {
        let mut greatest = None;
        for (code, _) in self.rules.discounts {
            let discount = needed(self.look_up(code))
                .await
                .and_then(|found| number(&found, "percent"));
            greatest = greatest.max(self.optional(discount)?);
        }
        Ok(greatest)
    }

    fn look_up(&self, code: &str) -> PendingCall {
        let timeout = match self.rules.bugs {
            true => MISTAKEN_TIMEOUT,
            false => PRICING_TIMEOUT,
        };
        let details = json!({"user": "consumer", "cart": "first-cart"});
        let call = self.ctx.post("pricing", format!("/discounts/{code}"));
        call.json(&details).timeout(timeout)
    }

    /// Has the cart adjusted; a customer whose cart is not pays in full.
    async fn adjust(&self, cart: &Value, total: u64, percent: u64) -> Result<u64, Abort> {
        let id = cart["cart"].as_str().ok_or(Abort::UNHANDLED)?;
        let call = self.ctx.call("cart", "PUT", format!("/carts/{id}"));
        let call = call.json(&json!({"percent": percent})).timeout(TIMEOUT);
        let adjusted = needed(call).await.and_then(|cart| number(&cart, "total"));
        let unadjusted = match self.rules.bugs {
            true => discounted(total, percent),
            false => total,
        };
        Ok(self.optional(adjusted)?.unwrap_or(unadjusted))
    }

    /// What a soft dependency brings, if anything.
    fn optional<T>(&self, result: Result<T, Abort>) -> Result<Option<T>, Abort> {
        match self.rules.hard {
            true => result.map(Some),
            false => Ok(result.ok()),
        }
    }
}

/// What the caller cannot do without: any failure is a 503.
async fn needed(call: PendingCall) -> Result<Value, Abort> {
    let response = attempt(call).await.map_err(|_| Abort(503))?;
    response.body_json().ok_or(Abort(503))
}

fn number(json: &Value, field: &str) -> Result<u64, Abort> {
    json[field].as_u64().ok_or(Abort(503))
}

pub(super) fn discounted(total: u64, percent: u64) -> u64 {
    total - total * percent / 100
}
