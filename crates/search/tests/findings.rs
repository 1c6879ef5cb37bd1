//! Every seeded bug of every app is found with its minimal faultload, and
//! nothing is reported beyond what the app declares.

use std::collections::BTreeSet;

use murphy_corpus::{App, Expected, FaultSet, Outcome, Simulator, all, find, stands_for};
use murphy_model::Faultload;
use murphy_search::{Modes, Options, Reduction, Step, Strategy, Tree, explore};

/// The faultloads that make the scenario fail and hold no smaller one that
/// does, by the tree search with its default policies.
fn minimal_failures(app: &App, expected: &Expected) -> Vec<Faultload> {
    let name = app.name;
    let app = find(name).unwrap();
    let settings = app.settings_from_text(expected.settings).unwrap();
    let faults: FaultSet = expected.modes.parse().unwrap();
    let mut simulator = Simulator::new(app, settings).timeouts(faults.timeouts());
    let mut options = Options::new(Modes::ByService(faults.by_service(simulator.system())));
    // A loop of ten attempts has millions of cases; its declared findings hold
    // with the reduction made for it.
    if name == "cinema-13" {
        options.reduce.insert(Reduction::Retry);
    }
    let mut failing = BTreeSet::new();
    explore(&mut Tree::new(options), 1, |faultload| {
        let execution = simulator.run(faultload);
        if execution.verdict.is_failure() {
            failing.insert(execution.trace.injected());
        }
        execution
    });
    let smaller = |faultload: &Faultload| {
        let below = |other: &Faultload| other != faultload && other.is_subset(faultload);
        failing.iter().any(below)
    };
    failing.iter().filter(|f| !smaller(f)).cloned().collect()
}

#[test]
fn what_must_be_found_is_found_and_nothing_else() {
    let (mut variants, mut bugs) = (0, 0);
    for app in all() {
        for expected in (app.expected)() {
            let Outcome::Fails(texts) = &expected.outcome else {
                continue;
            };
            let about = format!("{} {} {}", app.name, expected.settings, expected.modes);
            let declared: Vec<Faultload> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let found = minimal_failures(&app, &expected);
            for faultload in &found {
                let known = declared.iter().any(|d| stands_for(d, faultload));
                assert!(known, "{about}: found {faultload}, which is not declared");
            }
            for text in &declared {
                let seen = found.iter().any(|f| stands_for(text, f));
                assert!(seen, "{about}: {text} is declared and was not found");
            }
            variants += 1;
            bugs += declared.len();
        }
    }
    println!(
        "{bugs} minimal failing faultloads found in {variants} variants, none missed, none extra"
    );
}

#[test]
fn an_app_that_fails_without_faults_is_declared_to() {
    for app in all() {
        for expected in (app.expected)() {
            let settings = app.settings_from_text(expected.settings).unwrap();
            let mut simulator = Simulator::new(find(app.name).unwrap(), settings);
            let fails = simulator.run(&Faultload::none()).verdict.is_failure();
            let declared = matches!(expected.outcome, Outcome::ReferenceFails);
            assert_eq!(fails, declared, "{} {}", app.name, expected.settings);
        }
    }
}

#[test]
fn single_faults_are_done_once_every_fault_was_tried_alone() {
    let app = find("mailchimp").unwrap();
    let settings = app.settings_from_text("").unwrap();
    let mut simulator = Simulator::new(app, settings);
    let modes = Modes::Same(vec!["503".parse().unwrap()]);
    let mut tree = Tree::new(Options::new(modes));
    let mut sizes = Vec::new();
    while let Step::Try(ticket, faultload) = tree.next() {
        sizes.push((tree.are_singles_done(), faultload.len()));
        tree.learn(ticket, simulator.run(&faultload));
    }
    assert!(sizes.iter().any(|(_, faults)| *faults > 1), "{sizes:?}");
    for (are_done, faults) in sizes {
        assert_eq!(are_done, faults > 1);
    }
}
