//! `[harden]`: which scenarios must not fail.

use murphy_system::spec::ScenarioSpec;

use super::checker::Checker;
use crate::raw::{At, Harden, Text};
use crate::{HardenRules, TYPED};

/// The rules, all about scenarios of the file or the one that is typed.
pub(super) fn rules(
    checker: &mut Checker<'_>,
    raw: Harden,
    scenarios: &[ScenarioSpec],
) -> HardenRules {
    let names = scenarios.iter().map(|scenario| scenario.name.as_str());
    let known: Vec<&str> = names.chain([TYPED]).collect();
    let mut name = |text: Text| match known.contains(&text.value.as_str()) {
        true => Some(text.value),
        false => {
            checker.refuse_unknown(&text.span, "scenario", &text.value, known.iter().copied());
            None
        }
    };
    let high = raw.high.map(At::items).unwrap_or_default();
    let high = high.into_iter().filter_map(&mut name).collect();
    let counts = raw.frequency.0.into_iter();
    let frequency = counts.filter_map(|(text, count)| Some((name(text)?, count.0)));
    HardenRules {
        high,
        frequency: frequency.collect(),
    }
}
