//! `[search]`, `[[modes]]` and the modes of services: what to try.

use murphy_campaign::{REFERENCES, StrategyKind};
use murphy_model::Mode;
use murphy_search::{Filter, Order, Reduction, Replies};

use super::checker::Checker;
use crate::raw::{At, Count, Modes, ModesAt, OneOrMany, Search, Words};
use crate::{ModeRules, SearchRules};

/// How calls fail.
pub(super) fn modes(
    checker: &mut Checker<'_>,
    usual: Option<Modes>,
    of_services: Vec<(String, Modes)>,
    of_calls: Vec<ModesAt>,
) -> ModeRules {
    ModeRules {
        usual: usual.and_then(|words| at_least_one(checker, words)),
        services: of_services
            .into_iter()
            .map(|(service, words)| (service, checker.modes(words)))
            .collect(),
        calls: of_calls
            .into_iter()
            .filter_map(|rule| {
                let modes = checker.modes(rule.modes);
                Some((checker.pattern(&rule.at)?, modes))
            })
            .collect(),
    }
}

/// A service that never fails is a choice; a system that never does is not.
fn at_least_one(checker: &mut Checker<'_>, words: Modes) -> Option<Vec<Mode>> {
    let span = words.span.clone();
    if matches!(&words.value, OneOrMany::Many(items) if items.is_empty()) {
        let hint = "leave it out for the default, 503, reset and after:reset over HTTP";
        checker.refuse(
            &span,
            "without modes nothing can fail",
            "an empty list",
            hint,
        );
    }
    let modes = checker.modes(words);
    (!modes.is_empty()).then_some(modes)
}

/// The rest of `[search]`.
pub(super) fn search(checker: &mut Checker<'_>, raw: Search) -> SearchRules {
    let count = |count: Option<Count>| count.map(|count| count.0 as usize);
    let reduce = reductions(checker, raw.reduce);
    let off = raw.no_reduce.clone();
    let no_reduce = reductions(checker, raw.no_reduce);
    if let (Some(words), true) = (off, reduce.iter().any(|on| no_reduce.contains(on))) {
        let message = "a reduction is both switched on and off";
        let label = "`reduce` names it too";
        checker.refuse(&words.span, message, label, "leave out one of them");
    }
    SearchRules {
        strategy: raw
            .strategy
            .and_then(|text| checker.named("strategy", &text, &StrategyKind::NAMES)),
        max_faults: count(raw.max_faults),
        max_cases: count(raw.max_cases),
        max_time: raw.max_time.and_then(|text| checker.duration(&text)),
        jobs: count(raw.jobs),
        order: raw
            .order
            .and_then(|text| checker.named("order", &text, &Order::NAMES)),
        exhaustive: raw.exhaustive.unwrap_or_default(),
        replies: raw
            .replies
            .and_then(|text| checker.named("kind of replies", &text, &Replies::NAMES)),
        reduce,
        no_reduce,
        seed: raw.seed.map(|seed| seed.0),
        filter: Filter {
            only: checker.patterns(raw.only),
            except: checker.patterns(raw.except),
        },
        references: count(raw.references).unwrap_or(REFERENCES),
    }
}

fn reductions(checker: &mut Checker<'_>, words: Option<Words>) -> Vec<Reduction> {
    let texts = words.map(At::items).unwrap_or_default();
    let named = |text| checker.named("reduction", text, &Reduction::NAMES);
    texts.iter().filter_map(named).collect()
}
