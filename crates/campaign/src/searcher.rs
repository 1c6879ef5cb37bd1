//! The strategy of a campaign, whichever it is.
//!
//! Owns the choice among strategies and what only some of them can tell.

use murphy_model::{Faultload, Point, Standing};
use murphy_search::{Explanation, Lineage, NeverSeen, Options, Random, Strategy, Ticket, Tree};

use crate::settings::StrategyKind;

/// The strategy of a campaign.
pub enum Searcher {
    /// Every distinct behaviour.
    Tree(Box<Tree>),
    /// A seeded sample.
    Random(Box<Random>),
    /// Every minimal failing combination.
    Lineage(Box<Lineage>),
}

impl Searcher {
    /// One that knows nothing yet.
    pub fn new(kind: StrategyKind, options: Options, seed: u64) -> Self {
        match kind {
            StrategyKind::Tree => Searcher::Tree(Box::new(Tree::new(options))),
            StrategyKind::Random => Searcher::Random(Box::new(Random::new(options, seed))),
            StrategyKind::Lineage => Searcher::Lineage(Box::new(Lineage::new(options))),
        }
    }

    pub(crate) fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Searcher::Tree(tree) => tree.as_mut(),
            Searcher::Random(random) => random.as_mut(),
            Searcher::Lineage(lineage) => lineage.as_mut(),
        }
    }

    /// Every point seen that can be injected, in the order first seen.
    pub fn points(&self) -> Vec<Point> {
        let points = match self {
            Searcher::Tree(tree) => tree.points(),
            Searcher::Random(random) => random.points(),
            Searcher::Lineage(lineage) => lineage.points(),
        };
        points.into_iter().cloned().collect()
    }

    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them.
    pub fn resolve(&self, faultload: &Faultload, most: usize) -> Result<Vec<Faultload>, NeverSeen> {
        match self {
            Searcher::Tree(tree) => tree.resolve(faultload, most),
            Searcher::Random(random) => random.resolve(faultload, most),
            Searcher::Lineage(lineage) => lineage.resolve(faultload, most),
        }
    }

    /// What became of a faultload over points that were seen, and why.
    pub fn explain(&self, faultload: &Faultload) -> Result<Explanation, NeverSeen> {
        match self {
            Searcher::Tree(tree) => tree.explain(faultload),
            Searcher::Random(random) => random.explain(faultload),
            Searcher::Lineage(lineage) => lineage.explain(faultload),
        }
    }

    /// The number under which an execution was taken in; `None` if it was
    /// discarded or it is not its turn yet. The random strategy takes in all, in the order proposed.
    pub(crate) fn number(&self, ticket: Ticket, faultload: &Faultload) -> Option<usize> {
        match self {
            Searcher::Tree(tree) => tree.number(faultload),
            Searcher::Random(_) => usize::try_from(ticket.0).ok(),
            Searcher::Lineage(lineage) => lineage.number(faultload),
        }
    }

    /// How far it is, after so many executions; what came of them is not the
    /// strategy's business.
    pub(crate) fn standing(&self, executed: usize) -> Standing {
        let nothing_else = |explored| Standing {
            explored,
            ..Standing::default()
        };
        match self {
            Searcher::Tree(tree) => Standing {
                skipped: Some(tree.skipped()),
                waiting: Some(tree.waiting()),
                singles_done: tree.are_singles_done(),
                ..nothing_else(tree.explored())
            },
            Searcher::Random(_) => nothing_else(executed),
            Searcher::Lineage(lineage) => nothing_else(lineage.explored()),
        }
    }
}
