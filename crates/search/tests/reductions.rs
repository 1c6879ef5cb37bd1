//! The opt-in reductions: they find what the exhaustive search finds, with a
//! fraction of the executions, and what they skip goes as predicted.

use std::collections::BTreeSet;

use murphy_corpus::{FaultSet, Simulator, find};
use murphy_model::{Audit, Certificate, Target};
use murphy_search::{Modes, Options, Reduction, Sample, Tree, explore};

struct Searched {
    tree: Tree,
    certificate: Certificate,
    simulator: Simulator,
    /// Failing executions by what was injected and what the scenario said; the
    /// modes are left out, because alike ones stand for each other.
    failures: BTreeSet<(Vec<Target>, String)>,
}

fn search(app: &str, settings: &str, reduce: &[Reduction]) -> Searched {
    let app = find(app).unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    let mut simulator = Simulator::new(app, settings);
    let modes = FaultSet::http_errors().by_service(simulator.system());
    let mut options = Options::new(Modes::ByService(modes));
    options.reduce.extend(reduce);
    let mut tree = Tree::new(options);
    let mut failures = BTreeSet::new();
    let certificate = explore(&mut tree, 1, |faultload| {
        let execution = simulator.run(faultload);
        if let murphy_model::Verdict::Failed { why } = &execution.verdict {
            let injected = execution.trace.injected();
            let targets = injected.iter().map(|(target, _)| target.clone());
            failures.insert((targets.collect(), why.clone()));
        }
        execution
    });
    Searched {
        tree,
        certificate,
        simulator,
        failures,
    }
}

/// Re-runs a sample of skipped faultloads and compares.
fn audit(tree: &Tree, most: usize, simulator: &mut Simulator) -> Audit {
    let mut sample = Sample::draw(tree, most, 7);
    while let Some(faultload) = sample.next() {
        let execution = simulator.run(faultload);
        sample.compare(&execution);
    }
    sample.result()
}

#[test]
fn alike_modes_stand_for_each_other_in_combinations() {
    let bounds = [
        ("netflix", 60),
        ("mailchimp", 40),
        ("micro", 45),
        ("recommendations", 50),
    ];
    for (app, most) in bounds {
        let exhaustive = search(app, "", &[]);
        let mut reduced = search(app, "", &[Reduction::Modes]);
        let (all, few) = (
            exhaustive.certificate.explored,
            reduced.certificate.explored,
        );
        println!("{app}: {few} executions instead of {all}");
        assert!(few <= most, "{app}: {few}");
        assert_eq!(reduced.failures, exhaustive.failures, "{app}");
        let audit = audit(&reduced.tree, 200, &mut reduced.simulator);
        assert_eq!(audit.sampled, 200, "{app}");
        assert_eq!(audit.disagreed, [] as [&str; 0], "{app}");
    }
}

#[test]
fn the_audit_of_an_exhaustive_search_agrees() {
    for (app, settings) in [("netflix", "bugs=on"), ("audible", ""), ("checkout", "")] {
        let mut found = search(app, settings, &[]);
        let audit = audit(&found.tree, 200, &mut found.simulator);
        assert!(audit.sampled > 100, "{app}: {}", audit.sampled);
        assert_eq!(audit.disagreed, [] as [&str; 0], "{app}");
    }
}

/// An audit that could not disagree would prove nothing: a system that has
/// changed since the search is found out.
#[test]
fn the_audit_finds_out_a_changed_system() {
    let found = search("netflix", "", &[]);
    let app = find("netflix").unwrap();
    let settings = app.settings_from_text("bugs=on").unwrap();
    let mut changed = Simulator::new(app, settings);
    let audit = audit(&found.tree, 50, &mut changed);
    assert!(audit.agreed < audit.sampled);
}

/// The hand-made retry loop of ten attempts: 6,990,505 faultloads can happen;
/// one transient and one persistent failure of each mode cover them.
#[test]
fn retry_reduction_tames_a_loop_of_ten_attempts() {
    let found = search("cinema-13", "", &[Reduction::Retry]);
    assert_eq!(found.certificate.explored, 45);
    assert!(found.certificate.is_complete());
}
