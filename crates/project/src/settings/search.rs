//! What a search does: from what was typed, what murphy.toml says and the
//! defaults.
//!
//! Owns the order of precedence and is the only way from arguments to a search,
//! on a user's own system or on an example. What excludes each other is checked
//! first ([`contradictions`]).

use std::time::Duration;

use murphy_campaign::StrategyKind;
use murphy_config::{SearchRules, Usage};
use murphy_model::{Mode, Pattern};
use murphy_search::{Filter, Modes, Options, Reduction};

use super::{contradictions, reductions, time};
use crate::typed::{Typed, TypedSearch};

/// How many skipped cases are run after all where modes stand for each other.
const AUDIT: usize = 10;

/// What a search does.
pub(crate) struct Search {
    pub(crate) strategy: StrategyKind,
    pub(crate) options: Options,
    pub(crate) seed: u64,
    pub(crate) max_time: Option<Duration>,
    pub(crate) audit: Option<usize>,
}

impl TypedSearch {
    /// The modes that were typed; `None`: nothing was.
    pub(crate) fn modes(&self) -> Result<Option<Vec<Mode>>, Usage> {
        let modes = self.modes.as_deref().map(Mode::parse_list);
        let modes = modes.transpose();
        modes.map_err(|error| Usage::syntax("--modes", &error))
    }
}

impl Typed {
    /// What the search does, where calls fail in these modes.
    pub(crate) fn resolve(&self, rules: &SearchRules, modes: Modes) -> Result<Search, Usage> {
        contradictions::check(self, rules.strategy)?;
        let typed = &self.search;
        let strategy = self.strategy.or(rules.strategy).unwrap_or_default();
        let max_time = typed.max_time.as_deref().map(time).transpose()?;
        let options = self.options(rules, strategy, modes)?;
        Ok(Search {
            strategy,
            seed: typed.seed.or(rules.seed).unwrap_or(0),
            max_time: max_time.or(rules.max_time),
            audit: self.audit.or_else(|| usual_audit(strategy, &options)),
            options,
        })
    }

    fn options(
        &self,
        rules: &SearchRules,
        strategy: StrategyKind,
        modes: Modes,
    ) -> Result<Options, Usage> {
        let typed = &self.search;
        let (reduce, no_reduce) = reductions::named_all(&typed.reduce, &typed.no_reduce)?;
        // What was typed to be reduced is reduced, whatever the file says.
        let exhaustive = typed.exhaustive || (rules.exhaustive && reduce.is_empty());
        let mut options = match (strategy, exhaustive) {
            (StrategyKind::Tree, false) => Options::usual(modes),
            (StrategyKind::Tree, true) => Options::exhaustive(modes),
            // Only the tree strategy skips anything that was not asked for.
            _ => Options::new(modes),
        };
        options.replies = typed.replies.or(rules.replies).unwrap_or(options.replies);
        for (on, off) in [(&rules.reduce, &rules.no_reduce), (&reduce, &no_reduce)] {
            options.reduce.extend(on);
            options.reduce.retain(|reduction| !off.contains(reduction));
        }
        options.order = typed.order.or(rules.order).unwrap_or_default();
        options.max_faults = typed.max_faults.or(rules.max_faults);
        options.max_cases = typed.max_cases.or(rules.max_cases);
        let filter = Filter {
            only: patterns("--only", &typed.only)?,
            except: patterns("--except", &typed.except)?,
        };
        options.filter = match filter == Filter::default() {
            true => rules.filter.clone(),
            false => filter,
        };
        Ok(options)
    }
}

/// A few skipped cases are run after all where the search relies on more than
/// what it has seen.
fn usual_audit(strategy: StrategyKind, options: &Options) -> Option<usize> {
    let relies = strategy == StrategyKind::Tree && options.reduces(Reduction::Modes);
    relies.then_some(AUDIT)
}

fn patterns(argument: &str, texts: &[String]) -> Result<Vec<Pattern>, Usage> {
    let pattern = |text: &String| {
        text.parse()
            .map_err(|error| Usage::syntax(argument, &error))
    };
    texts.iter().map(pattern).collect()
}
