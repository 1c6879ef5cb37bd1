//! From what a program wrote to what a campaign is asked to do, checked.

use std::collections::BTreeSet;

use murphy_campaign::{Droppable, Heading, IdentityChoice, Settings, StrategyKind as Strategy};
use murphy_model::{Identity, Mode, Pattern};
use murphy_search::{Filter, Modes, Options, Reduction};

use super::{Campaign, Error};

/// How many skipped cases are run after all where modes stand for each other.
const AUDIT: usize = 10;

impl Campaign {
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        if self.jobs == 0 {
            return Err(nonsense("`jobs` is 0, so nothing can run"));
        }
        self.check_strategy()?;
        let modes = match &self.modes {
            Some(text) => Some(Mode::parse_list(text)?),
            None => None,
        };
        let rules = murphy_search::mode_rules(modes);
        let by_rule = Modes::ByRule(rules.clone());
        let mut options = match (self.strategy, self.exhaustive) {
            (Strategy::Tree, false) => Options::usual(by_rule),
            (Strategy::Tree, true) => Options::exhaustive(by_rule),
            _ => Options::new(by_rule),
        };
        options.reduce.extend(&self.reduce);
        options.max_faults = self.max_faults;
        options.max_cases = self.max_cases;
        options.filter = Filter {
            only: patterns(&self.only)?,
            except: patterns(&self.except)?,
        };
        Ok(Settings {
            scenario: self.name.clone(),
            strategy: self.strategy,
            modes: murphy_search::mode_names(&rules),
            options,
            seed: self.seed,
            jobs: self.jobs_at_once(),
            max_time: self.max_time,
            audit: (self.strategy == Strategy::Tree && !self.exhaustive).then_some(AUDIT),
            references: self.references,
            identity: IdentityChoice::Auto(Identity::default(), Droppable::ANYTHING),
            oracles: self.oracle_settings()?,
            // There is no command that explains or replays a function.
            heading: Heading {
                about: "a function".to_owned(),
                ..Heading::default()
            },
        })
    }

    /// State that is reset for one execution must not be reset under another.
    pub(super) fn jobs_at_once(&self) -> u32 {
        match self.reset.is_empty() {
            true => self.jobs,
            false => self.jobs.min(1),
        }
    }

    /// What a strategy cannot do is refused, not left undone.
    fn check_strategy(&self) -> Result<(), Error> {
        let only_modes = BTreeSet::from([Reduction::Modes]);
        if self.exhaustive && (self.strategy != Strategy::Tree || !self.reduce.is_empty()) {
            return Err(nonsense(
                "`exhaustive` is for `Strategy::Tree` without anything to `reduce`",
            ));
        }
        match self.strategy {
            Strategy::Lineage if !self.reduce.is_subset(&only_modes) => Err(nonsense(
                "`Strategy::Lineage` knows no reduction but `Reduction::Modes`",
            )),
            Strategy::Random if !self.reduce.is_empty() => Err(nonsense(
                "`Strategy::Random` skips nothing, so there is nothing to `reduce`",
            )),
            _ => Ok(()),
        }
    }

    fn oracle_settings(&self) -> Result<murphy_oracle::Settings, Error> {
        let mut oracles = murphy_oracle::Settings::default();
        for (name, level) in &self.oracles {
            let set = oracles.set(name, level);
            set.map_err(|error| nonsense(error.to_string()))?;
        }
        Ok(oracles)
    }
}

fn nonsense(text: impl Into<String>) -> Error {
    Error::Nonsense(text.into())
}

fn patterns(texts: &[String]) -> Result<Vec<Pattern>, Error> {
    let patterns = texts.iter().map(|text| Ok(text.parse()?));
    patterns.collect()
}
