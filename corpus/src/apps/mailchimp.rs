//! Mailchimp's short URLs: replicas, alerts, and an error nobody handles.
//!
//! The load balancer hides a 500 of the app server, tells of a missing answer
//! with 503, and takes every other answer for JSON: an error page makes it
//! crash. That bug is always present, and shows with 502, 503 and 504 but
//! with none of the statuses the app server itself declares. A failed read
//! sends the app server to the second database, a failed write only raises an
//! alert. With `read-only=on` that alert is there without any fault.

use std::time::Duration;

use serde_json::{Value, json};

use super::expect::{self, DECLARED, HTTP};
use super::parts::{Failure, attempt, hard_500};
use crate::net::{Abort, Ctx, Request, Response};
use crate::{App, Expected, Service, Settings, Switch, System, Values};

const TIMEOUT: Duration = Duration::from_secs(6);
const APP_SERVER_TIMEOUT: Duration = Duration::from_secs(10);
const ALERT: &str = "cannot write to DB";

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "mailchimp",
        about: "short URLs over two databases, with an error status that is not handled",
        switches: &[
            Switch {
                name: "read-only",
                about: "the databases refuse writes: the scenario fails without faults",
                values: Values::OnOff,
                default: "off",
            },
            Switch {
                name: "url",
                about: "the URL that is asked for; only the pretty one is rewritten",
                values: Values::Words(&["randomurl", "prettyurl"]),
                default: "randomurl",
            },
        ],
        build,
        expected,
    }]
}

fn expected() -> Vec<Expected> {
    const UNHANDLED: &[&str] = &[
        "** > app-server * #1 = 502",
        "** > app-server * #1 = 503",
        "** > app-server * #1 = 504",
    ];
    vec![
        expect::fails("", HTTP, UNHANDLED),
        expect::fails("url=prettyurl", HTTP, UNHANDLED),
        expect::fails("", DECLARED, &[]),
        expect::refused("read-only=on", HTTP),
        expect::refused("read-only=on", DECLARED),
    ]
}

fn build(settings: &Settings) -> System {
    let services = vec![
        Service::new("load-balancer", load_balancer),
        Service::new("app-server", app_server),
        Service::new("requestmapper", request_mapper),
        database("db-primary", settings.on("read-only")),
        database("db-secondary", settings.on("read-only")),
    ];
    let url = settings.word("url").to_owned();
    System::new(services, move |ctx| scenario(ctx, url.clone()))
}

async fn load_balancer(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let call = ctx
        .get("app-server", request.path())
        .timeout(APP_SERVER_TIMEOUT);
    let response = call.send().await.map_err(|_| Abort(503))?;
    if response.status == 500 {
        return Ok(Response::json(json!({"result": url_of(&request)?})));
    }
    // The bug: whatever else comes is taken for the answer of a healthy server.
    let json = response.body_json().ok_or(Abort::UNHANDLED)?;
    Ok(Response::json(json))
}

async fn app_server(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let mapper = ctx.get("requestmapper", request.path()).timeout(TIMEOUT);
    let mapped = hard_500(mapper).await?;
    let mut answer = mapped.body_json().ok_or(Abort::UNHANDLED)?;
    let primary = use_primary(&ctx, &request).await;
    let written = match primary {
        Primary::Used(written) => written,
        Primary::Failed(written) => written & use_secondary(&ctx, &request).await?,
    };
    if !written {
        answer["alert"] = json!(ALERT);
    }
    Ok(Response::json(answer))
}

/// What became of the primary database, and whether a write was refused
/// (`false`) there.
enum Primary {
    Used(bool),
    Failed(bool),
}

async fn use_primary(ctx: &Ctx, request: &Request) -> Primary {
    let read = attempt(ctx.get("db-primary", "/read").timeout(TIMEOUT)).await;
    if read == Err(Failure::NoAnswer) {
        return Primary::Failed(true);
    }
    match (read, write(ctx, "db-primary", request).await) {
        (_, Err(Failure::NoAnswer)) => Primary::Failed(true),
        (Ok(_), written) => Primary::Used(written.is_ok()),
        (Err(_), written) => Primary::Failed(written.is_ok()),
    }
}

/// Whether the secondary database took the write.
async fn use_secondary(ctx: &Ctx, request: &Request) -> Result<bool, Abort> {
    hard_500(ctx.get("db-secondary", "/read").timeout(TIMEOUT)).await?;
    match write(ctx, "db-secondary", request).await {
        Ok(_) => Ok(true),
        Err(Failure::Status(_)) => Ok(false),
        Err(Failure::NoAnswer) => Err(Abort(500)),
    }
}

async fn write(ctx: &Ctx, database: &'static str, request: &Request) -> Result<Response, Failure> {
    let path = format!("/write{}", request.path());
    attempt(ctx.post(database, path).timeout(TIMEOUT)).await
}

async fn request_mapper(_: Ctx, request: Request) -> Result<Response, Abort> {
    let mapped = match url_of(&request)? {
        "prettyurl" => "internalurl",
        other => other,
    };
    Ok(Response::json(json!({"result": mapped})))
}

fn database(name: &'static str, read_only: bool) -> Service {
    let handler = move |_, request: Request| async move {
        if read_only && request.method() == "POST" {
            return Err(Abort(403));
        }
        Ok(Response::json(json!({"result": "ok"})))
    };
    Service::new(name, handler).raises(&[403])
}

fn url_of(request: &Request) -> Result<&str, Abort> {
    request.segments().get(1).copied().ok_or(Abort(404))
}

async fn scenario(ctx: Ctx, url: String) -> Result<(), String> {
    let response = expect::answer(ctx.get("load-balancer", format!("/urls/{url}"))).await?;
    let body = response.body_json().unwrap_or(Value::Null);
    let mapped = if url == "prettyurl" {
        "internalurl"
    } else {
        &url
    };
    if !ctx.any_fault() {
        let exact = response.status == 200 && body == json!({"result": mapped});
        return expect::that(
            exact,
            "the mapped URL and no alert without faults",
            &response,
        );
    }
    let known_url = body["result"] == mapped || body["result"] == *url;
    let fixed_alert = body.get("alert").is_none_or(|alert| alert == ALERT);
    let served = response.status == 200 && known_url && fixed_alert;
    expect::that(
        served || response.status == 503,
        "a URL or 503 under faults",
        &response,
    )
}
