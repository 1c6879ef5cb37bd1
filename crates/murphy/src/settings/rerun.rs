//! The command that asks about the same search of an example system.
//!
//! Owns which arguments change what a search does; the others (jobs, format)
//! are left out.

use murphy_report::shell::quoted;

use clap::ValueEnum;

use crate::args::{DEFAULT_MODES, OrderArg, SearchArgs, StrategyArg, SystemArgs};

/// `murphy explain` for this app and these arguments, without the faultload.
pub(super) fn explain_command(app: &str, system: &SystemArgs, args: &SearchArgs) -> String {
    let mut words = vec!["murphy explain --app".to_owned(), app.to_owned()];
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
fn search_arguments(args: &SearchArgs) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), quoted(&value)]);
    if let Some(replies) = args.replies.and_then(|it| it.to_possible_value()) {
        add("--replies", replies.get_name().to_owned());
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
    let modes = args.modes.as_ref();
    if let Some(modes) = modes.filter(|modes| *modes != DEFAULT_MODES) {
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
    if args.order == Some(OrderArg::Dfs) {
        add("--order", "dfs".to_owned());
    }
    if args.exhaustive {
        words.push("--exhaustive".to_owned());
    }
    words
}

/// What says who decides, to be put behind the rest of a command.
pub(super) fn strategy(asked: Option<StrategyArg>) -> String {
    let value = asked.and_then(|it| it.to_possible_value());
    value.map_or_else(String::new, |it| format!(" --strategy {}", it.get_name()))
}
