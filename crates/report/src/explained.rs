//! What became of a faultload, for every format.

use murphy_model::{Faultload, Point, Reply};

/// A faultload as it was asked about, with every meaning it has.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The scenario's name.
    pub scenario: String,
    /// What was asked about.
    pub asked: Faultload,
    /// Every point seen that can be injected.
    pub points: Vec<Point>,
    /// What it may mean among the calls that were seen.
    pub meanings: Vec<Meaning>,
    /// How many more meanings it has that cannot happen.
    pub impossible: usize,
    /// Whether there are more meanings than listed.
    pub more: bool,
}

/// One meaning of a faultload.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The faultload, over points that were seen.
    pub faultload: Faultload,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a faultload.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It was run.
    Run {
        /// As this execution, from 1.
        number: usize,
        /// What the scenario complained about, if it did.
        complaint: Option<String>,
    },
    /// It need not be run.
    Skipped {
        /// The name of the policy that says so.
        policy: &'static str,
        /// Whether all its faults could be injected, as far as is known.
        possible: bool,
        /// Why, in sentences.
        reasons: Vec<String>,
        /// What the scenario would see of its last request, where predicted.
        predicted: Option<Reply>,
    },
    /// It was not run and nothing shows that it need not be.
    Open {
        /// Why, in one sentence.
        reason: String,
    },
}

impl Fate {
    /// Whether all faults can be injected in one execution, as far as is known.
    pub fn is_possible(&self) -> bool {
        match self {
            Fate::Skipped { possible, .. } => *possible,
            Fate::Run { .. } | Fate::Open { .. } => true,
        }
    }
}
