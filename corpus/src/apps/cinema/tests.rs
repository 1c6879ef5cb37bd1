//! What the guarded variants do after many failures, and under load.

use std::sync::Arc;

use murphy_model::{Execution, Fault, Faultload, Mode, Verdict};

use super::entry;
use crate::net::join_all;
use crate::sim::State;
use crate::{Simulator, System};

fn simulator(name: &str) -> Simulator {
    let app = crate::find(name).expect("an app of this family");
    let settings = app.settings([]).expect("the defaults");
    Simulator::new(app, settings).state(State::Kept)
}

fn calls_to(service: &str, execution: &Execution) -> usize {
    let calls = execution.trace.calls().iter();
    calls
        .filter(|call| &*call.point.frame().destination == service)
        .count()
}

/// The faultload of one fault at the call to Bookings.
fn fail_bookings(simulator: &mut Simulator, mode: Mode) -> Faultload {
    let reference = simulator.run(&Faultload::none());
    let mut calls = reference.trace.calls().iter();
    let call = calls.find(|call| &*call.point.frame().destination == "bookings");
    let point = call.expect("Users asks Bookings").point.clone();
    Faultload::new([Fault::at(point, mode)]).expect("one fault goes with itself")
}

/// Whether Bookings is still asked after this many failures in a row.
fn still_asks(name: &str, failures: usize, mode: Mode) -> bool {
    let mut simulator = simulator(name);
    let failing = fail_bookings(&mut simulator, mode);
    for _ in 0..failures {
        assert_eq!(simulator.run(&failing).verdict, Verdict::Passed, "{name}");
    }
    let execution = simulator.run(&Faultload::none());
    assert_eq!(execution.verdict, Verdict::Passed, "{name}");
    calls_to("bookings", &execution) == 1
}

#[test]
fn a_history_of_more_than_ten_failures_keeps_users_from_asking() {
    assert!(still_asks("cinema-9", 10, Mode::status(500)));
    assert!(!still_asks("cinema-9", 11, Mode::status(500)));
    assert!(!still_asks("cinema-9", 11, Mode::RESET));
}

#[test]
fn five_lost_calls_open_the_librarys_breaker_and_statuses_never_do() {
    assert!(still_asks("cinema-11", 4, Mode::RESET));
    assert!(!still_asks("cinema-11", 5, Mode::RESET));
    assert!(still_asks("cinema-11", 20, Mode::status(500)));
}

/// The statuses of this many requests sent at once, in ascending order.
fn crowd(name: &str, requests: usize) -> Vec<u16> {
    let services = simulator(name).system().services.clone();
    let statuses = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = statuses.clone();
    let system = System::new(services, move |ctx| {
        let seen = seen.clone();
        async move {
            let calls = (0..requests).map(|_| entry(&ctx, "users").send()).collect();
            for answer in join_all(calls).await {
                let response = answer.map_err(|error| error.to_string())?;
                seen.lock()
                    .expect("no panic while noting")
                    .push(response.status);
            }
            Ok(())
        }
    });
    Simulator::of(system).run(&Faultload::none());
    let mut statuses = statuses.lock().expect("the run is over").clone();
    statuses.sort_unstable();
    statuses
}

#[test]
fn the_sixth_request_in_flight_is_turned_away() {
    assert_eq!(crowd("cinema-10", 5), [200; 5]);
    assert_eq!(crowd("cinema-10", 6), [200, 200, 200, 200, 200, 429]);
    assert_eq!(crowd("cinema-14", 6), [200, 200, 200, 200, 200, 503]);
}
