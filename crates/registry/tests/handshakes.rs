//! A TLS handshake fails if it is known which call it is for.
//!
//! Without a memory no handshake would fail; with one that guessed, those of
//! other calls would, and be reported as the call that was planned to.

mod world;

use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Reply, TlsFault};
use murphy_registry::{
    Control, Decision, ExecutionId, Greeting, Handshake, Link, Origin, Owner, Parent, Plan,
    Registry,
};
use world::{Run, arrival, called_by, plan, registry, service};

/// Executions whose calls are named alike.
struct Campaign {
    registry: Registry,
    plan: Plan,
}

impl Campaign {
    fn new() -> Self {
        let (registry, plan) = (registry(), plan("none"));
        Campaign { registry, plan }
    }

    fn begin(&self, faults: &str) -> Secured<'_> {
        let plan = Plan {
            faultload: faults.parse().expect("a faultload"),
            ..self.plan.clone()
        };
        Secured(Run::begin(&self.registry, plan))
    }

    /// An execution in which `shop` calls these, one after the other.
    fn see(&self, faults: &str, calls: &[&str]) {
        let run = self.begin(faults);
        let shop = run.0.enter("shop");
        for call in calls {
            let made = run.call(shop, call);
            run.0.finish(made, 200);
        }
        run.0.finish(shop, 200);
        run.end();
    }
}

/// An execution in which services are called over TLS.
struct Secured<'r>(Run<'r>);

impl Secured<'_> {
    fn call(&self, from: Decision, to: &str) -> Decision {
        self.call_at(&service(), from, to)
    }

    fn call_at(&self, origin: &Origin, from: Decision, to: &str) -> Decision {
        let claim = Owner {
            execution: self.0.id,
            parent: Parent::Known(from.key.call.expect("a call")),
        };
        let mut arrival = arrival(claim, to, vec![]);
        arrival.over_tls = Some(origin.clone());
        self.0.try_arrive(arrival).expect("live")
    }

    fn handshake(&self) -> Option<Handshake> {
        self.handshake_at(&service(), "cart")
    }

    fn handshake_at(&self, origin: &Origin, to: &str) -> Option<Handshake> {
        match self.0.registry.handshake(origin, &Arc::from(to)) {
            Greeting::Fails(handshake) => Some(handshake),
            Greeting::Goes => None,
            Greeting::Waits => panic!("nothing is to be waited for"),
        }
    }

    fn break_off(&self) {
        let handshake = self.handshake().expect("it is to fail");
        self.0.registry.broke_off(handshake);
    }

    /// The calls to `cart`: the point, the reply, and whether the fault was
    /// injected.
    fn seen(&self) -> Vec<(String, String, Option<bool>)> {
        let recorded = self.0.collect_blocking();
        let calls = recorded.trace.calls().iter().zip(&recorded.details);
        let to_cart = calls.filter(|(call, _)| call.parent.is_some());
        let seen = to_cart.map(|(call, detail)| {
            let point = call.point.to_string().replace("shop GET / > ", "");
            let reply = call.reply.map(|reply| reply.to_string());
            (point, reply.unwrap_or_default(), detail.landed)
        });
        seen.collect()
    }

    fn end(self) -> ExecutionId {
        self.0.registry.end(self.0.id);
        self.0.id
    }
}

fn seen(calls: &[(&str, &str, Option<bool>)]) -> Vec<(String, String, Option<bool>)> {
    let own = |(point, reply, landed): &(&str, &str, _)| {
        ((*point).to_owned(), (*reply).to_owned(), *landed)
    };
    calls.iter().map(own).collect()
}

#[test]
fn the_call_that_came_next_before_is_the_one_that_fails() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a", "cart /b", "cart /c"]);
    let run = campaign.begin("shop GET / > cart GET /b = tls:expired");
    let shop = run.0.enter("shop");
    assert!(run.handshake().is_none());
    let a = run.call(shop, "cart /a");
    run.0.finish(a, 200);
    let handshake = run.handshake().expect("/b comes next");
    assert_eq!(handshake.fault, TlsFault::Expired);
    run.0.registry.broke_off(handshake);
    assert!(run.handshake().is_none());
    let again = run.call(shop, "cart /b");
    assert_eq!(again.fault, None);
    run.0.finish(again, 200);
    run.0.finish(shop, 200);
    let expected = [
        ("cart GET /a", "200", None),
        ("cart GET /b", "tls:expired", Some(true)),
        ("cart GET /b #2", "200", None),
    ];
    assert_eq!(run.seen(), seen(&expected));
}

#[test]
fn what_was_never_seen_does_not_fail() {
    let campaign = Campaign::new();
    let run = campaign.begin("shop GET / > cart GET /a = tls:expired");
    let shop = run.0.enter("shop");
    assert!(run.handshake().is_none());
    let a = run.call(shop, "cart /a");
    // Its handshake is over.
    assert_eq!(a.fault, None);
    run.0.finish(a, 200);
    run.0.finish(shop, 200);
    let recorded = run.0.collect_blocking();
    assert_eq!(recorded.details[1].landed, None);
    let planned = "shop GET / > cart GET /a = tls:expired".parse().unwrap();
    assert_eq!(recorded.not_exercised(&planned).len(), 1);
}

#[test]
fn what_was_seen_counts_only_where_calls_are_named_alike() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a"]);
    let other = Campaign {
        plan: plan("none"),
        registry: campaign.registry,
    };
    let none = "none".parse().unwrap();
    assert!(other.registry.has_seen(&campaign.plan.identity, &none));
    assert!(!other.registry.has_seen(&other.plan.identity, &none));
    let run = other.begin("shop GET / > cart GET /a = tls:expired");
    run.0.enter("shop");
    assert!(run.handshake().is_none());
}

#[test]
fn where_several_calls_came_next_none_fails() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a", "cart /b"]);
    campaign.see("none", &["cart /b", "cart /a"]);
    let run = campaign.begin("shop GET / > cart GET /a = tls:expired");
    run.0.enter("shop");
    assert!(run.handshake().is_none());
}

#[test]
fn calls_beside_each_other_do_not_fail() {
    let campaign = Campaign::new();
    let run = campaign.begin("none");
    let shop = run.0.enter("shop");
    let both = ["cart /a", "cart /b"].map(|to| run.call(shop, to));
    for call in both {
        run.0.finish(call, 200);
    }
    run.end();
    for point in ["/a", "/b"] {
        let run = campaign.begin(&format!("shop GET / > cart GET {point} = tls:expired"));
        let shop = run.0.enter("shop");
        assert!(run.handshake().is_none());
        let a = run.call(shop, "cart /a");
        run.0.finish(a, 200);
        assert!(run.handshake().is_none());
        run.end();
    }
}

#[test]
fn what_comes_beside_a_handshake_leaves_it_open_which_was_meant() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a", "cart /b"]);
    let faults = "shop GET / > cart GET /a = tls:expired";
    let run = campaign.begin(faults);
    let shop = run.0.enter("shop");
    let handshake = run.handshake().expect("/a comes next");
    let cart = Arc::from("cart");
    let another = campaign.registry.handshake(&service(), &cart);
    assert!(matches!(another, Greeting::Waits));
    // It has waited long enough.
    let b = run.call(shop, "cart /b");
    run.0.finish(b, 200);
    campaign.registry.broke_off(handshake);
    run.0.finish(shop, 200);
    let recorded = run.0.collect_blocking();
    let (call, detail) = (&recorded.trace.calls()[2], recorded.details[2]);
    assert_eq!(call.reply, Some(Reply::NoTls(TlsFault::Expired)));
    assert_eq!((detail.link, detail.landed), (Link::Ambiguous, None));
    assert_eq!(recorded.not_exercised(&faults.parse().unwrap()).len(), 1);
}

#[test]
fn every_attempt_fails_of_a_caller_that_asks_for_nothing_else() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a", "cart /b"]);
    let run = campaign.begin("shop GET / > cart GET /b #* = tls:name");
    let shop = run.0.enter("shop");
    let a = run.call(shop, "cart /a");
    run.0.finish(a, 200);
    for _ in 0..3 {
        run.break_off();
    }
    run.0.finish(shop, 200);
    let expected = [
        ("cart GET /a", "200", None),
        ("cart GET /b", "tls:name", Some(true)),
        ("cart GET /b #2", "tls:name", Some(true)),
        ("cart GET /b #3", "tls:name", Some(true)),
    ];
    assert_eq!(run.seen(), seen(&expected));
}

#[test]
fn after_a_failed_handshake_only_what_was_seen_to_follow_fails() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a", "cart /b"]);
    let every = "shop GET / > cart GET /a #* = tls:name";
    let run = campaign.begin(every);
    run.0.enter("shop");
    run.break_off();
    // It may be /b that comes now.
    assert!(run.handshake().is_none());
    run.end();
    let run = campaign.begin("shop GET / > cart GET /a = tls:name");
    let shop = run.0.enter("shop");
    run.break_off();
    let again = run.call(shop, "cart /a");
    run.0.finish(again, 200);
    run.end();
    let run = campaign.begin(every);
    run.0.enter("shop");
    run.break_off();
    run.break_off();
}

#[test]
fn what_else_was_injected_makes_another_situation() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a"]);
    let stock = "shop GET / > stock GET / = 503";
    let both = format!("{stock}, shop GET / > cart GET /a = tls:expired");
    let begin = |faults: &str| {
        let run = campaign.begin(faults);
        let shop = run.0.enter("shop");
        let call = run.0.call(shop, "stock");
        run.0.finish(call, 503);
        (run, shop)
    };
    let (run, _) = begin(&both);
    assert!(run.handshake().is_none());
    run.end();
    let (run, shop) = begin(stock);
    let fallback = run.call(shop, "cart /fallback");
    run.0.finish(fallback, 200);
    run.end();
    let (run, _) = begin(&both);
    assert!(run.handshake().is_none(), "it is for the fallback");
    run.end();
    // Without it nothing has changed.
    let run = campaign.begin("shop GET / > cart GET /a = tls:expired");
    run.0.enter("shop");
    assert!(run.handshake().is_some());
}

#[test]
fn callers_are_told_apart_by_where_they_call() {
    let campaign = Campaign::new();
    let run = campaign.begin("none");
    let shop = run.0.enter("shop");
    for (caller, to) in [("shop", "cart /a"), ("web", "cart /b")] {
        let call = run.call_at(&called_by(caller), shop, to);
        run.0.finish(call, 200);
    }
    run.end();
    let run = campaign.begin("shop GET / > cart GET /b = tls:untrusted");
    run.0.enter("shop");
    assert!(run.handshake_at(&called_by("shop"), "cart").is_none());
    assert!(run.handshake_at(&called_by("web"), "cart").is_some());
    assert!(run.handshake_at(&called_by("web"), "stock").is_none());
    assert!(run.handshake_at(&Origin::Murphy, "cart").is_none());
}

#[test]
fn with_several_executions_it_is_not_known_whose_a_handshake_is() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a"]);
    let run = campaign.begin("shop GET / > cart GET /a = tls:expired");
    run.0.enter("shop");
    let other = campaign.begin("none");
    assert!(run.handshake().is_none());
    other.end();
    assert!(run.handshake().is_some());
}

#[tokio::test]
async fn handshakes_are_wanted_as_long_as_some_are_to_fail() {
    let campaign = Campaign::new();
    let cart = Arc::from("cart");
    let mut changes = campaign.registry.handshakes_wanted().expect("always told");
    let plain = campaign.begin("shop GET / > cart GET /a = 503");
    assert!(!campaign.registry.wants_handshakes(&cart));
    assert!(!changes.has_changed().unwrap());
    plain.end();
    for faults in [
        "shop GET / > cart GET /a = tls:name",
        "** > * #* = tls:name",
    ] {
        let run = campaign.begin(faults);
        let told = tokio::time::timeout(Duration::from_secs(5), changes.changed());
        told.await.expect("at once").unwrap();
        assert!(campaign.registry.wants_handshakes(&cart), "{faults}");
        let any = campaign.registry.wants_handshakes(&Arc::from("stock"));
        assert_eq!(any, faults.starts_with("**"));
        run.end();
        assert!(!campaign.registry.wants_handshakes(&cart));
    }
}

#[tokio::test(start_paused = true)]
async fn an_execution_waits_for_word_of_a_handshake_that_fails() {
    let campaign = Campaign::new();
    campaign.see("none", &["cart /a"]);
    for is_heard_of in [true, false] {
        let run = campaign.begin("shop GET / > cart GET /a = tls:expired");
        let shop = run.0.enter("shop");
        let handshake = run.handshake().expect("/a comes next");
        run.0.finish(shop, 200);
        let word = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            if is_heard_of {
                campaign.registry.broke_off(handshake);
            }
        };
        let (recorded, ()) = tokio::join!(run.0.collect(), word);
        assert!(recorded.quiet);
        let calls = recorded.trace.calls().len();
        assert_eq!(calls, if is_heard_of { 2 } else { 1 });
        run.end();
    }
}
