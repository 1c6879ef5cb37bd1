//! Audible's book download: deep nesting and four different ways to map errors.
//!
//! Every dependency is hard but the statistics. The services translate the
//! errors they see each in its own way, so it shows here whether a search
//! follows statuses exactly. The bug is in the data: with `bad-metadata=on`
//! no book has metadata, and the scenario fails without any fault.

use std::time::Duration;

use serde_json::json;

use super::expect::{self, DECLARED, HTTP};
use super::parts::Failure::{NoAnswer, Status};
use super::parts::{attempt, hard};
use crate::net::{Abort, Body, Ctx, PendingCall, Request, Response};
use crate::{App, Expected, Service, Settings, Switch, System, Values};

const CDS: &str = "content-delivery-service";
const ADS: &str = "audible-download-service";
const TIMEOUT: Duration = Duration::from_secs(6);
const CDS_TIMEOUT: Duration = Duration::from_secs(15);
const ADS_TIMEOUT: Duration = Duration::from_secs(10);
const AUDIO_TIMEOUT: Duration = Duration::from_secs(7);

struct Book {
    name: &'static str,
    license: &'static str,
    audio: &'static str,
}

static BOOKS: [Book; 3] = [
    Book {
        name: "book1",
        license: "39c8e9953fe8ea40ff1c59876e0e2f28",
        audio: "This is book 1.",
    },
    Book {
        name: "book2",
        license: "745c723e03084d27553fb9d4037b08c1",
        audio: "This is book 2.",
    },
    Book {
        name: "book3",
        license: "1e55dbf412cb74d5e2c21fb6452408c7",
        audio: "This is book 3.",
    },
];

/// Users and the books they own.
const OWNERS: [(&str, &[&str]); 3] = [
    ("user1", &["book1", "book2"]),
    ("user2", &["book1"]),
    ("user3", &["book2", "book3"]),
];

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "audible",
        about: "a book download through nine services that each map errors in their own way",
        switches: &[Switch {
            name: "bad-metadata",
            about: "no book has metadata: the scenario fails without faults",
            values: Values::OnOff,
            default: "off",
        }],
        build,
        expected,
    }]
}

fn expected() -> Vec<Expected> {
    let mut expected = expect::nothing_fails();
    expected.extend([HTTP, DECLARED].map(|modes| expect::refused("bad-metadata=on", modes)));
    expected
}

fn build(settings: &Settings) -> System {
    let bad_metadata = settings.on("bad-metadata");
    let metadata = move |_, request: Request| async move { metadata(&request, bad_metadata) };
    let services = vec![
        Service::new("audible-app", app),
        Service::new("content-delivery-engine", delivery_engine).raises(&[404]),
        Service::new(CDS, delivery_service).raises(&[404, 403, 503]),
        Service::new(ADS, download_service).raises(&[404, 403, 503]),
        Service::new("ownership", ownership).raises(&[404, 403]),
        Service::new("activation", activation).raises(&[404]),
        Service::new("stats", stats),
        Service::new("asset-metadata", metadata).raises(&[404, 403]),
        Service::new("audio-assets", audio).raises(&[404, 403]),
    ];
    System::new(services, scenario)
}

async fn app(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let engine = ctx
        .get("content-delivery-engine", request.path())
        .timeout(TIMEOUT);
    let found = hard(engine, |failure| match failure {
        Status(404) => 404,
        _ => 503,
    })
    .await?;
    let path = path_at_delivery_service(&found).ok_or(Abort::UNHANDLED)?;
    hard(
        ctx.get(CDS, path).timeout(CDS_TIMEOUT),
        |failure| match failure {
            Status(passed_on @ (404 | 403)) => passed_on,
            _ => 503,
        },
    )
    .await
}

/// The path of the address that the delivery engine names.
fn path_at_delivery_service(found: &Response) -> Option<String> {
    let url = found.body_json()?.get("url")?.as_str()?.to_owned();
    let path = url.strip_prefix(&format!("http://{CDS}"))?;
    Some(path.to_owned())
}

async fn delivery_engine(_: Ctx, request: Request) -> Result<Response, Abort> {
    book(&request)?;
    Ok(Response::json(
        json!({"url": format!("http://{CDS}{}", request.path())}),
    ))
}

async fn delivery_service(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let downloads = ctx.get(ADS, request.path()).timeout(ADS_TIMEOUT);
    let download = hard(downloads, |failure| match failure {
        Status(passed_on @ (404 | 403 | 503)) => passed_on,
        Status(_) => 500,
        NoAnswer => 503,
    })
    .await?;
    let license = download.body_json().ok_or(Abort::UNHANDLED)?;
    let license = license["license"].as_str().ok_or(Abort::UNHANDLED)?;
    let path = format!("/books/{}/licenses/{license}", book(&request)?.name);
    let metadata = asset(ctx.get("asset-metadata", &path).timeout(TIMEOUT)).await?;
    metadata.body_json().ok_or(Abort::UNHANDLED)?;
    asset(ctx.get("audio-assets", &path).timeout(AUDIO_TIMEOUT)).await
}

async fn asset(call: PendingCall) -> Result<Response, Abort> {
    hard(call, |failure| match failure {
        Status(passed_on @ (404 | 403)) => passed_on,
        Status(_) => 500,
        NoAnswer => 503,
    })
    .await
}

async fn download_service(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let ownership = ctx.get("ownership", request.path()).timeout(TIMEOUT);
    hard(ownership, |failure| match failure {
        Status(passed_on @ (404 | 403)) => passed_on,
        Status(_) => 500,
        NoAnswer => 503,
    })
    .await?;
    let activation = ctx.get("activation", format!("/books/{}", book(&request)?.name));
    let license = hard(activation.timeout(TIMEOUT), |failure| match failure {
        Status(404) => 404,
        Status(_) => 500,
        NoAnswer => 503,
    })
    .await?;
    // Nobody is kept from listening because a download is not counted.
    let _ = attempt(ctx.post("stats", request.path()).timeout(TIMEOUT)).await;
    Ok(license)
}

async fn ownership(_: Ctx, request: Request) -> Result<Response, Abort> {
    let ["users", user, "books", book] = request.segments()[..] else {
        return Err(Abort(404));
    };
    let (_, owned) = OWNERS
        .iter()
        .find(|(owner, _)| *owner == user)
        .ok_or(Abort(404))?;
    if !owned.contains(&book) {
        return Err(Abort(403));
    }
    Ok(Response::json(json!({"owner": user})))
}

async fn activation(_: Ctx, request: Request) -> Result<Response, Abort> {
    Ok(Response::json(json!({"license": book(&request)?.license})))
}

async fn stats(_: Ctx, _: Request) -> Result<Response, Abort> {
    Ok(Response::json(json!({"counted": true})).with_status(201))
}

fn metadata(request: &Request, bad: bool) -> Result<Response, Abort> {
    if bad {
        return Err(Abort(404));
    }
    let name = licensed_book(request)?.name;
    Ok(Response::json(json!({"book": name, "chapters": 1})))
}

async fn audio(_: Ctx, request: Request) -> Result<Response, Abort> {
    Ok(Response::text(licensed_book(&request)?.audio))
}

/// The book that follows `books` in the path.
fn book(request: &Request) -> Result<&'static Book, Abort> {
    let segments = request.segments();
    let mut from_books = segments.iter().skip_while(|segment| **segment != "books");
    let name = from_books.nth(1).ok_or(Abort(404))?;
    BOOKS
        .iter()
        .find(|book| book.name == *name)
        .ok_or(Abort(404))
}

/// The book in the path, if the license that follows it is the right one.
fn licensed_book(request: &Request) -> Result<&'static Book, Abort> {
    let book = book(request)?;
    match request.segments().last() {
        Some(license) if *license == book.license => Ok(book),
        _ => Err(Abort(403)),
    }
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let response = expect::answer(ctx.get("audible-app", "/users/user1/books/book2")).await?;
    let assets_hit = ctx.fault_at("asset-metadata") || ctx.fault_at("audio-assets");
    let only_stats_hit = ctx.fault_at("stats") && !assets_hit;
    if !ctx.any_fault() || only_stats_hit {
        let audio =
            response.status == 200 && response.body == Body::Text("This is book 2.".to_owned());
        return expect::that(audio, "the audio of the book", &response);
    }
    expect::that(
        [503, 404, 403].contains(&response.status),
        "503, 404 or 403 under faults",
        &response,
    )
}
