//! Food delivery: orders that must be authorised, behind circuit breakers.
//!
//! Orders asks an authorisation service about every order created, updated or
//! deleted. Eight layouts of the same thing show what a breaker must be scoped
//! to: with `delete-fault=on` the authorisation of (takeout) deletes always
//! fails, and wherever another operation shares the breaker of those deletes it
//! is refused as well, with a 500 nobody handles.
//!
//! With `delete-fault=on` a fixed test runs and `operation` has no effect.

mod orders;
mod scenario;
#[cfg(test)]
mod tests;

use murphy_model::Identity;

use super::expect::{DECLARED, HTTP, fails, refused};
use crate::{App, Expected, Settings, Switch, System, Values};

pub(super) fn apps() -> Vec<App> {
    use {Auth::*, Breakers::*, Routes::*};
    vec![
        App {
            expected: breaks_under_delete_fault,
            ..app(
                "food-1-1",
                "orders, one breaker for all verbs",
                |settings| build(settings, Layout::new(Untyped, OneForAll, One)),
            )
        },
        App {
            expected: bears_delete_fault,
            ..app("food-1-2", "orders, a breaker per verb", |settings| {
                build(settings, Layout::new(Untyped, OneForAll, PerVerb))
            })
        },
        App {
            expected: bears_delete_fault,
            ..app(
                "food-2-a",
                "a route, a service and a breaker per verb for each type",
                |settings| {
                    build(
                        settings,
                        Layout::new(ByPath, ServicePerType, PerVerbAndType),
                    )
                },
            )
        },
        app(
            "food-2-b",
            "a route and an endpoint for each type, a breaker per verb",
            |settings| build(settings, Layout::new(ByPath, EndpointPerType, PerVerb)),
        ),
        app(
            "food-2-c",
            "a route for each type, one endpoint, a breaker per verb",
            |settings| build(settings, Layout::new(ByPath, TypeBesideDetails, PerVerb)),
        ),
        app(
            "food-2-d",
            "one route, a service for each type, a breaker per verb",
            |settings| build(settings, Layout::new(ByBody, ServicePerType, PerVerb)),
        ),
        app(
            "food-2-e",
            "one route, an endpoint for each type, a breaker per verb",
            |settings| build(settings, Layout::new(ByBody, EndpointPerType, PerVerb)),
        ),
        app(
            "food-2-f",
            "one route, one endpoint, a breaker per verb",
            |settings| build(settings, Layout::new(ByBody, TypeInDetails, PerVerb)),
        ),
    ]
}

/// How one of the case studies is laid out.
#[derive(Clone, Copy)]
struct Layout {
    routes: Routes,
    auth: Auth,
    breakers: Breakers,
}

impl Layout {
    const fn new(routes: Routes, auth: Auth, breakers: Breakers) -> Self {
        Layout {
            routes,
            auth,
            breakers,
        }
    }
}

/// How a client tells Orders the type of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Routes {
    /// Not at all: there is one type.
    Untyped,
    /// `/orders/takeout`
    ByPath,
    /// `"order_type": "takeout"`
    ByBody,
}

/// How Orders tells the authorisation the type of an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Auth {
    /// Not at all.
    OneForAll,
    /// A service for each type.
    ServicePerType,
    /// An endpoint for each type.
    EndpointPerType,
    /// In the body, beside the order's details.
    TypeBesideDetails,
    /// In the body, among the order's details.
    TypeInDetails,
}

/// Which calls share a breaker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breakers {
    One,
    PerVerb,
    PerVerbAndType,
}

const SWITCHES: &[Switch] = &[
    Switch {
        name: "operation",
        about: "what the scenario does",
        values: Values::Words(&["create", "update", "delete", "all"]),
        default: "create",
    },
    Switch {
        name: "delete-fault",
        about: "whether (takeout) deletes are never authorised",
        values: Values::OnOff,
        default: "off",
    },
];

fn app(name: &'static str, about: &'static str, build: fn(&Settings) -> System) -> App {
    App {
        name,
        about,
        switches: SWITCHES,
        build,
        expected: breaks_under_delete_fault,
    }
}

fn build(settings: &Settings, layout: Layout) -> System {
    let delete_fault = settings.on("delete-fault");
    let operation = settings.word("operation").to_owned();
    let mut services = orders::authorisation(layout, delete_fault);
    services.push(orders::orders(layout));
    let client = scenario::Client::of(layout);
    let system = System::new(services, move |ctx| {
        let operation = operation.clone();
        async move {
            match delete_fault {
                true => client.surround_failing_deletes(&ctx).await,
                false => client.perform(&ctx, &operation).await,
            }
        }
    });
    // Order ids go on increasing as long as Orders runs; a call to authorise
    // the next order is the same call.
    let identity = Identity {
        masked: vec!["order_id".to_owned()],
        ..Identity::default()
    };
    System {
        identity,
        ..system.with_state()
    }
}

/// Nothing fails as long as deletes can be authorised.
fn without_delete_fault() -> Vec<Expected> {
    let operations = ["", "operation=update", "operation=delete"];
    operations
        .into_iter()
        .flat_map(|settings| [HTTP, DECLARED].map(|modes| fails(settings, modes, &[])))
        .chain([fails("operation=all", "503", &[])])
        .collect()
}

fn breaks_under_delete_fault() -> Vec<Expected> {
    let refused = refused("delete-fault=on", HTTP);
    without_delete_fault()
        .into_iter()
        .chain([refused])
        .collect()
}

/// One mode only: the scenario makes so many calls that four would make far
/// more cases than any search should be asked for.
fn bears_delete_fault() -> Vec<Expected> {
    let borne = fails("delete-fault=on", "503", &[]);
    without_delete_fault().into_iter().chain([borne]).collect()
}
