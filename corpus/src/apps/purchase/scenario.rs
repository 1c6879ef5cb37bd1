//! The test: one purchase, and what it may cost given the faults that were injected.
//!
//! A refused purchase moves no money and leaves the cart as it was. One that
//! goes through moves what the answer says and the cart holds, and that is the
//! price less the greatest discount whose lookup the faults left alone.

use std::sync::Arc;

use murphy_model::{Mode, Outcome};
use serde_json::json;

use super::super::expect;
use super::services::{FULL_PRICE, FUNDS, Rules, Shop, Stored, TIMEOUT, discounted};
use crate::net::{Ctx, Response};

pub(super) async fn buy(ctx: Ctx, rules: Rules, shop: Arc<Shop>) -> Result<(), String> {
    shop.reset();
    let purchase = json!({"session": "first-visit"});
    let response = expect::answer(ctx.post("api-gateway", "/purchases").json(&purchase)).await?;
    let faults = Faults::of(&ctx);
    match response.status {
        503 => {
            expect::that(
                faults.may_refuse(rules),
                "200 as no fault excuses a refusal",
                &response,
            )?;
            expect_stored(&shop, Stored::default())
        }
        200 => {
            expect::that(
                !faults.must_refuse(rules),
                "503 under these faults",
                &response,
            )?;
            expect_sale(&shop, &response, &faults.prices(rules))
        }
        _ => expect::that(false, "200 or 503", &response),
    }
}

fn expect_sale(shop: &Shop, response: &Response, prices: &[u64]) -> Result<(), String> {
    let body = response.body_json().unwrap_or_default();
    let total = body["total"].as_u64().ok_or("expected a total")?;
    if !prices.contains(&total) {
        return Err(format!("expected a price of {prices:?}, got {total}"));
    }
    let sold = Stored {
        consumer: FUNDS - total,
        merchant: total,
        cart_total: total,
    };
    expect_stored(shop, sold)
}

fn expect_stored(shop: &Shop, wanted: Stored) -> Result<(), String> {
    let stored = shop.stored();
    if stored == wanted {
        return Ok(());
    }
    Err(format!("expected {wanted:?}, got {stored:?}"))
}

/// The services at which faults were injected that their callers need not bear.
struct Faults(Vec<String>);

impl Faults {
    fn of(ctx: &Ctx) -> Self {
        let faults = ctx
            .faults()
            .into_iter()
            .filter(|(_, mode)| !is_bearable(*mode));
        Faults(faults.map(|(service, _)| service).collect())
    }

    fn at(&self, services: &[&str]) -> usize {
        self.0
            .iter()
            .filter(|at| services.contains(&at.as_str()))
            .count()
    }

    /// Whether the purchase may be refused.
    fn may_refuse(&self, rules: Rules) -> bool {
        // Of the two calls to the cart one is a hard dependency.
        self.must_refuse(rules) || self.at(&["cart"]) > 0
    }

    /// Whether the purchase cannot go through.
    fn must_refuse(&self, rules: Rules) -> bool {
        match rules.hard {
            true => !self.0.is_empty(),
            false => self.at(&["order", "user"]) > 0,
        }
    }

    /// The prices that are right if the purchase goes through.
    fn prices(&self, rules: Rules) -> Vec<u64> {
        let lookups_lost = self.at(&["pricing", "shipping"]);
        let cart_is_adjusted = self.at(&["cart"]) == 0;
        if !cart_is_adjusted || lookups_lost >= rules.discounts.len() {
            return vec![FULL_PRICE];
        }
        // Faults are known by service, not by discount: any lookup may be the
        // one that was lost.
        let greatest_left = &rules.discounts[..=lookups_lost];
        let prices = greatest_left
            .iter()
            .map(|(_, percent)| discounted(FULL_PRICE, *percent));
        prices.collect()
    }
}

/// Whether a caller should notice nothing: the answer comes in the time that
/// every caller is meant to wait.
fn is_bearable(mode: Mode) -> bool {
    match mode.outcome() {
        Outcome::Delay(time) => time < TIMEOUT,
        Outcome::Duplicate => true,
        _ => false,
    }
}
