//! Cinema: a user's bookings with the movies in them, in sixteen variants.
//!
//! Users is asked for bookings; Bookings and Movies have what it needs. The
//! variants differ in who calls whom and in what is done about a failure:
//! nothing, a retry, a default, a replica, a breaker, shedding of load. None
//! has a seeded bug; `cinema-12` and `cinema-10` are rejected by their own
//! tests for what they do on purpose. The apps `cinema-call-site` and
//! `cinema-path` are those with which Filibuster shows that a call's place in
//! the code and its path must be part of its identity.

mod data;
mod guarded;
mod services;
#[cfg(test)]
mod tests;
mod users;

use std::time::Duration;

use serde_json::Value;

use super::expect::{self, DECLARED, HTTP, fails, nothing_fails};
use crate::net::{Ctx, PendingCall, Response};
use crate::{App, Expected, Service, Settings, Switch, System, Values};
use services::{
    api_server, bookings, bookings_primary, bookings_secondary, checking_bookings, external,
    monolith, movies, nested_bookings, shedding, telling, users,
};

pub(super) fn apps() -> Vec<App> {
    vec![
        app("cinema-1", "Users asks Bookings, then Movies", |_| {
            let users = users(users::sequential);
            Test::FaultsShow.of(vec![users, bookings(), movies()])
        }),
        app("cinema-2", "Users asks Bookings, which asks Movies", |_| {
            let users = users(users::nested);
            Test::FaultsShow.of(vec![users, nested_bookings(), movies()])
        }),
        App {
            expected: table_7_1,
            ..app(
                "cinema-3",
                "cinema-2, and Users asks Bookings again if it fails",
                |_| {
                    let users = users(users::nested_with_retry);
                    Test::FaultsMayHide.of(vec![users, nested_bookings(), movies()])
                },
            )
        },
        App {
            switches: EXTERNALS,
            expected: || either("externals=off", "externals=on"),
            ..app(
                "cinema-4",
                "cinema-2, and every service tells an outside site first",
                with_externals,
            )
        },
        app(
            "cinema-5",
            "cinema-1, with defaults for Bookings and Movies",
            |_| {
                let users = users(users::with_defaults);
                Test::FaultsMayHide.of(vec![users, bookings(), movies()])
            },
        ),
        app(
            "cinema-6",
            "cinema-1, with a second Bookings to fall back to",
            |_| {
                let users = users(users::with_replica);
                Test::EitherReplica.of(vec![
                    users,
                    bookings_primary(),
                    bookings_secondary(),
                    movies(),
                ])
            },
        ),
        App {
            switches: HEALTH,
            expected: || either("health=status", "health=exception"),
            ..app(
                "cinema-7",
                "cinema-6, choosing by a health check",
                with_health_check,
            )
        },
        app(
            "cinema-8",
            "a monolith behind a server that asks it again if it fails",
            |_| {
                System::new(vec![api_server(), monolith()], |ctx| async move {
                    Test::FaultsMayHide
                        .judge(&ctx, entry(&ctx, "api-server"))
                        .await
                })
            },
        ),
        app(
            "cinema-9",
            "cinema-5, with hand-made breakers in Users",
            |_| {
                let services = vec![guarded::with_history(), bookings(), movies()];
                Test::FaultsMayHide.of(services).with_state()
            },
        ),
        App {
            expected: || {
                let refused = &["** > bookings * #1 = 429"];
                vec![fails("", HTTP, &[]), fails("", DECLARED, refused)]
            },
            ..app(
                "cinema-10",
                "cinema-5, with a Bookings that sheds load",
                |_| {
                    let users = users(guarded::passing_overload_on);
                    let services = vec![users, shedding(bookings()), movies()];
                    Test::FaultsMayHide.of(services).with_state()
                },
            )
        },
        app(
            "cinema-11",
            "cinema-5, with a library's breakers in Users",
            |_| {
                let services = vec![guarded::with_breakers(), bookings(), movies()];
                Test::FaultsMayHide.of(services).with_state()
            },
        ),
        App {
            expected: impatient,
            ..app(
                "cinema-12",
                "cinema-5, waiting out a lost connection as long as its test waits",
                |_| {
                    let services = vec![users(guarded::patient), bookings(), movies()];
                    System::new(services, |ctx| async move {
                        let call = entry(&ctx, "users").timeout(TEST_TIMEOUT);
                        Test::FaultsMayHide.judge(&ctx, call).await
                    })
                },
            )
        },
        app(
            "cinema-13",
            "cinema-5, asking Bookings up to ten times",
            |_| {
                let users = users(guarded::stubborn);
                Test::FaultsMayHide.of(vec![users, bookings(), movies()])
            },
        ),
        app(
            "cinema-14",
            "cinema-2, with a Movies that sheds load",
            |_| {
                let users = users(users::nested);
                let services = vec![users, nested_bookings(), shedding(movies())];
                Test::FaultsShow.of(services).with_state()
            },
        ),
        App {
            expected: table_7_1,
            ..app(
                "cinema-call-site",
                "cinema-1, asking Bookings again from another call site",
                |_| {
                    let users = users(users::from_two_places);
                    Test::FaultsMayHide.of(vec![users, bookings(), movies()])
                },
            )
        },
        App {
            expected: table_7_1,
            ..app(
                "cinema-path",
                "Movies is asked by Bookings, then by Users, in the same words",
                |_| {
                    let users = users(users::movies_twice);
                    Test::FaultsMayHide.of(vec![users, checking_bookings(), movies()])
                },
            )
        },
    ]
}

fn app(name: &'static str, about: &'static str, build: fn(&Settings) -> System) -> App {
    App {
        name,
        about,
        switches: &[],
        build,
        expected: nothing_fails,
    }
}

const EXTERNALS: &[Switch] = &[Switch {
    name: "externals",
    about: "whether calls to the outside sites are seen and injected",
    values: Values::OnOff,
    default: "off",
}];

fn with_externals(settings: &Settings) -> System {
    let site = |name| match settings.on("externals") {
        true => external(name),
        false => external(name).unproxied(),
    };
    Test::FaultsMayHide.of(vec![
        telling("www.imdb.com", users(users::nested)),
        telling("www.fandango.com", nested_bookings()),
        telling("www.rottentomatoes.com", movies()),
        site("www.imdb.com"),
        site("www.fandango.com"),
        site("www.rottentomatoes.com"),
    ])
}

const HEALTH: &[Switch] = &[Switch {
    name: "health",
    about: "what tells an unhealthy replica: any status but 200, or only an exception",
    values: Values::Words(&["status", "exception"]),
    default: "status",
}];

fn with_health_check(settings: &Settings) -> System {
    let any_answer_is_healthy = settings.word("health") == "exception";
    let users = users(move |ctx, user| users::with_health_check(ctx, user, any_answer_is_healthy));
    Test::EitherReplica.of(vec![
        users,
        bookings_primary(),
        bookings_secondary(),
        movies(),
    ])
}

/// Nothing fails under either setting of a switch.
fn either(one: &'static str, other: &'static str) -> Vec<Expected> {
    [one, other]
        .into_iter()
        .flat_map(|settings| [HTTP, DECLARED].map(|modes| fails(settings, modes, &[])))
        .collect()
}

/// Nothing fails, with the connection errors of table 7.1 neither.
fn table_7_1() -> Vec<Expected> {
    [HTTP, DECLARED, "reset"]
        .map(|modes| fails("", modes, &[]))
        .into()
}

/// How long the test of `cinema-12` waits. The other tests wait for ever: the
/// callers' own timeouts of as many seconds would otherwise run against it.
const TEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A lost connection makes Users sleep until its test has gone; so does a
/// timeout, as Users waits for its callees as long as its test waits for it.
fn impatient() -> Vec<Expected> {
    vec![
        fails("", HTTP, &[]),
        fails("", "reset", &["** > bookings * #1 = reset"]),
        // Declared timeouts run out at once, so nobody else's patience does.
        fails("", DECLARED, &["** > bookings * #1 = reset"]),
        fails(
            "",
            "hang",
            &["** > bookings * #1 = hang", "** > movies * #1 = hang"],
        ),
    ]
}

/// What a test makes of an answer. Under faults a 503 or 404 is always right.
#[derive(Clone, Copy)]
enum Test {
    /// No fault can be hidden: a 200 means there was none.
    FaultsShow,
    /// A 200 under faults is right if the list is.
    FaultsMayHide,
    /// The same, and the list may be that of the replica fallen behind.
    EitherReplica,
}

impl Test {
    /// These services, with Users tested this way.
    fn of(self, services: Vec<Service>) -> System {
        System::new(services, move |ctx| async move {
            self.judge(&ctx, entry(&ctx, "users")).await
        })
    }

    async fn judge(self, ctx: &Ctx, call: PendingCall) -> Result<(), String> {
        let response = expect::answer(call).await?;
        match response.status {
            200 => self.judge_list(ctx, &response),
            503 | 404 => expect::that(ctx.any_fault(), "200 without faults", &response),
            _ => expect::that(false, "200, 503 or 404", &response),
        }
    }

    fn judge_list(self, ctx: &Ctx, response: &Response) -> Result<(), String> {
        if matches!(self, Test::FaultsShow) {
            expect::that(!ctx.any_fault(), "503 or 404 under faults", response)?;
        }
        let list = response.body_json().unwrap_or(Value::Null);
        let stale_is_right = matches!(self, Test::EitherReplica);
        if list == data::happy_answer() || (stale_is_right && list == data::stale_answer()) {
            return Ok(());
        }
        Err(format!("expected the bookings, got {list}"))
    }
}

fn entry(ctx: &Ctx, service: &'static str) -> PendingCall {
    ctx.get(service, format!("/users/{}/bookings", data::CUSTOMER))
}
