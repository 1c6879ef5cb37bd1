//! OpenTelemetry's Astronomy Shop: three requests of its front page.
//!
//! All go through `frontend-proxy`, so that `frontend` can fail too. The
//! figures of the published runs are without payloads, so repeated calls
//! differ by their count only: the four products of `recommendations`, the
//! two conversions of `checkout`. There is no bug.

use std::time::Duration;

use murphy_model::Identity;
use serde_json::json;

use super::expect;
use super::parts::{attempt, hard, hard_500, leaf};
use crate::net::{Abort, Ctx, PendingCall, Request, Response};
use crate::{App, Service, System};

const GET_PRODUCT: &str = "/product-catalog/GetProduct";

pub(super) fn apps() -> Vec<App> {
    vec![
        App {
            name: "shipping",
            about: "Astronomy Shop: a shipping quote in the user's currency",
            switches: &[],
            build: |_| shop("/api/shipping", any_fault_is_an_error),
            expected: expect::nothing_fails,
        },
        App {
            name: "recommendations",
            about: "Astronomy Shop: four recommended products",
            switches: &[],
            build: |_| shop("/api/recommendations", any_fault_is_an_error),
            expected: expect::nothing_fails,
        },
        App {
            name: "checkout",
            about: "Astronomy Shop: an order, from the cart to the confirmation",
            switches: &[],
            build: |_| shop("/api/checkout", mails_can_wait),
            expected: expect::nothing_fails,
        },
    ]
}

type Judge = fn(&Ctx, &Response) -> Result<(), String>;

fn shop(page: &'static str, judge: Judge) -> System {
    let scenario = move |ctx: Ctx| async move {
        let response = expect::answer(ctx.post("frontend-proxy", page)).await?;
        judge(&ctx, &response)
    };
    let identity = Identity {
        payload: false,
        ..Identity::default()
    };
    System {
        identity,
        ..System::new(services(), scenario)
    }
}

fn services() -> Vec<Service> {
    vec![
        Service::new("frontend-proxy", frontend_proxy),
        Service::new("frontend", frontend),
        Service::new("shipping", shipping),
        leaf("quote", json!({"quote": 8.99})),
        leaf("currency", json!({"currency": "CHF", "units": 8})),
        Service::new("recommendation", recommendation),
        leaf("product-catalog", json!({"products": PRODUCTS})),
        Service::new("checkout", checkout).raises(&[503]),
        leaf(
            "cart",
            json!({"items": [{"product": PRODUCTS[0], "quantity": 1}]}),
        ),
        leaf("payment", json!({"transaction": "paid"})),
        leaf("email", json!({"sent": true})),
    ]
}

const PRODUCTS: [&str; 4] = ["telescope", "binoculars", "star-chart", "lens-cleaner"];

async fn frontend_proxy(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    hard_500(call(&ctx, "frontend", request.path())).await
}

async fn frontend(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    match request.path() {
        "/api/shipping" => shipping_page(&ctx).await,
        "/api/recommendations" => recommendations_page(&ctx).await,
        "/api/checkout" => checkout_page(&ctx).await,
        _ => Err(Abort(404)),
    }
}

async fn shipping_page(ctx: &Ctx) -> Result<Response, Abort> {
    hard_500(call(ctx, "shipping", "/shipping/GetQuote")).await?;
    hard_500(call(ctx, "currency", "/currency/Convert")).await
}

/// All products are asked for, whatever becomes of the first ones, as the
/// original does with promises.
async fn recommendations_page(ctx: &Ctx) -> Result<Response, Abort> {
    hard_500(call(
        ctx,
        "recommendation",
        "/recommendation/ListRecommendations",
    ))
    .await?;
    let mut products = Vec::new();
    for product in PRODUCTS {
        let get_product = call(ctx, "product-catalog", GET_PRODUCT).json(&json!({"id": product}));
        products.push(attempt(get_product).await);
    }
    if products.iter().any(Result::is_err) {
        return Err(Abort(500));
    }
    Ok(Response::json(json!({"products": PRODUCTS})))
}

async fn checkout_page(ctx: &Ctx) -> Result<Response, Abort> {
    let order = hard_500(call(ctx, "checkout", "/checkout/PlaceOrder")).await?;
    hard_500(call(ctx, "product-catalog", GET_PRODUCT)).await?;
    Ok(order)
}

async fn recommendation(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    hard_500(call(
        &ctx,
        "product-catalog",
        "/product-catalog/ListProducts",
    ))
    .await
}

/// Only a quote needs another service; shipping an order does not.
async fn shipping(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    match request.path() {
        "/shipping/GetQuote" => hard_500(call(&ctx, "quote", "/quote/GetQuote")).await,
        _ => Ok(Response::json(json!({"tracking": "shipped"}))),
    }
}

async fn checkout(ctx: Ctx, _: Request) -> Result<Response, Abort> {
    for (service, path) in [
        ("cart", "/cart/GetCart"),
        ("product-catalog", GET_PRODUCT),
        ("currency", "/currency/Convert"),
        ("shipping", "/shipping/GetQuote"),
        ("currency", "/currency/Convert"),
        ("payment", "/payment/Charge"),
    ] {
        hard_500(call(&ctx, service, path)).await?;
    }
    hard(call(&ctx, "shipping", "/shipping/ShipOrder"), |_| 503).await?;
    // The order is paid and shipped: nothing after it can undo it.
    let _ = attempt(call(&ctx, "cart", "/cart/EmptyCart")).await;
    let _ = attempt(call(&ctx, "email", "/email/SendConfirmation")).await;
    Ok(Response::json(json!({"order": "placed"})))
}

fn call(ctx: &Ctx, service: &'static str, path: &str) -> PendingCall {
    ctx.post(service, path).timeout(patience(service))
}

/// Who calls others is given more time than all it may wait for in vain, so
/// that a timeout below never makes its caller time out as well.
fn patience(service: &str) -> Duration {
    Duration::from_secs(match service {
        "frontend" => 20,
        "checkout" => 10,
        "shipping" | "recommendation" => 5,
        _ => 2,
    })
}

fn any_fault_is_an_error(ctx: &Ctx, response: &Response) -> Result<(), String> {
    if !ctx.any_fault() {
        return expect::that(response.status == 200, "200 without faults", response);
    }
    expect::that(is_server_error(response), "5xx under faults", response)
}

/// Every service but `email`. The cart is needed first and only emptied last;
/// faults tell the service they were injected into, not which of the two it was.
const MAY_COST_THE_ORDER: [&str; 8] = [
    "frontend",
    "checkout",
    "cart",
    "product-catalog",
    "currency",
    "shipping",
    "quote",
    "payment",
];

fn mails_can_wait(ctx: &Ctx, response: &Response) -> Result<(), String> {
    let placed = response.status == 200;
    if !MAY_COST_THE_ORDER
        .iter()
        .any(|service| ctx.fault_at(service))
    {
        return expect::that(placed, "200 when at most the confirmation fails", response);
    }
    expect::that(
        placed || is_server_error(response),
        "200 or 5xx under faults",
        response,
    )
}

fn is_server_error(response: &Response) -> bool {
    (500..600).contains(&response.status)
}
