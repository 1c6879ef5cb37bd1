//! The services behind Users, and what the variants share in calling them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::parts::{Failure, attempt, retrying};
use super::data;
use crate::Service;
use crate::net::{Abort, Ctx, PendingCall, Request, Response};

/// How long every caller in the cinema waits for its callee.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Requests in flight at which a load-shedding service still answers.
const CAPACITY: usize = 5;

/// How long a load-shedding service works on a request.
const WORK: Duration = Duration::from_secs(2);

/// A service that also says whether it is up.
fn service<F, Fut>(name: &'static str, handler: F) -> Service
where
    F: Fn(Ctx, Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, Abort>> + Send + 'static,
{
    Service::new(name, move |ctx, request| {
        let is_check = request.path() == "/health-check";
        let answer = (!is_check).then(|| handler(ctx, request));
        async move {
            match answer {
                Some(answer) => answer.await,
                None => Ok(Response::text("up")),
            }
        }
    })
}

/// The entry of nearly all variants: `GET /users/USER/bookings`, for which the
/// given function finds the answer. A stranger is turned away before any call.
pub(super) fn users<F, Fut>(answer: F) -> Service
where
    F: Fn(Ctx, String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Value, Abort>> + Send + 'static,
{
    let users = service("users", move |ctx, request| {
        let user = match request.segments().as_slice() {
            ["users", user, "bookings"] if data::is_user(user) => Some((*user).to_owned()),
            _ => None,
        };
        let answer = user.map(|user| answer(ctx, user));
        async move {
            let answer = answer.ok_or(Abort(404))?;
            Ok(Response::json(answer.await?))
        }
    });
    users.raises(&[404, 503])
}

/// A service that looks things up by the last segment of the path.
fn lookup(name: &'static str, find: fn(&str) -> Option<Value>) -> Service {
    let service = service(
        name,
        move |_, request| async move { look_up(&request, find) },
    );
    service.raises(&[404])
}

fn look_up(request: &Request, find: fn(&str) -> Option<Value>) -> Result<Response, Abort> {
    let segments = request.segments();
    let key = segments.last().copied().unwrap_or_default();
    find(key).map(Response::json).ok_or(Abort(404))
}

pub(super) fn movies() -> Service {
    lookup("movies", data::movie)
}

pub(super) fn bookings() -> Service {
    lookup("bookings", data::bookings)
}

pub(super) fn bookings_primary() -> Service {
    lookup("bookings-primary", data::bookings)
}

pub(super) fn bookings_secondary() -> Service {
    lookup("bookings-secondary", data::stale_bookings)
}

/// Answers the finished list for its only user, without asking anyone.
pub(super) fn monolith() -> Service {
    let monolith = service("monolith", |_, request| async move {
        match request.segments().as_slice() {
            ["users", data::CUSTOMER, "bookings"] => Ok(Response::json(data::happy_answer())),
            _ => Err(Abort(404)),
        }
    });
    monolith.raises(&[404])
}

/// Passes requests on to the monolith, once more if the first try fails.
pub(super) fn api_server() -> Service {
    service("api-server", |ctx, request| async move {
        let path = request.path().to_owned();
        let answer = retrying(1, || get(&ctx, "monolith", &path)).await;
        Ok(Response::json(found(answer)?))
    })
}

/// Bookings that asks Movies itself and answers the finished list.
pub(super) fn nested_bookings() -> Service {
    let bookings = service("bookings", |ctx, request| async move {
        let booked = look_up(&request, data::bookings)?;
        Ok(Response::json(with_movies(&ctx, body(&booked)?).await?))
    });
    bookings.raises(&[404, 503])
}

/// Bookings that asks Movies only to see whether what is booked still exists.
pub(super) fn checking_bookings() -> Service {
    let bookings = service("bookings", |ctx, request| async move {
        let booked = look_up(&request, data::bookings)?;
        with_movies(&ctx, body(&booked)?).await?;
        Ok(booked)
    });
    bookings.raises(&[404, 503])
}

/// A service that first tells an outside site about each request.
pub(super) fn telling(site: &'static str, service: Service) -> Service {
    let inner = service.handler.clone();
    let handler = Service::new(service.name, move |ctx, request| {
        let inner = inner.clone();
        async move {
            // Nobody waits for anything from the site, not even a good answer.
            let _ = ctx.call(site, "HEAD", "/").send().await;
            inner(ctx, request).await
        }
    });
    Service {
        handler: handler.handler,
        ..service
    }
}

/// A site of someone else.
pub(super) fn external(name: &'static str) -> Service {
    Service::new(name, |_, _| async { Ok(Response::text("welcome")) }).external()
}

/// The same service, slow, and turning requests away when too many are in
/// flight.
pub(super) fn shedding(service: Service) -> Service {
    let inner = service.handler.clone();
    let in_flight = Arc::new(AtomicUsize::new(0));
    let handler = Service::new(service.name, move |ctx, request| {
        let (inner, in_flight) = (inner.clone(), in_flight.clone());
        async move {
            let place = Place::take(in_flight);
            if place.number > CAPACITY {
                return Err(Abort(429));
            }
            ctx.sleep(WORK).await;
            inner(ctx, request).await
        }
    });
    Service {
        handler: handler.handler,
        raises: &[404, 429],
        ..service
    }
}

/// A request's place among those in flight; given back even if the server
/// drops the request half way.
struct Place {
    in_flight: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(in_flight: Arc<AtomicUsize>) -> Self {
        let number = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        Place { in_flight, number }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// `GET path`, not sent yet.
pub(super) fn get(ctx: &Ctx, service: &'static str, path: &str) -> PendingCall {
    ctx.get(service, path).timeout(TIMEOUT)
}

/// A user's bookings from a service that has them, not sent yet.
pub(super) fn get_bookings(ctx: &Ctx, service: &'static str, user: &str) -> PendingCall {
    get(ctx, service, &format!("/bookings/{user}"))
}

/// A movie, not sent yet.
pub(super) fn get_movie(ctx: &Ctx, id: &str) -> PendingCall {
    get(ctx, "movies", &format!("/movies/{id}"))
}

/// The document of a 200; a body that is none breaks the caller.
fn body(response: &Response) -> Result<Value, Abort> {
    response.body_json().ok_or(Abort::UNHANDLED)
}

/// What a caller needs: 404 is passed on, any other failure becomes 503.
pub(super) fn found(answer: Result<Response, Failure>) -> Result<Value, Abort> {
    match answer {
        Ok(response) => body(&response),
        Err(Failure::Status(404)) => Err(Abort(404)),
        Err(_) => Err(Abort(503)),
    }
}

/// What a caller needs and knows to exist: any failure becomes 503.
fn present(answer: Result<Response, Failure>) -> Result<Value, Abort> {
    body(&answer.map_err(|_| Abort(503))?)
}

/// What a caller can do without: any failure becomes the default.
pub(super) fn or_default(answer: Option<Response>, default: fn() -> Value) -> Result<Value, Abort> {
    match answer {
        Some(response) => body(&response),
        None => Ok(default()),
    }
}

/// The list of bookings with each movie asked for and needed.
pub(super) async fn with_movies(ctx: &Ctx, bookings: Value) -> Result<Value, Abort> {
    walk(bookings, |id| async move {
        present(attempt(get_movie(ctx, &id)).await)
    })
    .await
}

/// The list of bookings, date by date and movie by movie.
pub(super) async fn walk<Fut>(
    bookings: Value,
    movie: impl Fn(String) -> Fut,
) -> Result<Value, Abort>
where
    Fut: Future<Output = Result<Value, Abort>>,
{
    let Value::Object(by_date) = bookings else {
        return Err(Abort::UNHANDLED);
    };
    let mut list = Map::new();
    for (date, ids) in by_date {
        let ids: Vec<String> = serde_json::from_value(ids).map_err(|_| Abort::UNHANDLED)?;
        let mut movies = Vec::new();
        for id in ids {
            movies.push(data::summary(&movie(id).await?));
        }
        list.insert(date, Value::Array(movies));
    }
    Ok(Value::Object(list))
}
