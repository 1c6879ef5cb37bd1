//! What a search is allowed and asked to do.
//!
//! Owns the settings and their defaults; what each reduction means is said in
//! [`crate::policy`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use murphy_model::{Mode, Pattern, Point, Protocol};
use serde::{Deserialize, Serialize};

/// How points may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modes {
    /// All points alike.
    Same(Vec<Mode>),
    /// By the service that is called; services not named cannot fail.
    ByService(BTreeMap<String, Vec<Mode>>),
    /// By the call.
    ByRule(ModeRules),
}

/// How calls may fail, the most particular word first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeRules {
    /// By the call; the first that matches counts.
    pub calls: Vec<(Pattern, Vec<Mode>)>,
    /// By the service that is called.
    pub services: BTreeMap<String, Vec<Mode>>,
    /// Of the others, those that speak HTTP.
    pub http: Vec<Mode>,
    /// Of the others, those that speak gRPC.
    pub grpc: Vec<Mode>,
    /// The services whose callers speak TLS with their proxy. Calls to others
    /// have no handshake that could fail.
    pub over_tls: BTreeSet<String>,
}

impl ModeRules {
    fn of(&self, point: &Point) -> Cow<'_, [Mode]> {
        let frame = point.frame();
        let usual = match frame.interface.protocol() {
            Protocol::Http => &self.http,
            Protocol::Grpc => &self.grpc,
        };
        let modes = self.particular(point).unwrap_or(usual);
        let is_over_tls = || self.over_tls.contains(&*frame.destination);
        let can = |mode: &&Mode| mode.tls().is_none() || is_over_tls();
        match modes.iter().all(|mode| can(&mode)) {
            true => Cow::Borrowed(modes),
            false => modes.iter().filter(can).copied().collect(),
        }
    }

    /// What is said of this call, or of the service that it calls.
    fn particular(&self, point: &Point) -> Option<&Vec<Mode>> {
        let of_call = self.calls.iter().find(|(at, _)| at.matches(point));
        let of_service = || self.services.get(&*point.frame().destination);
        of_call.map(|(_, modes)| modes).or_else(of_service)
    }

    /// Whether the call at a point fails as calls over its protocol usually do.
    pub(crate) fn is_usual(&self, point: &Point) -> bool {
        self.particular(point).is_none()
    }

    /// All modes that any call may fail in, as far as it can.
    pub fn all(&self) -> impl Iterator<Item = &Mode> {
        let of_calls = self.calls.iter().map(|(_, modes)| modes);
        let lists = of_calls.chain(self.services.values());
        lists.chain([&self.http, &self.grpc]).flatten()
    }
}

impl Modes {
    /// How the call at `point` may fail.
    pub fn of(&self, point: &Point) -> Cow<'_, [Mode]> {
        match self {
            Modes::Same(modes) => Cow::Borrowed(modes),
            Modes::ByService(by_service) => by_service
                .get(&*point.frame().destination)
                .map_or(Cow::Borrowed(&[]), |modes| Cow::Borrowed(modes)),
            Modes::ByRule(rules) => rules.of(point),
        }
    }
}

/// In which order faultloads are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Fewest faults first.
    #[default]
    BreadthFirst,
    /// What follows from the last execution first.
    DepthFirst,
}

impl Order {
    /// Both, with the names used on the command line.
    pub const NAMES: [(&'static str, Order); 2] =
        [("bfs", Order::BreadthFirst), ("dfs", Order::DepthFirst)];
}

/// The reductions that can be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// Service encapsulation, with the upstream propagation that follows from it.
    Encapsulation,
    /// One transient and one persistent failure stand for all of a retry loop.
    Retry,
    /// Modes that act alike at a point count as one in combinations.
    Modes,
}

impl Reduction {
    /// All of them, with the names used on the command line.
    pub const NAMES: [(&'static str, Reduction); 3] = [
        ("ser", Reduction::Encapsulation),
        ("retry", Reduction::Retry),
        ("modes", Reduction::Modes),
    ];
}

/// What of a reply its caller may act on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replies {
    /// Its status alone, as in the published experiments.
    #[default]
    Status,
    /// Its status, and whether a successful answer has the body it had first
    /// or a degraded one.
    Classes,
    /// Its status and which body a successful answer has.
    Bodies,
}

impl Replies {
    /// All of them, with the names used on the command line.
    pub const NAMES: [(&'static str, Replies); 3] = [
        ("status", Replies::Status),
        ("classes", Replies::Classes),
        ("bodies", Replies::Bodies),
    ];
}

/// Which points may be injected at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// If not empty, only points that match one of these.
    pub only: Vec<Pattern>,
    /// Never points that match one of these.
    pub except: Vec<Pattern>,
}

impl Filter {
    /// Whether the call at `point` may be injected.
    pub fn allows(&self, point: &Point) -> bool {
        let is_meant = self.only.iter().any(|pattern| pattern.injects(point));
        let is_excepted = self.except.iter().any(|pattern| pattern.matches(point));
        (self.only.is_empty() || is_meant) && !is_excepted
    }
}

/// What a search is allowed and asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How points may fail.
    pub modes: Modes,
    /// In which order to try.
    pub order: Order,
    /// The reductions in force.
    pub reduce: BTreeSet<Reduction>,
    /// At most this many faults together.
    pub max_faults: Option<usize>,
    /// At most this many executions, the reference included.
    pub max_cases: Option<usize>,
    /// Which points may be injected.
    pub filter: Filter,
    /// What of a reply its caller may act on.
    pub replies: Replies,
    /// Whether the scenario's own requests may fail, too.
    pub entries: bool,
}

impl Options {
    /// Breadth first, with service encapsulation, without bounds, replies by
    /// their status: the search of the published counts.
    pub fn new(modes: Modes) -> Self {
        Options {
            modes,
            order: Order::default(),
            reduce: BTreeSet::from([Reduction::Encapsulation]),
            max_faults: None,
            max_cases: None,
            filter: Filter::default(),
            replies: Replies::default(),
            entries: false,
        }
    }

    /// What a user gets who says nothing more: the same with mode equivalence,
    /// and replies of two classes.
    pub fn usual(modes: Modes) -> Self {
        let mut options = Options::new(modes);
        options.reduce.insert(Reduction::Modes);
        options.replies = Replies::Classes;
        options
    }

    /// Nothing is skipped but by service encapsulation, and every body that a
    /// callee answers with counts.
    pub fn exhaustive(modes: Modes) -> Self {
        Options {
            replies: Replies::Bodies,
            ..Options::new(modes)
        }
    }

    /// Whether a reduction is in force.
    pub fn reduces(&self, reduction: Reduction) -> bool {
        self.reduce.contains(&reduction)
    }
}
