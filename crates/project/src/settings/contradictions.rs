//! Arguments that exclude each other, and limits that leave nothing to do.
//!
//! Owns the one check that every campaign passes, on an example system or on a
//! user's own: a flag that is accepted is obeyed.

use crate::typed::{Typed, TypedExample, TypedSearch};
use murphy_campaign::StrategyKind;
use murphy_config::Usage;

/// Checks all that was typed about a search; `in_file` is the strategy that
/// murphy.toml names, which counts where none was typed.
pub(crate) fn check(typed: &Typed, in_file: Option<StrategyKind>) -> Result<(), Usage> {
    let Typed {
        search,
        strategy,
        audit,
    } = typed;
    check_limits(search)?;
    if *audit == Some(0) {
        return Err(nothing(
            "--audit",
            "an audit of no cases says nothing",
            "leave it out",
        ));
    }
    let chosen = Chosen::of(*strategy, in_file);
    match chosen.strategy {
        StrategyKind::Random if audit.is_some() => {
            chosen.exclude("--audit", "skips nothing that could be audited")
        }
        StrategyKind::Lineage if audit.is_some() => {
            chosen.exclude("--audit", "predicts nothing that could be audited")
        }
        StrategyKind::Random => check_random(chosen, search),
        StrategyKind::Lineage => check_lineage(chosen, search),
        StrategyKind::Tree => Ok(()),
    }
}

fn check_random(chosen: Chosen, search: &TypedSearch) -> Result<(), Usage> {
    chosen.exclude_any([
        (search.order.is_some(), "--order", "has no order but chance"),
        (
            !search.reduce.is_empty(),
            "--reduce",
            "skips nothing, so there is nothing to reduce",
        ),
        (
            !search.no_reduce.is_empty(),
            "--no-reduce",
            "skips nothing already",
        ),
        (search.exhaustive, "--exhaustive", "draws a sample"),
        (
            search.replies.is_some(),
            "--replies",
            "learns nothing from replies",
        ),
    ])
}

fn check_lineage(chosen: Chosen, search: &TypedSearch) -> Result<(), Usage> {
    let other = |name: &String| name != "modes";
    chosen.exclude_any([
        (search.order.is_some(), "--order", "chooses its own order"),
        (
            search.reduce.iter().any(other),
            "--reduce",
            "knows the reduction `modes` only",
        ),
        (
            !search.no_reduce.is_empty(),
            "--no-reduce",
            "reduces nothing unless it is asked to",
        ),
        (
            search.exhaustive,
            "--exhaustive",
            "leaves nothing out unless it is asked to",
        ),
        (
            search.replies.is_some(),
            "--replies",
            "goes by what fails, not by replies",
        ),
    ])
}

/// The strategy that counts, and where it was chosen.
#[derive(Clone, Copy)]
struct Chosen {
    strategy: StrategyKind,
    is_typed: bool,
}

impl Chosen {
    fn of(typed: Option<StrategyKind>, in_file: Option<StrategyKind>) -> Self {
        Chosen {
            strategy: typed.or(in_file).unwrap_or(StrategyKind::Tree),
            is_typed: typed.is_some() || in_file.is_none(),
        }
    }

    fn name(self) -> &'static str {
        self.strategy.name()
    }

    /// Refuses the first of these arguments that was given.
    fn exclude_any<const N: usize>(
        self,
        unfit: [(bool, &'static str, &'static str); N],
    ) -> Result<(), Usage> {
        match unfit.into_iter().find(|(given, ..)| *given) {
            Some((_, argument, why)) => self.exclude(argument, why),
            None => Ok(()),
        }
    }

    fn exclude(self, argument: &str, why: &str) -> Result<(), Usage> {
        let name = self.name();
        let written = match self.is_typed {
            true => format!("`--strategy {name}`"),
            false => format!("`strategy = \"{name}\"` in murphy.toml"),
        };
        let refused = Usage::new(format!(
            "`{argument}` and {written} exclude each other: {name} {why}"
        ));
        let label = format!("does not go with `{argument}`");
        Err(match self.is_typed {
            true => refused.at("--strategy", name, name, label),
            false => refused,
        }
        .hint(format!("leave out `{argument}`, or use `--strategy tree`")))
    }
}

/// Checks what every search takes.
fn check_limits(args: &TypedSearch) -> Result<(), Usage> {
    if args.max_faults == Some(0) {
        let why = "without faults there is only the reference execution";
        return Err(nothing(
            "--max-faults",
            why,
            "leave it out for no bound, or allow 1",
        ));
    }
    if args.max_cases == Some(0) {
        let why = "not even the reference execution could be made";
        return Err(nothing("--max-cases", why, "leave it out for no bound"));
    }
    if args.exhaustive && !args.reduce.is_empty() {
        let reduce = args.reduce.join(",");
        return Err(Usage::new(
            "`--exhaustive` and `--reduce` exclude each other: one switches off what the other switches on",
        )
        .at("--reduce", &reduce, &reduce, "does not go with `--exhaustive`")
        .hint("leave out one of them"));
    }
    if args.jobs == Some(0) {
        return Err(nothing(
            "--jobs",
            "nothing would ever be under way",
            "allow at least 1",
        ));
    }
    Ok(())
}

/// Checks what example systems take beside.
pub(crate) fn check_system(system: &TypedExample, search: &TypedSearch) -> Result<(), Usage> {
    let jobs = search.jobs.unwrap_or(1);
    if system.keep_state && jobs > 1 {
        let jobs = jobs.to_string();
        return Err(Usage::new(
            "`--keep-state` and more than one job exclude each other: each execution must find what the one before it left",
        )
        .at("--jobs", &jobs, &jobs, "does not go with `--keep-state`")
        .hint("leave out one of them"));
    }
    Ok(())
}

fn nothing(argument: &str, why: &str, hint: &str) -> Usage {
    Usage::new(format!("`{argument} 0` leaves nothing to do: {why}"))
        .at(argument, "0", "0", "must be at least 1")
        .hint(hint)
}
