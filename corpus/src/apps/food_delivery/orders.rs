//! The services: Orders and what authorises its orders.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::breaker::Breaker;
use super::{Auth, Breakers, Layout, Routes};
use crate::Service;
use crate::net::{Abort, Body, Ctx, PendingCall, Request, Response};

/// How long Orders waits for an authorisation.
const TIMEOUT: Duration = Duration::from_secs(6);

/// The services that authorise orders in a layout.
pub(super) fn authorisation(layout: Layout, delete_fault: bool) -> Vec<Service> {
    if layout.auth == Auth::ServicePerType {
        return vec![
            auth("takeout_auth", Some("takeout"), layout, delete_fault),
            auth("delivery_auth", Some("delivery"), layout, delete_fault),
        ];
    }
    vec![auth("auth", None, layout, delete_fault)]
}

/// Echoes what it is asked to authorise.
fn auth(
    name: &'static str,
    only: Option<&'static str>,
    layout: Layout,
    delete_fault: bool,
) -> Service {
    let service = Service::new(name, move |_, request| async move {
        let body = request.json().ok_or(Abort(400))?;
        let kind = authorised_type(layout, only, &request, &body)?;
        // Where there is one type only, the fault is for all its orders.
        if delete_fault && request.method() == "DELETE" && kind.is_none_or(|kind| kind == "takeout")
        {
            return Err(Abort(500));
        }
        let status = if request.method() == "POST" { 201 } else { 200 };
        Ok(Response::json(body).with_status(status))
    });
    match layout.auth {
        Auth::TypeBesideDetails | Auth::TypeInDetails => service.raises(&[403]),
        Auth::EndpointPerType => service.raises(&[404]),
        Auth::OneForAll | Auth::ServicePerType => service,
    }
}

/// The type of the order to authorise, if orders have types.
fn authorised_type(
    layout: Layout,
    only: Option<&'static str>,
    request: &Request,
    body: &Value,
) -> Result<Option<String>, Abort> {
    let (kind, unknown) = match layout.auth {
        Auth::OneForAll => return Ok(None),
        Auth::ServicePerType => return Ok(only.map(str::to_owned)),
        Auth::EndpointPerType => (request.path()[1..].strip_suffix("_auth"), Abort(404)),
        Auth::TypeBesideDetails => (body["order_type"].as_str(), Abort(403)),
        Auth::TypeInDetails => (body["order_details"]["order_type"].as_str(), Abort(403)),
    };
    match kind {
        Some(kind @ ("takeout" | "delivery")) => Ok(Some(kind.to_owned())),
        _ => Err(unknown),
    }
}

/// Has every order authorised before it answers for it.
pub(super) fn orders(layout: Layout) -> Service {
    let desk = Arc::new(Desk {
        layout,
        next_id: AtomicU64::new(1),
        breakers: Mutex::default(),
    });
    let service = Service::new("orders", move |ctx, request| {
        let desk = desk.clone();
        async move { desk.take(&ctx, &request).await }
    });
    service.raises(&[404, 503])
}

/// Orders with its state.
struct Desk {
    layout: Layout,
    next_id: AtomicU64,
    breakers: Mutex<BTreeMap<String, Arc<Breaker>>>,
}

impl Desk {
    async fn take(&self, ctx: &Ctx, request: &Request) -> Result<Response, Abort> {
        if self.is_redirected(request) {
            return Ok(Response {
                status: 308,
                body: Body::Empty,
            });
        }
        let order = request.json().ok_or(Abort(400))?;
        let kind = self.kind(request, &order)?;
        let call = self.ask(
            ctx,
            request.method(),
            &kind,
            self.details(request.method(), &order),
        )?;
        let answer = self.breaker(request.method(), &kind).call(ctx, call).await;
        // Nobody expects a breaker to speak for itself.
        let answer = answer.ok_or(Abort::UNHANDLED)?;
        answer.map_err(|_| Abort(503))
    }

    /// In one layout a single route was written with a slash at its end, to
    /// which the framework redirects.
    fn is_redirected(&self, request: &Request) -> bool {
        self.layout.auth == Auth::TypeBesideDetails
            && request.method() == "DELETE"
            && request.path() == "/orders/takeout"
    }

    /// The type of an order, whatever it is; empty where there are none.
    fn kind(&self, request: &Request, order: &Value) -> Result<String, Abort> {
        match (self.layout.routes, request.segments().as_slice()) {
            (Routes::Untyped, ["orders"]) => Ok(String::new()),
            (
                Routes::ByPath,
                ["orders", kind @ ("takeout" | "delivery")]
                | ["orders", kind @ ("takeout" | "delivery"), ""],
            ) => Ok((*kind).to_owned()),
            (Routes::ByBody, ["orders"]) => {
                let kind = order["order_type"].as_str().ok_or(Abort(400))?;
                Ok(kind.to_owned())
            }
            _ => Err(Abort(404)),
        }
    }

    fn details(&self, method: &str, order: &Value) -> Value {
        let id = match method {
            "POST" => json!(self.next_id.fetch_add(1, Ordering::SeqCst)),
            _ => order["order_id"].clone(),
        };
        json!({"order_id": id, "order_amount": order["order_amount"]})
    }

    /// The question to the authorisation, not sent yet.
    fn ask(
        &self,
        ctx: &Ctx,
        method: &str,
        kind: &str,
        mut details: Value,
    ) -> Result<PendingCall, Abort> {
        let (service, path) = match (self.layout.auth, kind) {
            (Auth::ServicePerType, "takeout") => ("takeout_auth", "/auth".to_owned()),
            (Auth::ServicePerType, "delivery") => ("delivery_auth", "/auth".to_owned()),
            (Auth::ServicePerType, _) => return Err(Abort::UNHANDLED),
            (Auth::EndpointPerType, kind) => ("auth", format!("/{kind}_auth")),
            _ => ("auth", "/auth".to_owned()),
        };
        if self.layout.auth == Auth::TypeInDetails {
            details["order_type"] = json!(kind);
        }
        let mut body = json!({"order_details": details});
        if self.layout.auth == Auth::TypeBesideDetails {
            body["order_type"] = json!(kind);
        }
        Ok(ctx.call(service, method, path).json(&body).timeout(TIMEOUT))
    }

    fn breaker(&self, method: &str, kind: &str) -> Arc<Breaker> {
        let scope = match self.layout.breakers {
            Breakers::One => String::new(),
            Breakers::PerVerb => method.to_owned(),
            Breakers::PerVerbAndType => format!("{method} {kind}"),
        };
        let mut breakers = self
            .breakers
            .lock()
            .expect("no panic while breakers are held");
        let breaker = breakers
            .entry(scope)
            .or_insert_with(|| Arc::new(Breaker::new(|_| true)));
        breaker.clone()
    }
}
