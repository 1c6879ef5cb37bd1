//! What brute force cannot see: breakers that open over several executions,
//! and orders no scenario sends.

use murphy_model::{Fault, Faultload, Mode, Reply, Verdict};
use serde_json::json;

use crate::net::Response;
use crate::sim::State;
use crate::{Simulator, System};

fn simulator(name: &str, settings: &str) -> Simulator {
    let app = crate::find(name).expect("an app of this family");
    let settings = app
        .settings_from_text(settings)
        .expect("settings of this family");
    Simulator::new(app, settings)
}

/// The faultload of one 503 at the first call Orders makes.
fn refuse_authorisation(simulator: &mut Simulator) -> Faultload {
    let reference = simulator.run(&Faultload::none());
    let call = reference
        .trace
        .calls()
        .iter()
        .find(|call| call.parent.is_some());
    let point = call.expect("Orders asks for authorisation").point.clone();
    Faultload::new([Fault::at(point, Mode::status(503))]).expect("one fault goes with itself")
}

#[test]
fn five_failed_executions_open_the_breaker_for_the_next() {
    let mut simulator = simulator("food-1-1", "").state(State::Kept);
    let refused = refuse_authorisation(&mut simulator);
    for _ in 0..5 {
        let execution = simulator.run(&refused);
        assert_eq!(execution.verdict, Verdict::Passed);
        assert_eq!(execution.trace.final_reply(), Some(Reply::Status(503)));
    }
    let healthy = simulator.run(&Faultload::none());
    assert_eq!(healthy.trace.final_reply(), Some(Reply::Status(500)));
    assert!(healthy.verdict.is_failure());
}

#[test]
fn four_failed_executions_do_not_open_the_breaker() {
    let mut simulator = simulator("food-1-1", "").state(State::Kept);
    let refused = refuse_authorisation(&mut simulator);
    for _ in 0..4 {
        simulator.run(&refused);
    }
    assert_eq!(simulator.run(&Faultload::none()).verdict, Verdict::Passed);
}

#[test]
fn the_shared_breaker_refuses_what_has_not_failed() {
    let cases = [
        ("food-1-1", "expected 201 for POST of order, got 500"),
        ("food-2-b", "expected 200 for DELETE of delivery, got 500"),
        ("food-2-c", "expected 200 for DELETE of delivery, got 500"),
        ("food-2-d", "expected 200 for DELETE of delivery, got 500"),
        ("food-2-e", "expected 200 for DELETE of delivery, got 500"),
        ("food-2-f", "expected 200 for DELETE of delivery, got 500"),
    ];
    for (name, complaint) in cases {
        let execution = simulator(name, "delete-fault=on").run(&Faultload::none());
        let why = complaint.to_owned();
        assert_eq!(execution.verdict, Verdict::Failed { why }, "{name}");
    }
}

#[test]
fn an_order_of_unknown_type_is_refused_where_the_layout_says() {
    let cases = [("food-2-d", 500), ("food-2-e", 503), ("food-2-f", 503)];
    for (name, status) in cases {
        let system = simulator(name, "").system().clone();
        let odd_order = System::new(system.services, |ctx| async move {
            let order = json!({"order_amount": 100, "order_type": "by-drone"});
            let Response { status, .. } = ctx
                .post("orders", "/orders")
                .json(&order)
                .send()
                .await
                .expect("an answer");
            Err(status.to_string())
        });
        let execution = Simulator::of(odd_order).run(&Faultload::none());
        let why = status.to_string();
        assert_eq!(execution.verdict, Verdict::Failed { why }, "{name}");
    }
}
