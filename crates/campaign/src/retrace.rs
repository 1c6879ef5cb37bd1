//! The search of a campaign gone through once more, from what was kept of it.
//!
//! Owns nothing that is run: a strategy is shown the executions that were
//! made, in the order it asks for them, until it has no more questions or one
//! to which no answer was kept. It then knows what it knew in the end, and can
//! be asked about it.

use std::collections::HashMap;

use murphy_model::{Faultload, Observed, Verdict};
use murphy_search::Step;

use crate::equal_calls::learnable;
use crate::searcher::Searcher;
use crate::settings::Settings;

/// A search that was gone through once more.
pub struct Retraced {
    /// The strategy, to be asked about what it did.
    pub searcher: Searcher,
    /// What became of each execution that it took in, by number.
    pub verdicts: HashMap<usize, Verdict>,
    /// What was to fail in each of them, by number.
    pub faultloads: HashMap<usize, Faultload>,
    /// Whether it asked for an execution that was not kept: the campaign was
    /// stopped there, or was another search.
    pub is_cut_off: bool,
}

/// Goes through a search with the executions that were kept, by what was to
/// fail.
pub fn retrace(settings: &Settings, mut kept: HashMap<Faultload, Observed>) -> Retraced {
    let Settings {
        strategy,
        options,
        seed,
        ..
    } = settings;
    let mut retraced = Retraced {
        searcher: Searcher::new(*strategy, options.clone(), *seed),
        verdicts: HashMap::new(),
        faultloads: HashMap::new(),
        is_cut_off: false,
    };
    while let Step::Try(ticket, faultload) = retraced.searcher.strategy().next() {
        let Some(observed) = kept.remove(&faultload) else {
            retraced.is_cut_off = true;
            break;
        };
        let execution = learnable(observed.execution, settings);
        let verdict = execution.verdict.clone();
        retraced.searcher.strategy().learn(ticket, execution);
        let number = retraced.searcher.number(ticket, &faultload);
        if let Some(number) = number {
            retraced.verdicts.insert(number, verdict);
            retraced.faultloads.insert(number, faultload);
        }
    }
    retraced
}
