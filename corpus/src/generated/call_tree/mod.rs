//! Generated call trees: alternatives inside alternatives, with their truth.
//!
//! A request needs some calls and has fallbacks for others, and so do the
//! services it calls: a tree of ANDs and ORs, with replicas and optional calls
//! here and there. Owns what such a tree is, how one is drawn ([`draw`]), what
//! it does as a [`System`](crate::System), and, without running anything, which
//! points must fail together for it to fail ([`Truth`]). That makes every
//! strategy for combinations of faults comparable with what there is to find.
//!
//! A call either answers well or fails, its caller does not tell how, and an
//! optional call changes nothing else. So failing more never helps, in any
//! tree: they are monotone by construction. The one exception is there to be
//! asked for: [`Step::Leads`].
//!
//! ```
//! use murphy_corpus::Simulator;
//! use murphy_corpus::generated::call_tree::{Shape, Truth, draw};
//! use murphy_model::{Fault, Faultload, Mode};
//!
//! let tree = draw(7, Shape::MONOTONE);
//! let mut simulator = Simulator::of(tree.system());
//! for points in Truth::of(&tree).minimal_failing() {
//!     let faults = points.into_iter().map(|point| Fault::at(point, Mode::status(503)));
//!     let faultload = Faultload::new(faults).expect("every point once");
//!     assert!(simulator.run(&faultload).verdict.is_failure());
//! }
//! ```

mod draw;
mod serve;
#[cfg(test)]
mod tests;
mod truth;

pub use draw::{Shape, draw};
pub use truth::Truth;

/// What a request sets in motion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    /// What the service does that the scenario calls.
    pub work: Work,
    /// Where random orders begin.
    pub seed: u64,
}

/// What a service does before it answers well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// It calls nobody.
    Nothing,
    /// It takes all of these steps in turn, and fails with the first that it
    /// cannot do without.
    All(Vec<Step>),
    /// It makes these calls one after the other until one answers well, and
    /// fails if none does.
    Any(Order, Vec<Site>),
}

/// One of several things a service does in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A call it cannot do without.
    Needed(Site),
    /// A call whose outcome does not matter.
    Optional(Site),
    /// An optional call that, only if it answers well, is followed by one the
    /// service then cannot do without. Failing the first as well helps: this
    /// is not monotone.
    Leads(Site, Site),
}

/// A place where a call is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its number in the tree.
    pub number: usize,
    /// How many replicas there are of the service called. The call is made to
    /// one after the other until one answers well.
    pub replicas: usize,
    /// In which order replicas are tried.
    pub order: Order,
    /// What each of them does.
    pub work: Work,
}

/// In which order alternatives are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Always the same.
    Fixed,
    /// Another one each time.
    Random,
}

impl Work {
    /// The places where it makes calls.
    fn sites(&self) -> Vec<&Site> {
        match self {
            Work::Nothing => Vec::new(),
            Work::All(steps) => steps.iter().flat_map(Step::sites).collect(),
            Work::Any(_, sites) => sites.iter().collect(),
        }
    }
}

impl Step {
    fn sites(&self) -> Vec<&Site> {
        match self {
            Step::Needed(site) | Step::Optional(site) => vec![site],
            Step::Leads(first, then) => vec![first, then],
        }
    }
}

impl Site {
    /// The path under which its replicas are called, and no others.
    fn path(&self) -> String {
        format!("/n{:02}", self.number)
    }

    /// The names of its replicas.
    fn names(&self) -> impl Iterator<Item = String> {
        let number = self.number;
        (1..=self.replicas).map(move |replica| format!("n{number:02}-{replica}"))
    }
}

/// The service that the scenario calls, and with what.
const ENTRY: (&str, &str) = ("frontend", "/");
