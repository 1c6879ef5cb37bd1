//! What Users does, variant by variant: which call it makes next, and what it
//! makes of one that fails.

use serde_json::Value;

use super::super::parts::{attempt, retrying};
use super::data;
use super::services::{found, get, get_bookings, get_movie, or_default, walk, with_movies};
use crate::net::{Abort, Ctx};

/// Asks Bookings, then Movies; needs both.
pub(super) async fn sequential(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let bookings = found(attempt(get_bookings(&ctx, "bookings", &user)).await)?;
    with_movies(&ctx, bookings).await
}

/// Asks Bookings, which asks Movies.
pub(super) async fn nested(ctx: Ctx, user: String) -> Result<Value, Abort> {
    found(attempt(get_bookings(&ctx, "bookings", &user)).await)
}

/// Asks Bookings, which asks Movies; asks a second time if that fails.
pub(super) async fn nested_with_retry(ctx: Ctx, user: String) -> Result<Value, Abort> {
    found(retrying(1, || get_bookings(&ctx, "bookings", &user)).await)
}

/// Asks Bookings, then Movies; has a default for each.
pub(super) async fn with_defaults(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let answer = attempt(get_bookings(&ctx, "bookings", &user)).await;
    let bookings = or_default(answer.ok(), data::default_bookings)?;
    with_default_movies(&ctx, bookings).await
}

/// The list of bookings; a movie that cannot be had is replaced.
pub(super) async fn with_default_movies(ctx: &Ctx, bookings: Value) -> Result<Value, Abort> {
    let movie = |id: String| async move {
        let answer = attempt(get_movie(ctx, &id)).await;
        or_default(answer.ok(), data::default_movie)
    };
    walk(bookings, movie).await
}

/// Asks the secondary replica if the primary fails.
pub(super) async fn with_replica(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let answer = match attempt(get_bookings(&ctx, "bookings-primary", &user)).await {
        Ok(response) => Ok(response),
        Err(_) => attempt(get_bookings(&ctx, "bookings-secondary", &user)).await,
    };
    with_movies(&ctx, found(answer)?).await
}

/// Asks the primary how it is before choosing a replica; the one chosen must
/// then deliver.
pub(super) async fn with_health_check(
    ctx: Ctx,
    user: String,
    any_answer_is_healthy: bool,
) -> Result<Value, Abort> {
    let check = get(&ctx, "bookings-primary", "/health-check").send().await;
    let healthy = check.is_ok_and(|response| any_answer_is_healthy || response.status == 200);
    let replica = match healthy {
        true => "bookings-primary",
        false => "bookings-secondary",
    };
    let bookings = found(attempt(get_bookings(&ctx, replica, &user)).await)?;
    with_movies(&ctx, bookings).await
}

/// Asks Bookings; if that fails notes it, and asks again from elsewhere in the
/// code, through the same helper.
pub(super) async fn from_two_places(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let ask = |site| attempt(get_bookings(&ctx, "bookings", &user).site(site));
    let mut answer = ask("first-try").await;
    if answer.is_err() {
        answer = ask("second-try").await;
    }
    with_movies(&ctx, found(answer)?).await
}

/// Asks Bookings, which asks Movies; has a default for that, and then asks
/// Movies itself.
pub(super) async fn movies_twice(ctx: Ctx, user: String) -> Result<Value, Abort> {
    let answer = attempt(get_bookings(&ctx, "bookings", &user)).await;
    let bookings = or_default(answer.ok(), data::default_bookings)?;
    with_movies(&ctx, bookings).await
}
