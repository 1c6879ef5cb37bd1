//! What the apps declare to be found in them is what brute force finds: the
//! same minimal faultloads, no more and no fewer. Checked up to [`MOST`] faults
//! at once, which is more than any declared faultload has.

use murphy_corpus::brute::every_case;
use murphy_corpus::{App, Expected, FaultSet, Outcome, Simulator, all, find, stands_for};
use murphy_model::{Faultload, Point};

const MOST: usize = 3;

#[test]
fn brute_force_finds_what_is_declared() {
    for app in all() {
        for expected in (app.expected)() {
            let Outcome::Fails(texts) = expected.outcome else {
                continue;
            };
            let found = minimal(failing(&app, &expected));
            let declared: Vec<Faultload> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let about = format!("{} {} {}", app.name, expected.settings, expected.modes);
            for faultload in &found {
                let meant = declared
                    .iter()
                    .filter(|declared| stands_for(declared, faultload));
                assert_eq!(meant.count(), 1, "{about}: found {faultload}");
            }
            for text in &declared {
                let meant = found.iter().filter(|faultload| stands_for(text, faultload));
                assert_eq!(meant.count(), 1, "{about}: declared {text}");
            }
        }
    }
}

/// The faultloads that are injected in full and make the scenario fail.
fn failing(app: &App, expected: &Expected) -> Vec<Faultload> {
    let app = find(app.name).unwrap();
    let settings = app.settings_from_text(expected.settings).unwrap();
    let faults: FaultSet = expected.modes.parse().unwrap();
    let mut simulator = Simulator::new(app, settings).timeouts(faults.timeouts());
    let by_service = faults.by_service(simulator.system());
    let modes = |point: &Point| by_service[&*point.frame().destination].clone();
    let mut failing = Vec::new();
    every_case(&mut simulator, &modes, MOST, &mut |execution| {
        if execution.verdict.is_failure() {
            failing.push(execution.faultload);
        }
        true
    });
    failing
}

fn minimal(failing: Vec<Faultload>) -> Vec<Faultload> {
    let has_less = |faultload: &Faultload| {
        failing
            .iter()
            .any(|other| other != faultload && other.is_subset(faultload))
    };
    let minimal = failing.iter().filter(|faultload| !has_less(faultload));
    minimal.cloned().collect()
}
