//! Explanations: what became of a faultload, and why.
//!
//! Owns the words for a judgement of the engine. It decides nothing: it asks
//! the engine what it would do with the faultload, knowing what it knows now.

use murphy_model::{Faultload, Mode, Point, Reply};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};
use crate::model::predict::{Prediction, Unknown, predict};
use crate::options::Reduction;
use crate::policy::Policy;
use crate::resolve::NeverSeen;
use crate::tree::Tree;
use crate::tree::engine::Skip;

/// What became of a faultload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// It was run.
    Run {
        /// As this execution, from 1.
        number: usize,
    },
    /// It need not be run.
    Skipped {
        /// The policy that says so.
        policy: Policy,
        /// Why, in sentences.
        reasons: Vec<String>,
        /// What the scenario would see of its last request, where predicted.
        predicted: Option<Reply>,
    },
    /// Running it would tell nothing that earlier executions do not imply,
    /// by the reasoning of the strategy as a whole.
    Implied {
        /// Why, in sentences.
        reasons: Vec<String>,
    },
    /// It was not run and nothing shows that it need not be.
    Open {
        /// Why, in one sentence.
        reason: String,
    },
}

impl Explanation {
    /// Of a faultload with a mode that nobody asked for.
    pub(crate) fn unasked(mode: Mode) -> Self {
        Self::skipped(Policy::Filter, format!("the mode {mode} was not asked for"))
    }

    /// Of a faultload with a fault that nobody asked for, though its mode was
    /// asked for elsewhere.
    pub(crate) fn unasked_fault(fault: FaultKey, catalogue: &Catalogue) -> Self {
        Self::skipped(Policy::Filter, unasked_reason(fault, catalogue))
    }

    /// Of a faultload with more faults than asked for.
    pub(crate) fn too_many() -> Self {
        Self::skipped(Policy::Bound, TOO_MANY.to_owned())
    }

    fn skipped(policy: Policy, reason: String) -> Self {
        Explanation::Skipped {
            policy,
            reasons: vec![reason],
            predicted: None,
        }
    }
}

const TOO_MANY: &str = "it has more faults than asked for";

impl Tree {
    /// Every point seen that can be injected, in the order first seen.
    pub fn points(&self) -> Vec<&Point> {
        self.engine.catalogue.fallible_points()
    }

    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them: patterns, and points written without payload or
    /// predecessors, may fit several.
    pub fn resolve(&self, faultload: &Faultload, most: usize) -> Result<Vec<Faultload>, NeverSeen> {
        self.engine.catalogue.resolve(faultload, most)
    }

    /// What became of a faultload over points that were seen.
    pub fn explain(&self, faultload: &Faultload) -> Result<Explanation, NeverSeen> {
        let engine = &self.engine;
        let faults = match engine.catalogue.numbered(faultload)? {
            Ok(faults) => faults,
            Err(mode) => return Ok(Explanation::unasked(mode)),
        };
        if let Some(number) = engine.numbers.get(&faults) {
            return Ok(Explanation::Run { number: *number });
        }
        Ok(match engine.why_not(&faults, None) {
            None if self.is_represented() => {
                let reason = "it shows some caller a reply that another mode stands for";
                Explanation::skipped(Policy::Modes, reason.to_owned())
            }
            None => Explanation::Open {
                reason: self.why_open(&faults),
            },
            Some(skip) => self.why_skipped(skip),
        })
    }

    /// Whether a faultload that nothing speaks against is covered all the same:
    /// at the end of a search in which modes stand for each other.
    fn is_represented(&self) -> bool {
        let ended = self.engine.waiting() == 0 && !self.engine.model.any_disputed;
        ended && self.engine.options.reduces(Reduction::Modes)
    }

    fn why_open(&self, faults: &FaultSet) -> String {
        let catalogue = &self.engine.catalogue;
        match predict(&self.engine.model, catalogue, faults) {
            Ok(prediction) if prediction.partial => {
                "what a service calls when it is asked again is not followed any further".to_owned()
            }
            Ok(_) => "it would be run: nothing in force makes it redundant".to_owned(),
            Err(Unknown::Reply { to }) => format!(
                "what the caller does after this reply of `{}` was never seen",
                catalogue.point(to)
            ),
            Err(Unknown::Service { at }) => {
                format!(
                    "the service at `{}` was never seen answering",
                    catalogue.point(at)
                )
            }
            Err(Unknown::Disputed { caller }) => format!(
                "{} contradicted itself, so nothing about it is certain",
                name(caller, catalogue)
            ),
        }
    }

    fn why_skipped(&self, skip: Skip) -> Explanation {
        let catalogue = &self.engine.catalogue;
        let policy = skip.policy();
        let text = |key: FaultKey| fault_text(key, catalogue);
        let (reasons, prediction) = match skip {
            Skip::Hidden(below, above) => {
                let reason = format!(
                    "`{}` cannot be injected: `{}` keeps the call above it from being served",
                    text(below),
                    text(above)
                );
                (vec![reason], None)
            }
            Skip::Idle(policy, fault, prediction) => {
                let reason = idle_reason(policy, catalogue.point(fault.point));
                (vec![reason], Some(prediction))
            }
            Skip::Redundant(policy, prediction) => (
                redundant_reasons(policy, &prediction, catalogue),
                Some(prediction),
            ),
            Skip::Attempt(fault, number) => {
                let reason = format!(
                    "`{}` is a later attempt of a retry loop (execution {number}); one transient and one persistent failure stand for it",
                    catalogue.point(fault.point)
                );
                (vec![reason], None)
            }
            Skip::Represented(fault, by) => {
                let reason = format!(
                    "`{}` acts like {} at this point: {} stands for it in combinations",
                    text(fault),
                    catalogue.mode(by),
                    catalogue.mode(by)
                );
                (vec![reason], None)
            }
            Skip::TooMany => (vec![TOO_MANY.to_owned()], None),
            Skip::Unasked(fault) => (vec![unasked_reason(fault, catalogue)], None),
        };
        let predicted = prediction.as_ref().and_then(last_reply);
        let mut reasons = reasons;
        if let Some(prediction) = &prediction {
            reasons.extend(witness_lines(prediction, catalogue));
        }
        Explanation::Skipped {
            policy,
            reasons,
            predicted,
        }
    }
}

fn fault_text(key: FaultKey, catalogue: &Catalogue) -> String {
    catalogue.faultload(&FaultSet::new(vec![key])).to_string()
}

fn name(caller: Option<PointId>, catalogue: &Catalogue) -> String {
    match caller {
        None => "the scenario".to_owned(),
        Some(point) => format!("`{}`", catalogue.point(point)),
    }
}

fn unasked_reason(fault: FaultKey, catalogue: &Catalogue) -> String {
    let point = catalogue.point(fault.point);
    match catalogue.entry(fault.point).observed_only {
        true => {
            format!(
                "`{point}` is the scenario's own request: it is observed, not injected (`entry = \"inject\"` in a scenario changes that)"
            )
        }
        false => format!("`{}` was not asked for", fault_text(fault, catalogue)),
    }
}

fn idle_reason(policy: Policy, point: &Point) -> String {
    match policy {
        Policy::Exclusion => format!(
            "`{point}` cannot be injected: its caller does not make this call once the other faults are injected"
        ),
        Policy::Inclusion => format!(
            "`{point}` cannot be injected: its caller makes this call only after a failure that this faultload does not bring about"
        ),
        _ => format!("`{point}` cannot be injected: the call it is made from does not happen"),
    }
}

fn redundant_reasons(
    policy: Policy,
    prediction: &Prediction,
    catalogue: &Catalogue,
) -> Vec<String> {
    let mut reasons =
        vec!["every service gets only replies that it was seen to get before".to_owned()];
    if policy == Policy::Propagation {
        for (point, execution) in &prediction.propagated {
            reasons.push(format!(
                "execution {execution} showed the same reply of `{}` as a failure of its own",
                catalogue.point(*point)
            ));
        }
    }
    reasons
}

/// For each service with calls of its own, an execution that showed the same.
fn witness_lines(prediction: &Prediction, catalogue: &Catalogue) -> Vec<String> {
    let has_calls = |caller: &Option<PointId>| {
        caller.is_some() && prediction.calls.iter().any(|call| call.caller == *caller)
    };
    let lines = prediction
        .witnesses
        .iter()
        .filter(|(caller, _)| has_calls(caller));
    lines
        .map(|(caller, execution)| {
            format!(
                "what {} does then was seen in execution {execution}",
                name(*caller, catalogue)
            )
        })
        .collect()
}

/// What the scenario would see of its last request.
fn last_reply(prediction: &Prediction) -> Option<Reply> {
    let mut entries = prediction.calls.iter().filter(|call| call.caller.is_none());
    entries.next_back().and_then(|call| call.label.reply)
}
