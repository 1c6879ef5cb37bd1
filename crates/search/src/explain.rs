//! Explanations: what became of a faultload, and why.
//!
//! Owns the words for a judgement of the engine. It decides nothing: it asks
//! the engine what it would do with the faultload, knowing what it knows now.

use murphy_model::{Fault, Faultload, Pattern, Point, Reply, Target};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};
use crate::model::predict::{Prediction, Unknown, predict};
use crate::options::Reduction;
use crate::policy::Policy;
use crate::tree::Tree;
use crate::tree::engine::{Judgement, Skip};

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
    /// It was not run and nothing shows that it need not be.
    Open {
        /// Why, in one sentence.
        reason: String,
    },
}

/// A target that no call seen so far fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverSeen(pub Target);

impl std::fmt::Display for NeverSeen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no call that was seen fits `{}`", self.0)
    }
}

impl std::error::Error for NeverSeen {}

impl Tree {
    /// Every point seen that can be made to fail, in the order first seen.
    pub fn points(&self) -> Vec<&Point> {
        let catalogue = &self.engine.catalogue;
        let can_fail = |id: &PointId| !catalogue.entry(*id).modes.is_empty();
        catalogue
            .ids()
            .filter(can_fail)
            .map(|id| catalogue.point(id))
            .collect()
    }

    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them: patterns, and points written without payload or
    /// predecessors, may fit several.
    pub fn resolve(&self, faultload: &Faultload, most: usize) -> Result<Vec<Faultload>, NeverSeen> {
        let mut choices = Vec::new();
        for fault in faultload.faults() {
            let targets = self.targets(&fault.target);
            if targets.is_empty() {
                return Err(NeverSeen(fault.target));
            }
            let at = |target| Fault {
                target,
                mode: fault.mode,
            };
            choices.push(targets.into_iter().map(at).collect());
        }
        let mut resolved = Vec::new();
        choose(&choices, &mut Vec::new(), most, &mut resolved);
        Ok(resolved)
    }

    fn targets(&self, target: &Target) -> Vec<Target> {
        let known = |point: &Point| self.engine.catalogue.find(point).is_some();
        match target {
            Target::Call(point) if known(point) => vec![target.clone()],
            Target::Every(point) if known(point) => vec![target.clone()],
            Target::Call(point) => self.loosely(point, point.frame().count, Target::Call),
            Target::Every(point) => self.loosely(point, 1, |point| Target::every(&point)),
            Target::Matching(pattern) => self.matching(pattern),
        }
    }

    /// Targets at points that are what was written, at this last count.
    fn loosely(
        &self,
        written: &Point,
        count: u32,
        target: impl Fn(Point) -> Target,
    ) -> Vec<Target> {
        let catalogue = &self.engine.catalogue;
        let known = catalogue.ids().map(|id| catalogue.point(id));
        let meant = known.filter(|point| loosely(written, point, |c| *c == count));
        meant.cloned().map(target).collect()
    }

    fn matching(&self, pattern: &Pattern) -> Vec<Target> {
        let fits = self
            .points()
            .into_iter()
            .filter(|point| pattern.matches(point));
        let mut targets: Vec<Target> = fits.cloned().map(Target::Call).collect();
        targets.dedup();
        targets
    }

    /// What became of a faultload over points that were seen.
    pub fn explain(&self, faultload: &Faultload) -> Result<Explanation, NeverSeen> {
        let engine = &self.engine;
        let mut keys = Vec::new();
        for fault in faultload.faults() {
            match engine.catalogue.key_of(&fault) {
                Some(key) => keys.push(key),
                None if matches!(fault.target, Target::Matching(_)) => {
                    return Err(NeverSeen(fault.target));
                }
                None if self.targets(&fault.target).is_empty() => {
                    return Err(NeverSeen(fault.target));
                }
                None => {
                    return Ok(Explanation::Skipped {
                        policy: Policy::Filter,
                        reasons: vec![format!("the mode {} was not asked for", fault.mode)],
                        predicted: None,
                    });
                }
            }
        }
        let faults = FaultSet::new(keys);
        if let Some(number) = engine.numbers.get(&faults) {
            return Ok(Explanation::Run { number: *number });
        }
        Ok(match engine.judge(&faults, None) {
            Judgement::Run if self.is_represented() => Explanation::Skipped {
                policy: Policy::Modes,
                reasons: vec![
                    "it shows some caller a reply that another mode stands for".to_owned(),
                ],
                predicted: None,
            },
            Judgement::Run => Explanation::Open {
                reason: self.why_open(&faults),
            },
            Judgement::Skip(skip) => self.why_skipped(skip),
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
                    "`{}` cannot strike: `{}` keeps the call above it from being served",
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
            Skip::TooMany => (vec!["it has more faults than asked for".to_owned()], None),
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

/// One fault of each choice, all at different targets, in every way until there
/// are `most`.
fn choose(
    choices: &[Vec<Fault>],
    chosen: &mut Vec<Fault>,
    most: usize,
    resolved: &mut Vec<Faultload>,
) {
    let Some((first, rest)) = choices.split_first() else {
        let faultload = Faultload::new(chosen.iter().cloned()).expect("targets differ");
        if !resolved.contains(&faultload) {
            resolved.push(faultload);
        }
        return;
    };
    for fault in first {
        let taken = chosen.iter().any(|other| other.target == fault.target);
        if taken || resolved.len() == most {
            continue;
        }
        chosen.push(fault.clone());
        choose(rest, chosen, most, resolved);
        chosen.pop();
    }
}

/// Whether a known point is what was written, where that leaves out payload,
/// predecessors and call site.
fn loosely(written: &Point, known: &Point, count: impl Fn(&u32) -> bool) -> bool {
    let (written_frames, known_frames) = (written.frames(), known.frames());
    let last = written_frames.len() - 1;
    written_frames.len() == known_frames.len()
        && written_frames
            .iter()
            .zip(&known_frames)
            .enumerate()
            .all(|(i, (w, k))| {
                let counts = if i == last {
                    count(&k.count)
                } else {
                    w.count == k.count
                };
                counts
                    && w.destination == k.destination
                    && w.interface == k.interface
                    && (w.payload.is_none() || w.payload == k.payload)
                    && (w.predecessors.is_none() || w.predecessors == k.predecessors)
                    && (w.site.is_none() || w.site == k.site)
            })
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
    match catalogue.entry(fault.point).entry {
        true => {
            format!("`{point}` is the scenario's own request: it is observed, never made to fail")
        }
        false => format!("`{}` was not asked for", fault_text(fault, catalogue)),
    }
}

fn idle_reason(policy: Policy, point: &Point) -> String {
    match policy {
        Policy::Exclusion => format!(
            "`{point}` cannot be struck: its caller does not make this call once the other faults have struck"
        ),
        Policy::Inclusion => format!(
            "`{point}` cannot be struck: its caller makes this call only after a failure that this faultload does not bring about"
        ),
        _ => format!("`{point}` cannot be struck: the call it is made from does not happen"),
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
