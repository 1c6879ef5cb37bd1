//! The engine of the tree strategy: one faultload at a time.
//!
//! Owns what was learnt and what was decided about every faultload looked at.
//! It pops a candidate, judges it by the policies against everything known at
//! that moment, and learns from its execution.

use std::collections::{BTreeMap, HashMap, HashSet};

use murphy_model::{Certificate, Execution, Flag, Incomplete, Outcome, Skips, Verdict};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, ModeId, PointId};
use crate::model::observation::Observation;
use crate::model::predict::{Prediction, effect, predict};
use crate::model::verdicts::{Expectation, Verdicts};
use crate::model::{Model, count};
use crate::options::{Options, Order, Reduction, Replies};
use crate::policy::mode_classes::{Effect, ModeClasses};
use crate::policy::retry::Retries;
use crate::policy::{Policy, bound, downstream, filter, propagation, reachability};

use super::frontier::{Candidate, Frontier};
use super::grow::Growth;

/// What is taken for granted where calls are made side by side.
const CONCURRENCY: &str =
    "concurrent calls can be identified, and which of them is answered first changes nothing";

/// What is taken for granted where calls are slowed down.
const LATENESS: &str =
    "lost time is felt by the caller that waits for it: delays of several calls do not add up";

/// What is taken for granted where requests are delivered twice.
const TWICE: &str = "a service treats a request that comes again as it treated it the first time";

/// Why a faultload need not be run.
#[derive(Debug)]
pub(crate) enum Skip {
    /// The second fault keeps the first from being injected.
    Hidden(FaultKey, FaultKey),
    /// The fault cannot be injected, by this policy, in what is predicted.
    Idle(Policy, FaultKey, Prediction),
    /// Everything it would show was seen, piece by piece.
    Redundant(Policy, Prediction),
    /// The fault is at a later attempt of a retry loop, seen in an execution.
    Attempt(FaultKey, usize),
    /// Another mode stands for the fault's mode.
    Represented(FaultKey, ModeId),
    /// Too many faults.
    TooMany,
    /// A fault that was not asked for.
    Unasked(FaultKey),
}

impl Skip {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Skip::Hidden(..) => Policy::Downstream,
            Skip::Idle(policy, ..) | Skip::Redundant(policy, ..) => *policy,
            Skip::Attempt(..) => Policy::Retry,
            Skip::Represented(..) => Policy::Modes,
            Skip::TooMany => Policy::Bound,
            Skip::Unasked(_) => Policy::Filter,
        }
    }
}

/// What was learnt and decided.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) options: Options,
    pub(crate) catalogue: Catalogue,
    pub(crate) model: Model,
    verdicts: Verdicts,
    pub(crate) classes: ModeClasses,
    pub(crate) retries: Retries,
    frontier: Frontier,
    defined: HashSet<PointId>,
    /// The executions taken in; kept only without service encapsulation.
    executions: Vec<Execution>,
    /// Their numbers, from 1, by what was to inject.
    pub(crate) numbers: HashMap<FaultSet, usize>,
    explored: usize,
    pruned: BTreeMap<&'static str, usize>,
    /// Skipped because of a prediction, and by which policy.
    set_aside: Vec<(Candidate, &'static str)>,
    /// Faultloads not even kept, because they had too many faults.
    cut: usize,
    injected_in_full: usize,
    not_exercised: usize,
}

impl Engine {
    pub(crate) fn new(options: Options) -> Self {
        let mut frontier = Frontier::new(options.order);
        let reference = Candidate {
            faults: FaultSet::default(),
            defines: None,
        };
        frontier.is_new(&reference.faults);
        frontier.push_urgent(reference);
        Engine {
            model: Model::new(options.replies),
            options,
            catalogue: Catalogue::default(),
            verdicts: Verdicts::default(),
            classes: ModeClasses::default(),
            retries: Retries::default(),
            frontier,
            defined: HashSet::new(),
            executions: Vec::new(),
            numbers: HashMap::new(),
            explored: 0,
            pruned: BTreeMap::new(),
            set_aside: Vec::new(),
            cut: 0,
            injected_in_full: 0,
            not_exercised: 0,
        }
    }

    pub(crate) fn explored(&self) -> usize {
        self.explored
    }

    pub(crate) fn skipped(&self) -> usize {
        self.pruned.values().sum()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.frontier.len()
    }

    /// The next faultload worth running; `None` when there is none, or no
    /// more may be run.
    pub(crate) fn pop(&mut self) -> Option<Candidate> {
        let most = self.options.max_cases.unwrap_or(usize::MAX);
        loop {
            let candidate = self.frontier.pop()?;
            match self.why_not(&candidate.faults, candidate.defines) {
                Some(skip) => self.note_skip(&candidate, skip),
                None if self.explored < most => return Some(candidate),
                None => {
                    self.frontier.put_back(candidate);
                    return None;
                }
            }
        }
    }

    fn note_skip(&mut self, candidate: &Candidate, skip: Skip) {
        let policy = skip.policy().name();
        *self.pruned.entry(policy).or_default() += 1;
        // What a mode does at a point may be known without running it.
        if let (Some(point), Skip::Redundant(_, prediction)) = (candidate.defines, &skip) {
            let verdict = self.expected_verdict(prediction, &[&candidate.faults]);
            let effect = prediction.effect_without(point);
            self.note_class(candidate, point, (effect, verdict == Expectation::Fails));
        }
        if matches!(skip, Skip::Redundant(..) | Skip::Idle(..)) {
            self.set_aside.push((candidate.clone(), policy));
        }
    }

    /// Puts back what was skipped on the strength of predictions: something
    /// they were made of has come into doubt.
    fn reconsider(&mut self) {
        let set_aside = std::mem::take(&mut self.set_aside);
        for (_, policy) in &set_aside {
            if let Some(count) = self.pruned.get_mut(policy) {
                *count -= 1;
            }
        }
        self.pruned.retain(|_, count| *count > 0);
        let candidates = set_aside.into_iter().map(|(candidate, _)| candidate);
        self.frontier.extend(candidates.collect());
    }

    fn note_class(&mut self, candidate: &Candidate, point: PointId, effect: Effect) {
        let defining = candidate
            .faults
            .keys()
            .iter()
            .find(|key| key.point == point);
        if let Some(fault) = defining {
            self.classes.note(*fault, effect, &self.catalogue);
        }
    }

    /// The first of the next `most` waiting faultloads that is not excepted
    /// and would be run by what is known now.
    pub(crate) fn look_ahead(
        &self,
        most: usize,
        excepted: impl Fn(&FaultSet) -> bool,
    ) -> Option<FaultSet> {
        let worth =
            |c: &&Candidate| !excepted(&c.faults) && self.why_not(&c.faults, c.defines).is_none();
        let ahead = self.frontier.iter().take(most).find(worth);
        ahead.map(|candidate| candidate.faults.clone())
    }

    /// Why a faultload need not be run, by everything known now; `None` if it
    /// may show something new.
    pub(crate) fn why_not(&self, faults: &FaultSet, defines: Option<PointId>) -> Option<Skip> {
        if let Some(fault) = filter::unasked(faults, &self.catalogue) {
            return Some(Skip::Unasked(fault));
        }
        if let Some((below, above)) = downstream::hidden(faults, &self.catalogue, &self.model) {
            return Some(Skip::Hidden(below, above));
        }
        if bound::exceeded(faults, self.options.max_faults) {
            return Some(Skip::TooMany);
        }
        if self.options.reduces(Reduction::Retry)
            && let Some((fault, number)) = self.retries.reduced(faults)
        {
            return Some(Skip::Attempt(fault, number));
        }
        if self.options.reduces(Reduction::Modes)
            && let Some((fault, by)) = self.classes.reduced(faults, defines, &self.catalogue)
        {
            return Some(Skip::Represented(fault, by));
        }
        let prediction = predict(&self.model, &self.catalogue, faults).ok()?;
        let idle = prediction.idle(faults);
        if prediction.partial && !idle.is_empty() {
            return None;
        }
        if let Some(idle) = idle.first() {
            let policy = reachability::why_idle(*idle, &prediction, &self.catalogue, &self.model);
            return Some(Skip::Idle(policy, *idle, prediction));
        }
        if !self.options.reduces(Reduction::Encapsulation) {
            return None;
        }
        let policy = match propagation::speaks(&prediction) {
            true => Policy::Propagation,
            false => Policy::Encapsulation,
        };
        Some(Skip::Redundant(policy, prediction))
    }

    /// Takes in the execution of a candidate.
    pub(crate) fn learn(&mut self, candidate: &Candidate, execution: &Execution) {
        self.explored += 1;
        if matches!(execution.verdict, Verdict::NotExercised { .. }) {
            self.not_exercised += 1;
        }
        let (seen, news) =
            self.model
                .learn(execution, self.explored, &mut self.catalogue, &self.options);
        let failed = execution.verdict.is_failure();
        self.verdicts
            .learn(seen.scenario_replies(), &seen.injected, failed);
        self.injected_in_full += usize::from(seen.injected == candidate.faults);
        self.numbers
            .entry(candidate.faults.clone())
            .or_insert(self.explored);
        if let Some(point) = candidate.defines {
            let others = seen.calls.iter().filter(|call| call.point != point);
            let effect = effect(others.map(|call| (call.point, call.label)));
            self.note_class(candidate, point, (effect, failed));
        }
        let persistent = match self.options.reduces(Reduction::Retry) {
            true => self
                .retries
                .learn(&seen, self.explored, &self.catalogue, &self.model),
            false => Vec::new(),
        };
        let grown = match self.options.reduces(Reduction::Encapsulation) {
            true => self.grow(|growth| growth.open_branches(&seen, &news)),
            false => self.grow_combinations(execution, &seen, news.reordered),
        };
        self.enqueue(grown);
        self.enqueue_urgent(persistent);
        if news.doubt {
            self.reconsider();
        }
    }

    /// What verdict a predicted execution under these faults is to have, each
    /// way they can be written.
    pub(crate) fn expected_verdict(
        &self,
        prediction: &Prediction,
        faults: &[&FaultSet],
    ) -> Expectation {
        let replies = prediction.scenario_replies();
        self.verdicts.expected(replies, faults)
    }

    fn grow(&mut self, grow: impl FnOnce(&mut Growth)) -> Vec<Candidate> {
        let mut growth = Growth {
            options: &self.options,
            catalogue: &self.catalogue,
            model: &self.model,
            retries: &self.retries,
            defined: &mut self.defined,
            grown: Vec::new(),
        };
        grow(&mut growth);
        growth.grown
    }

    /// Combinations are made by the order of calls. When that turns out to be
    /// another one, those of earlier executions are made again.
    fn grow_combinations(
        &mut self,
        execution: &Execution,
        seen: &Observation,
        reordered: bool,
    ) -> Vec<Candidate> {
        self.executions.push(execution.clone());
        if !reordered {
            return self.grow(|growth| growth.all_combinations(seen));
        }
        let mut grown = Vec::new();
        for earlier in std::mem::take(&mut self.executions) {
            let (seen, _) = Observation::new(
                &earlier,
                &mut self.catalogue,
                &self.options,
                &mut self.model.orders,
                &mut self.model.bodies,
            );
            grown.extend(self.grow(|growth| growth.all_combinations(&seen)));
            self.executions.push(earlier);
        }
        grown
    }

    fn enqueue(&mut self, mut grown: Vec<Candidate>) {
        let all = grown.len();
        grown.retain(|candidate| !bound::exceeded(&candidate.faults, self.options.max_faults));
        self.cut += all - grown.len();
        grown.retain(|candidate| self.frontier.is_new(&candidate.faults));
        self.frontier.extend(grown);
    }

    /// Persistent failures go first; faults that they keep from being injected are
    /// left out.
    fn enqueue_urgent(&mut self, persistent: Vec<FaultSet>) {
        for faults in persistent {
            let faults = match predict(&self.model, &self.catalogue, &faults) {
                Ok(prediction) => {
                    let idle = prediction.idle(&faults);
                    let hits = |key: &FaultKey| !idle.contains(key);
                    FaultSet::new(faults.keys().iter().copied().filter(hits).collect())
                }
                Err(_) => faults,
            };
            if self.frontier.is_new(&faults) {
                self.frontier.push_urgent(Candidate {
                    faults,
                    defines: None,
                });
            }
        }
    }

    pub(crate) fn certificate(&self) -> Certificate {
        let points = count::points(&self.catalogue, &self.model.reference);
        let contradicts = |flag: &Flag| matches!(flag, Flag::Nondeterminism { .. });
        let disputed = self.model.flags.iter().any(contradicts);
        let waiting = self.frontier.len();
        // Depth first, the way to a call may be longer than it need be.
        let cut_short = self.cut > 0 && self.options.order == Order::DepthFirst;
        let incomplete = match (waiting, disputed, cut_short) {
            (1.., ..) => Some(Incomplete::Cases { waiting }),
            (0, true, _) => Some(Incomplete::Nondeterminism),
            (0, false, true) => Some(Incomplete::BoundDepthFirst),
            (0, false, false) if self.overlooks_bodies() => Some(Incomplete::Replies),
            (0, false, false) => None,
        };
        let pruned = self.pruned.iter();
        let mut pruned: BTreeMap<_, _> = pruned.map(|(name, n)| ((*name).into(), *n)).collect();
        if self.cut > 0 {
            *pruned.entry(Policy::Bound.name().into()).or_default() += self.cut;
        }
        Certificate {
            points: points.total,
            conditional: points.conditional,
            space: points.space,
            skips: self.skips().filter(|_| incomplete.is_none()),
            explored: self.explored,
            considered: self.frontier.considered() + self.cut - waiting,
            pruned,
            not_exercised: self.not_exercised,
            speculative: 0,
            bound: self.options.max_faults,
            incomplete,
            assumptions: self.assumptions(),
            flags: self.model.flags.clone(),
            audit: None,
            minimal: None,
        }
    }

    /// Whether a caller did something else after replies of equal status, while
    /// bodies do not count. Which replies differ is then found by chance only.
    fn overlooks_bodies(&self) -> bool {
        let unexplained = |flag: &Flag| matches!(flag, Flag::Unexplained { .. });
        self.options.replies == Replies::Status && self.model.flags.iter().any(unexplained)
    }

    /// Where every faultload of the space went. Known only if nothing but
    /// encapsulation was left out: the other reductions leave branches open.
    fn skips(&self) -> Option<Skips> {
        let plain = self.options.max_faults.is_none()
            && !self.options.reduces(Reduction::Retry)
            && !self.pruned.contains_key(Policy::Modes.name());
        if !plain {
            return None;
        }
        count::divide(&self.catalogue, &self.model, self.injected_in_full)
    }

    fn fails_by(&self, outcome: impl Fn(Outcome) -> bool) -> bool {
        let modes = |id: PointId| &self.catalogue.entry(id).modes;
        self.catalogue.ids().any(|id| {
            modes(id)
                .iter()
                .any(|mode| outcome(self.catalogue.mode(*mode).outcome()))
        })
    }

    /// What must be true for the policies in force to be right.
    fn assumptions(&self) -> Vec<String> {
        let mut policies = vec![Policy::Unreachable];
        if self.options.reduces(Reduction::Encapsulation) {
            policies.extend([Policy::Propagation, Policy::Encapsulation]);
        }
        if self.options.reduces(Reduction::Retry) {
            policies.push(Policy::Retry);
        }
        if self.options.reduces(Reduction::Modes) {
            policies.push(Policy::Modes);
        }
        let replies = self.options.replies;
        let texts = policies
            .into_iter()
            .filter_map(|policy| policy.assumption(replies));
        let more = [
            (self.model.any_concurrent(), CONCURRENCY),
            (
                self.fails_by(|o| matches!(o, Outcome::Delay(_) | Outcome::Slow(_))),
                LATENESS,
            ),
            (self.fails_by(|o| o == Outcome::Duplicate), TWICE),
        ];
        let more = more.into_iter().filter(|(holds, _)| *holds);
        texts
            .chain(more.map(|(_, text)| text))
            .map(str::to_owned)
            .collect()
    }
}
