//! The commands that ask about the same search of an example system, and those
//! that run it again in other modes, there and on a user's own system.
//!
//! Owns which arguments change what a search does; the others (jobs, format)
//! are left out.

use std::path::Path;

use murphy_report::shell::quoted;

use murphy_campaign::StrategyKind;
use murphy_search::{Order, Replies};
use murphy_system::spec::ScenarioSpec;

use crate::project::Project;
use crate::typed::{TypedExample, TypedSearch};

/// `murphy explain` for this app and these arguments, without the faultload.
pub(crate) fn explain_command(app: &str, system: &TypedExample, args: &TypedSearch) -> String {
    command("murphy explain --app", app, system, args)
}

/// `murphy demo` for this app and these arguments, without the modes.
pub(crate) fn demo_command(app: &str, system: &TypedExample, args: &TypedSearch) -> String {
    let args = TypedSearch {
        modes: None,
        ..args.clone()
    };
    let command = command("murphy demo", app, system, &args);
    match system.simulate {
        true => command + " --simulate",
        false => command,
    }
}

/// `murphy run` for this scenario as far as these arguments bound it, without the
/// modes and a typed test.
pub fn run_command(
    config: Option<&Path>,
    project: &Project,
    scenario: &ScenarioSpec,
    args: &TypedSearch,
) -> String {
    let mut words = vec!["murphy run".to_owned()];
    let is_test = project.suite_of(scenario).is_some();
    let is_typed = !project.command.is_empty();
    match is_test {
        true if is_typed => words.push(format!("--each -k {}", quoted(&scenario.name))),
        // Its environment is that of a scenario of the file.
        false if is_typed && scenario.name != murphy_config::TYPED => {
            words.push(format!("--scenario {}", quoted(&scenario.name)));
        }
        false if is_typed || project.config.scenarios.len() == 1 => {}
        _ => words.push(quoted(&scenario.name)),
    }
    if let Some(most) = args.max_faults {
        words.push(format!("--max-faults {most}"));
    }
    if let Some(config) = config {
        words.push(format!(
            "--config {}",
            quoted(&config.display().to_string())
        ));
    }
    words.join(" ")
}

fn command(begin: &str, app: &str, system: &TypedExample, args: &TypedSearch) -> String {
    let mut words = vec![begin.to_owned(), app.to_owned()];
    for (name, list) in [("--set", &system.set), ("--identity", &system.identity)] {
        if !list.is_empty() {
            words.extend([name.to_owned(), quoted(&list.join(","))]);
        }
    }
    words.extend(search_arguments(args));
    if system.keep_state {
        words.push("--keep-state".to_owned());
    }
    words.join(" ")
}

/// The arguments that change what a search does, as words of a command.
fn search_arguments(args: &TypedSearch) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), quoted(&value)]);
    let replies = Replies::NAMES
        .iter()
        .find(|(_, it)| args.replies == Some(*it));
    if let Some((name, _)) = replies {
        add("--replies", (*name).to_owned());
    }
    for (name, list) in [("--reduce", &args.reduce), ("--no-reduce", &args.no_reduce)] {
        if !list.is_empty() {
            add(name, list.join(","));
        }
    }
    for (name, patterns) in [("--only", &args.only), ("--except", &args.except)] {
        for pattern in patterns {
            add(name, pattern.clone());
        }
    }
    if let Some(modes) = &args.modes {
        add("--modes", modes.clone());
    }
    for (name, limit) in [
        ("--max-faults", args.max_faults),
        ("--max-cases", args.max_cases),
    ] {
        if let Some(limit) = limit {
            add(name, limit.to_string());
        }
    }
    if let Some(seed) = args.seed.filter(|seed| *seed != 0) {
        add("--seed", seed.to_string());
    }
    if args.order == Some(Order::DepthFirst) {
        add("--order", "dfs".to_owned());
    }
    if args.exhaustive {
        words.push("--exhaustive".to_owned());
    }
    words
}

/// What says who decides, to be put behind the rest of a command.
pub(crate) fn strategy(asked: Option<StrategyKind>) -> String {
    asked.map_or_else(String::new, |it| format!(" --strategy {}", it.name()))
}
