//! Expedia's hotel reviews: a fallback that answers differently.
//!
//! The gateway asks for reviews ranked by machine learning and falls back to
//! reviews ranked by time, so a fault shows in the order of the reviews. A 404
//! is taken for an answer: it triggers no fallback. There is no bug.

use std::time::Duration;

use serde_json::{Value, json};

use super::expect;
use super::parts::{Failure, attempt, hard};
use crate::net::{Abort, Ctx, Request, Response};
use crate::{App, Service, System};

const HOTEL: &str = "hotel1";
const REVIEWS_TIMEOUT: Duration = Duration::from_secs(6);

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "expedia",
        about: "hotel reviews ranked by relevance, by time when that fails",
        switches: &[],
        build: |_| System::new(services(), scenario),
        expected: expect::nothing_fails,
    }]
}

fn services() -> Vec<Service> {
    vec![
        Service::new("api-gateway", gateway),
        Service::new("review-ml", |_, request| async move {
            reviews(&request, by_relevance())
        })
        .raises(&[404]),
        Service::new("review-time", |_, request| async move {
            reviews(&request, by_time())
        })
        .raises(&[404]),
    ]
}

async fn gateway(ctx: Ctx, request: Request) -> Result<Response, Abort> {
    let hotel = request.segments().get(2).ok_or(Abort(404))?.to_string();
    let from = |service| {
        ctx.get(service, format!("/hotels/{hotel}"))
            .timeout(REVIEWS_TIMEOUT)
    };
    match attempt(from("review-ml")).await {
        Ok(reviews) => Ok(reviews),
        Err(Failure::Status(404)) => Err(Abort(404)),
        Err(_) => {
            hard(from("review-time"), |failure| match failure {
                Failure::Status(404) => 404,
                _ => 503,
            })
            .await
        }
    }
}

fn reviews(request: &Request, of_the_hotel: Value) -> Result<Response, Abort> {
    match request.segments()[..] {
        ["hotels", HOTEL] => Ok(Response::json(of_the_hotel)),
        _ => Err(Abort(404)),
    }
}

fn by_relevance() -> Value {
    json!({"reviews": [best(), clean(), nice()]})
}

fn by_time() -> Value {
    json!({"reviews": [clean(), best(), nice()]})
}

fn best() -> Value {
    json!({"review": "Best hotel ever!", "rating": 10, "date": "2018-07-21"})
}

fn clean() -> Value {
    json!({"review": "The rooms are quite clean.", "rating": 8, "date": "2019-03-01"})
}

fn nice() -> Value {
    json!({"review": "Very nice service.", "rating": 9, "date": "2017-05-09"})
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    let path = format!("/review/hotels/{HOTEL}");
    let response = expect::answer(ctx.get("api-gateway", path)).await?;
    let body = response.body_json();
    if ctx.any_fault() {
        let fallback = response.status == 200 && body == Some(by_time());
        let given_up = [404, 503].contains(&response.status);
        return expect::that(
            fallback || given_up,
            "the reviews by time, 404 or 503 under faults",
            &response,
        );
    }
    let ranked = response.status == 200 && body == Some(by_relevance());
    expect::that(ranked, "the ranked reviews without faults", &response)
}
