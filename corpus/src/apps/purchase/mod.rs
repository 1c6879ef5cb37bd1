//! Purchase: an order that looks up discounts and moves money.
//!
//! The order service asks who the customer is, what is in the cart and whether
//! a discount applies, adjusts the cart, and transfers the price. Without the
//! discount the sale goes through at full price: pricing and the adjustment of
//! the cart are soft dependencies (`dependencies=soft`), so that what goes
//! wrong there goes wrong in silence, and only a scenario that knows the price
//! sees it.
//!
//! `bugs=on` makes two mistakes. One is the dissertation's: the order service
//! waits for pricing for less time than pricing waits for shipping, so a slow
//! shipping costs customers their discount. The other is ours: if the cart
//! cannot be adjusted the discount is given all the same, and what is paid is
//! not what the cart says.

mod scenario;
mod services;

use std::sync::Arc;

use murphy_model::Identity;

use super::expect::{DECLARED, HTTP, fails};
use crate::{App, Expected, Settings, Switch, System, Values, Wire};
use services::{Rules, Shop};

/// A discount code and its percentage.
type Discount = (&'static str, u64);

/// The discounts in the order in which they are looked up, greatest first.
const DISCOUNTS: &[Discount] = &[("FIRST-TIME", 10), ("RETURNING", 5), ("DAILY", 1)];

pub(super) fn apps() -> Vec<App> {
    vec![App {
        name: "purchase",
        about: "an order that looks up discounts and moves money",
        switches: SWITCHES,
        build,
        expected,
    }]
}

const SWITCHES: &[Switch] = &[
    Switch {
        name: "dependencies",
        about: "whether a sale goes through without its discount",
        values: Values::Words(&["hard", "soft"]),
        default: "soft",
    },
    Switch {
        name: "discounts",
        about: "how many discounts are looked up",
        values: Values::Words(&["one", "many"]),
        default: "one",
    },
    Switch {
        name: "bugs",
        about: "a timeout that is too short, and a discount without a cart adjusted",
        values: Values::OnOff,
        default: "off",
    },
    Wire::SWITCH,
];

fn build(settings: &Settings) -> System {
    let rules = Rules {
        hard: settings.word("dependencies") == "hard",
        discounts: match settings.word("discounts") {
            "many" => DISCOUNTS,
            _ => &DISCOUNTS[..1],
        },
        bugs: settings.on("bugs"),
    };
    let shop = Arc::new(Shop::default());
    let services = services::all(rules, &shop);
    let system = System::new(services, move |ctx| scenario::buy(ctx, rules, shop.clone()));
    // Adjusting the cart is the same call whichever discount was found; inside
    // a gRPC message no field can be left out.
    let identity = Identity {
        masked: vec!["percent".to_owned()],
        ..Identity::default()
    };
    System {
        identity,
        wire: Wire::of(settings),
        ..system.with_state()
    }
}

/// A delay longer than the mistaken timeout and shorter than any other.
const SLOW: &str = "delay:2s";

fn expected() -> Vec<Expected> {
    let correct = [
        "",
        "discounts=many",
        "dependencies=hard",
        "dependencies=hard discounts=many",
        "wire=grpc",
        "wire=grpc dependencies=hard",
    ];
    let mut expected: Vec<Expected> = correct
        .into_iter()
        .flat_map(|settings| [HTTP, DECLARED, SLOW].map(|modes| fails(settings, modes, &[])))
        .collect();
    expected.extend(with_bugs());
    expected
}

fn with_bugs() -> Vec<Expected> {
    let cart_not_adjusted: &[&str] = &[
        "** > cart PUT /carts/* #1 = 500",
        "** > cart PUT /carts/* #1 = 502",
        "** > cart PUT /carts/* #1 = 503",
        "** > cart PUT /carts/* #1 = 504",
    ];
    let cart_not_adjusted_declared: &[&str] = &[
        "** > cart PUT /carts/* #1 = reset",
        "** > cart PUT /carts/* #1 = hang",
        "** > cart PUT /carts/* #1 = 500",
        "** > cart PUT /carts/* #1 = 404",
    ];
    let cart_not_adjusted_over_grpc: &[&str] = &[
        "** > cart corpus.Cart/PutCarts #1 = 500",
        "** > cart corpus.Cart/PutCarts #1 = grpc:NOT_FOUND",
    ];
    // Only the greatest discount is missed when its lookup is slow.
    let impatience: &[&str] = &[
        "** > pricing POST /discounts/FIRST-TIME #1 = delay:2s",
        "** > pricing POST /discounts/FIRST-TIME #1 > shipping * #1 = delay:2s",
    ];
    // Where every failed lookup ends the sale, so does every slow one.
    let impatience_everywhere: &[&str] = &[
        "** > pricing POST /discounts/FIRST-TIME #1 = delay:2s",
        "** > pricing POST /discounts/FIRST-TIME #1 > shipping * #1 = delay:2s",
        "** > pricing POST /discounts/RETURNING #1 = delay:2s",
        "** > pricing POST /discounts/RETURNING #1 > shipping * #1 = delay:2s",
        "** > pricing POST /discounts/DAILY #1 = delay:2s",
        "** > pricing POST /discounts/DAILY #1 > shipping * #1 = delay:2s",
    ];
    vec![
        fails("bugs=on", HTTP, cart_not_adjusted),
        fails("bugs=on", DECLARED, cart_not_adjusted_declared),
        fails("bugs=on", SLOW, impatience),
        fails(
            "bugs=on wire=grpc",
            "500,grpc:NOT_FOUND",
            cart_not_adjusted_over_grpc,
        ),
        fails("bugs=on discounts=many", HTTP, cart_not_adjusted),
        fails("bugs=on discounts=many", SLOW, impatience),
        fails("bugs=on dependencies=hard", HTTP, &[]),
        fails("bugs=on dependencies=hard", SLOW, impatience),
        fails(
            "bugs=on dependencies=hard discounts=many",
            SLOW,
            impatience_everywhere,
        ),
    ]
}
