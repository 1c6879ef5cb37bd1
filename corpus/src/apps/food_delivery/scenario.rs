//! The test client: performs operations and judges the answers.

use serde_json::{Value, json};

use super::super::expect;
use super::{Layout, Routes};
use crate::net::{Ctx, Response};

/// Deletes that fail in a row: one more than opens a breaker.
const FAILING_DELETES: usize = 6;

/// The id under which existing orders are updated and deleted.
const ORDER_ID: u64 = 1;

/// Whoever sends orders.
#[derive(Clone, Copy)]
pub(super) struct Client {
    routes: Routes,
    kinds: &'static [&'static str],
}

impl Client {
    pub(super) fn of(layout: Layout) -> Self {
        let kinds: &[&str] = match layout.routes {
            Routes::Untyped => &["order"],
            Routes::ByPath | Routes::ByBody => &["takeout", "delivery"],
        };
        Client {
            routes: layout.routes,
            kinds,
        }
    }

    /// One operation on the first type, or all of them on every type.
    pub(super) async fn perform(self, ctx: &Ctx, operation: &str) -> Result<(), String> {
        match operation {
            "create" => self.expect_done(ctx, "POST", self.kinds[0]).await,
            "update" => self.expect_done(ctx, "PUT", self.kinds[0]).await,
            "delete" => self.expect_done(ctx, "DELETE", self.kinds[0]).await,
            _ => {
                self.expect_all_done(ctx, &["POST", "PUT", "DELETE"], self.kinds)
                    .await
            }
        }
    }

    /// Operations work before and after a series of deletes that fail, apart
    /// from the deletes themselves.
    pub(super) async fn surround_failing_deletes(self, ctx: &Ctx) -> Result<(), String> {
        self.expect_all_done(ctx, &["POST", "PUT"], self.kinds)
            .await?;
        for _ in 0..FAILING_DELETES {
            let response = self.send(ctx, "DELETE", self.kinds[0]).await?;
            expect::that(
                matches!(response.status, 500 | 503),
                "a failing delete",
                &response,
            )?;
        }
        self.expect_all_done(ctx, &["POST", "PUT"], self.kinds)
            .await?;
        self.expect_all_done(ctx, &["DELETE"], &self.kinds[1..])
            .await
    }

    async fn expect_all_done(
        self,
        ctx: &Ctx,
        methods: &[&str],
        kinds: &[&str],
    ) -> Result<(), String> {
        for method in methods {
            for kind in kinds {
                self.expect_done(ctx, method, kind).await?;
            }
        }
        Ok(())
    }

    /// The operation succeeds, or answers 503 if a fault was injected into it.
    async fn expect_done(self, ctx: &Ctx, method: &str, kind: &str) -> Result<(), String> {
        let faults_before = ctx.faults().len();
        let response = self.send(ctx, method, kind).await?;
        if ctx.faults().len() > faults_before {
            return expect::that(response.status == 503, "503 under a fault", &response);
        }
        let done = if method == "POST" { 201 } else { 200 };
        let wanted = format!("{done} for {method} of {kind}");
        expect::that(response.status == done, &wanted, &response)?;
        let answer = response.body_json().unwrap_or(Value::Null);
        let authorised = answer["order_details"]["order_amount"] == amount();
        authorised
            .then_some(())
            .ok_or_else(|| format!("expected the order authorised, got {answer}"))
    }

    async fn send(self, ctx: &Ctx, method: &str, kind: &str) -> Result<Response, String> {
        let path = match self.routes {
            Routes::ByPath => format!("/orders/{kind}"),
            Routes::Untyped | Routes::ByBody => "/orders".to_owned(),
        };
        let order = self.order(method, kind);
        let response = expect::answer(ctx.call("orders", method, &path).json(&order)).await?;
        if response.status != 308 {
            return Ok(response);
        }
        // The only redirect there is leads to the same path with a slash.
        expect::answer(ctx.call("orders", method, format!("{path}/")).json(&order)).await
    }

    fn order(self, method: &str, kind: &str) -> Value {
        let mut order = json!({"order_amount": amount()});
        if method != "POST" {
            order["order_id"] = json!(ORDER_ID);
        }
        if self.routes == Routes::ByBody {
            order["order_type"] = json!(kind);
        }
        order
    }
}

fn amount() -> Value {
    json!(100)
}
