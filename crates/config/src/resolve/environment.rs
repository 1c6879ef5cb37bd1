//! `[env]`: variables for everything that Murphy starts.
//!
//! Owns who gets them. What a program says in its own `env` wins, so that one
//! of many can differ.

use std::collections::BTreeMap;

use murphy_system::spec::{ScenarioSpec, Source, StepSpec, SystemSpec};

/// Adds variables to the environments of services, steps and scenarios.
pub(super) fn share(
    common: &BTreeMap<String, String>,
    system: &mut SystemSpec,
    scenarios: &mut [ScenarioSpec],
) {
    let SystemSpec {
        services,
        setup,
        reset,
        teardown,
        ..
    } = system;
    let services = services.iter_mut().filter_map(|it| match &mut it.source {
        Source::Managed(managed) => Some(&mut managed.environment),
        Source::Running { .. } | Source::Hosts | Source::Test => None,
    });
    let steps = setup.iter_mut().chain(reset).chain(teardown);
    let steps = steps.filter_map(|it| match it {
        StepSpec::Command(command) => Some(&mut command.environment),
        StepSpec::Request(_) | StepSpec::Function(_) => None,
    });
    let commands = scenarios.iter_mut().filter_map(|it| it.kind.command_mut());
    let scenarios = commands.map(|it| &mut it.environment);
    for environment in services.chain(steps).chain(scenarios) {
        for (name, value) in common {
            let own = environment.entry(name.clone());
            own.or_insert_with(|| value.clone());
        }
    }
}
