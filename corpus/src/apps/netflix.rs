//! Netflix' home page: many fallbacks, one status too few handled.
//!
//! The gateway gathers the page from seven services and replaces what fails
//! where it can. The mobile client handles 404, 500 and 503 of the gateway
//! and takes every other answer for JSON: that bug is always present and shows
//! with 502 and 504. `bugs=on` adds two more. The gateway waits for the user
//! profile only 1 s, although the profile itself waits 15 s for telemetry; and
//! a list that does not answer is asked for once more at the same server.
//! Neither makes the scenario fail: it accepts the 503 that a slow telemetry
//! causes (`delay:2s`), and the second attempt only adds cases.

use std::time::Duration;

use murphy_model::Identity;
use serde_json::{Map, Value, json};

use super::expect::{self, DECLARED, HTTP};
use super::parts::Failure::{NoAnswer, Status};
use super::parts::{Failure, attempt, leaf};
use crate::net::{Abort, Ctx, PendingCall, Request, Response};
use crate::{App, Expected, Service, Settings, Switch, System, Values};

const TIMEOUT: Duration = Duration::from_secs(15);
const GATEWAY_TIMEOUT: Duration = Duration::from_secs(55);
/// Far below what the profile may take when telemetry is slow: bug 1.
const MISCONFIGURED_TIMEOUT: Duration = Duration::from_secs(1);
const USER: &str = "chris_rivers";

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "netflix",
        about: "a home page with many fallbacks and gateway errors that are not handled",
        switches: &[Switch {
            name: "bugs",
            about: "a misconfigured timeout, and a fallback to the server that failed",
            values: Values::OnOff,
            default: "off",
        }],
        build,
        expected,
    }]
}

fn expected() -> Vec<Expected> {
    const UNHANDLED: &[&str] = &["** > api-gateway * #1 = 502", "** > api-gateway * #1 = 504"];
    vec![
        expect::fails("", HTTP, UNHANDLED),
        expect::fails("", DECLARED, &[]),
        expect::fails("bugs=on", HTTP, UNHANDLED),
        expect::fails("bugs=on", DECLARED, &[]),
        expect::fails("bugs=on", "delay:2s", &[]),
    ]
}

fn build(settings: &Settings) -> System {
    let bugs = settings.on("bugs");
    let services = vec![
        Service::new("mobile-client", mobile_client),
        Service::new("api-gateway", move |ctx, request| {
            gateway(ctx, request, bugs)
        })
        .raises(&[404, 503]),
        Service::new("user-profile", move |ctx, request| {
            user_profile(ctx, request, bugs)
        })
        .raises(&[404]),
        per_user("bookmarks", bookmarks),
        per_user("my-list", my_list),
        per_user("user-recommendations", user_recommendations),
        per_user("ratings", ratings),
        leaf("telemetry", json!({"recorded": true})),
        leaf("trending", trending()),
        leaf("global-recommendations", global_recommendations()),
    ];
    // The published runs: telemetry sends the time, which differs in every
    // run, and predecessors tell the two places that ask for trends apart.
    let identity = Identity {
        payload: false,
        predecessors: true,
        ..Identity::default()
    };
    System {
        identity,
        ..System::new(services, scenario)
    }
}

async fn mobile_client(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let path = request.path().trim_start_matches("/netflix");
    let call = ctx.get("api-gateway", path).timeout(GATEWAY_TIMEOUT);
    let response = call.send().await.map_err(|_| Abort(503))?;
    match response.status {
        404 => Err(Abort(404)),
        500 | 503 => Err(Abort(503)),
        // The bug: an error page of any other status is taken for the page.
        _ => response
            .body_json()
            .map(Response::json)
            .ok_or(Abort::UNHANDLED),
    }
}

async fn gateway(ctx: Ctx, request: Request, bugs: bool) -> Result<Response, Abort> {
    let user = request
        .segments()
        .last()
        .copied()
        .unwrap_or_default()
        .to_owned();
    let mut page = Page {
        ctx,
        user,
        parts: Map::new(),
    };
    let profile_timeout = if bugs { MISCONFIGURED_TIMEOUT } else { TIMEOUT };
    page.need(
        "user-profile",
        page.of_user("user-profile").timeout(profile_timeout),
    )
    .await?;
    page.load_bookmarks().await?;
    page.load_my_list(bugs).await?;
    page.load_recommendations().await?;
    page.need("ratings", page.of_user("ratings")).await?;
    Ok(Response::json(Value::Object(page.parts)))
}

/// The home page in the making.
struct Page {
    ctx: Ctx,
    user: String,
    parts: Map<String, Value>,
}

impl Page {
    fn of_user(&self, service: &'static str) -> PendingCall {
        self.ctx
            .get(service, format!("/users/{}", self.user))
            .timeout(TIMEOUT)
    }

    fn of_all(&self, service: &'static str) -> PendingCall {
        self.ctx.get(service, "/").timeout(TIMEOUT)
    }

    async fn load(&mut self, part: &str, call: PendingCall) -> Result<(), Failure> {
        let response = attempt(call).await?;
        let content = response.body_json().unwrap_or(Value::Null);
        self.parts.insert(part.to_owned(), content);
        Ok(())
    }

    async fn need(&mut self, part: &str, call: PendingCall) -> Result<(), Abort> {
        self.load(part, call).await.map_err(given_up)
    }

    async fn load_bookmarks(&mut self) -> Result<(), Abort> {
        let bookmarks = self.of_user("bookmarks");
        if self.load("bookmarks", bookmarks).await.is_ok() {
            return Ok(());
        }
        let _ = attempt(telemetry(&self.ctx)).await;
        self.load_trending().await
    }

    /// Nothing is left to show in place of the trends. They are the same for
    /// all, so a 404 is not about the user.
    async fn load_trending(&mut self) -> Result<(), Abort> {
        let trending = self.of_all("trending");
        self.load("trending", trending)
            .await
            .map_err(|failure| match failure {
                Status(_) => Abort(500),
                NoAnswer => Abort(503),
            })
    }

    async fn load_my_list(&mut self, bugs: bool) -> Result<(), Abort> {
        let my_list = self.of_user("my-list");
        match self.load("my-list", my_list).await {
            // Bug 2: the fallback is the server that has just not answered.
            Err(NoAnswer) if bugs => self.need("my-list", self.of_user("my-list")).await,
            answer => answer.map_err(given_up),
        }
    }

    async fn load_recommendations(&mut self) -> Result<(), Abort> {
        for recommendations in [
            self.of_user("user-recommendations"),
            self.of_all("global-recommendations"),
        ] {
            if self.load("recommendations", recommendations).await.is_ok() {
                return Ok(());
            }
        }
        if self.parts.contains_key("trending") {
            return Ok(());
        }
        self.load_trending().await
    }
}

fn given_up(failure: Failure) -> Abort {
    match failure {
        Status(404) => Abort(404),
        Status(_) => Abort(500),
        NoAnswer => Abort(503),
    }
}

fn telemetry(ctx: &Ctx) -> PendingCall {
    let body = json!({"time": ctx.now().as_millis() as u64});
    ctx.post("telemetry", "/").json(&body).timeout(TIMEOUT)
}

async fn user_profile(ctx: Ctx, request: Request, bugs: bool) -> Result<Response, Abort> {
    if bugs {
        let _ = attempt(telemetry(&ctx)).await;
    }
    known_user(&request)?;
    Ok(Response::json(profile()))
}

/// A service that knows something about one user.
fn per_user(name: &'static str, content: fn() -> Value) -> Service {
    let handler = move |_, request: Request| async move {
        known_user(&request)?;
        Ok(Response::json(content()))
    };
    Service::new(name, handler).raises(&[404])
}

fn known_user(request: &Request) -> Result<(), Abort> {
    match request.segments()[..] {
        ["users", USER] => Ok(()),
        _ => Err(Abort(404)),
    }
}

fn profile() -> Value {
    json!({"id": USER, "name": "Chris Rivers", "email": "chris_rivers@netflix.com"})
}

fn bookmarks() -> Value {
    json!([
        {"movie": "Inception", "timecode": "00:41:12"},
        {"movie": "The Croods", "timecode": "01:02:03"},
    ])
}

fn my_list() -> Value {
    json!(["Red Dot", "Shutter Island"])
}

fn user_recommendations() -> Value {
    json!(["The Martian", "Creed", "The Danish Girl"])
}

fn ratings() -> Value {
    json!([{"movie": "Creed", "rating": 5}, {"movie": "Red Dot", "rating": 3}])
}

fn global_recommendations() -> Value {
    json!(["Inception", "Shutter Island", "The Dark Night"])
}

fn trending() -> Value {
    json!(["The Croods", "Red Dot", "We Can Be Heroes"])
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let path = format!("/netflix/homepage/users/{USER}");
    let response = expect::answer(ctx.get("mobile-client", path)).await?;
    let page = response.body_json().unwrap_or(Value::Null);
    if !ctx.any_fault() {
        let normal = response.status == 200 && is_normal(&page);
        return expect::that(normal, "the normal page without faults", &response);
    }
    let served = response.status == 200 && is_acceptable(&page);
    let given_up = [503, 404].contains(&response.status);
    expect::that(
        served || given_up,
        "an acceptable page, 503 or 404 under faults",
        &response,
    )
}

fn is_normal(page: &Value) -> bool {
    has_core(page)
        && page["bookmarks"] == bookmarks()
        && page["recommendations"] == user_recommendations()
}

/// Either the trends stand in for whatever is missing, or nothing is.
fn is_acceptable(page: &Value) -> bool {
    let general =
        page["bookmarks"] == bookmarks() && page["recommendations"] == global_recommendations();
    has_core(page) && (page["trending"] == trending() || general || is_normal(page))
}

fn has_core(page: &Value) -> bool {
    page["user-profile"] == profile()
        && page["my-list"] == my_list()
        && page["ratings"] == ratings()
}
