//! Audit: does what was skipped really go as predicted?
//!
//! Owns the choice of a sample and the comparison. Half the sample is drawn
//! from faultloads that are injected in full (found by following predictions), half
//! from all faultloads of a few faults, most of which cannot be injected.

use std::collections::{BTreeMap, HashSet, VecDeque};

use murphy_model::{Audit, Execution, Faultload};

use crate::catalogue::{FaultKey, FaultSet, PointId};
use crate::model::observation::Answer;
use crate::model::predict::{Prediction, predict};
use crate::model::verdicts::Expectation;
use crate::options::Reduction;
use crate::tree::Tree;

/// Faultloads larger than this are hardly ever skipped for a reason of their
/// own; drawing them would only make the sample slower.
const LARGEST: usize = 5;

/// How many draws in a row may bring up nothing new before giving up: a small
/// system may not have as many skipped faultloads as asked for.
const PATIENCE: usize = 3000;

/// A seeded sample of skipped faultloads, to be run and compared one by one.
pub struct Sample<'t> {
    tree: &'t Tree,
    waiting: VecDeque<(Faultload, Expected)>,
    audit: Audit,
}

/// What a skipped faultload is to show.
struct Expected {
    prediction: Prediction,
    verdict: Expectation,
}

impl<'t> Sample<'t> {
    /// Draws up to `most` of them.
    pub fn draw(tree: &'t Tree, most: usize, seed: u64) -> Self {
        let (sample, unpredicted) = sample(tree, most, seed);
        let spelled = |(faults, expected)| (tree.engine.catalogue.faultload(&faults), expected);
        Sample {
            tree,
            waiting: sample.into_iter().map(spelled).collect(),
            audit: Audit {
                unpredicted,
                ..Audit::default()
            },
        }
    }

    /// The faultload to be run next; its execution is to be given to
    /// [`compare`](Self::compare).
    pub fn next(&self) -> Option<&Faultload> {
        self.waiting.front().map(|(faultload, _)| faultload)
    }

    /// The same, several that may be run at once; their executions are to be
    /// given to [`compare`](Self::compare) in this order.
    pub fn upcoming(&self, most: usize) -> Vec<Faultload> {
        let next = self.waiting.iter().take(most);
        next.map(|(faultload, _)| faultload.clone()).collect()
    }

    /// Compares the execution of the next faultload with what was predicted:
    /// its calls, their replies and bodies, and the verdict. Says whether all
    /// of it is as predicted.
    pub fn compare(&mut self, execution: &Execution) -> bool {
        let Some((faultload, expected)) = self.waiting.pop_front() else {
            return true;
        };
        self.audit.sampled += 1;
        let agreed = expected.verdict.is_met(execution.verdict.is_failure())
            && went_as(&expected.prediction, execution, self.tree);
        match agreed {
            true => self.audit.agreed += 1,
            false => self.audit.disagreed.push(faultload.to_string()),
        }
        agreed
    }

    /// How it went.
    pub fn result(self) -> Audit {
        self.audit
    }
}

/// Skipped faultloads with what they are predicted to show, and how many more
/// came up without a prediction.
fn sample(tree: &Tree, most: usize, seed: u64) -> (Vec<(FaultSet, Expected)>, usize) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut drawn = HashSet::new();
    let (mut sample, mut unpredicted) = (Vec::new(), 0);
    let (mut draw, mut in_vain) = (0_u64, 0);
    while sample.len() < most && in_vain < PATIENCE {
        draw += 1;
        in_vain += 1;
        let faults = match draw % 2 {
            0 => draw_injectable(tree, &mut rng),
            _ => draw_any(tree, &mut rng),
        };
        if !drawn.insert(faults.clone()) || tree.engine.numbers.contains_key(&faults) {
            continue;
        }
        if tree.engine.why_not(&faults, None).is_none() {
            continue;
        }
        match prediction_of(tree, &faults) {
            Some((stand_ins, prediction)) => {
                let written = [&faults, &stand_ins];
                let verdict = tree.engine.expected_verdict(&prediction, &written);
                let expected = Expected {
                    prediction,
                    verdict,
                };
                sample.push((faults, expected));
                in_vain = 0;
            }
            None => unpredicted += 1,
        }
    }
    (sample, unpredicted)
}

/// Grows a faultload by faults at calls that are predicted to be made.
fn draw_injectable(tree: &Tree, rng: &mut fastrand::Rng) -> FaultSet {
    let mut faults = FaultSet::default();
    for _ in 0..rng.usize(1..=LARGEST) {
        let Some((_, prediction)) = prediction_of(tree, &faults) else {
            break;
        };
        let open = prediction
            .calls
            .iter()
            .filter(|call| call.injected.is_none());
        let points: Vec<PointId> = open.map(|call| call.point).collect();
        let added = draw_fault(tree, rng, &points).and_then(|fault| faults.union(&[fault]));
        match added {
            Some(larger) => faults = larger,
            None => break,
        }
    }
    faults
}

fn draw_any(tree: &Tree, rng: &mut fastrand::Rng) -> FaultSet {
    let points: Vec<PointId> = tree.engine.catalogue.ids().collect();
    let mut faults = FaultSet::default();
    for _ in 0..rng.usize(2..=LARGEST) {
        let added = draw_fault(tree, rng, &points).and_then(|fault| faults.union(&[fault]));
        faults = added.unwrap_or(faults);
    }
    faults
}

fn draw_fault(tree: &Tree, rng: &mut fastrand::Rng, points: &[PointId]) -> Option<FaultKey> {
    let modes_of = |point: PointId| &tree.engine.catalogue.entry(point).modes;
    let can_fail: Vec<PointId> = points
        .iter()
        .copied()
        .filter(|p| !modes_of(*p).is_empty())
        .collect();
    let point = *rng.choice(&can_fail)?;
    Some(FaultKey::at(point, *rng.choice(modes_of(point))?))
}

/// What a skipped faultload is predicted to show, with modes that stand for
/// others put in their place where that reduction is in force; and the
/// faultload with these modes.
fn prediction_of(tree: &Tree, faults: &FaultSet) -> Option<(FaultSet, Prediction)> {
    let engine = &tree.engine;
    if !engine.options.reduces(Reduction::Modes) {
        let prediction = predict(&engine.model, &engine.catalogue, faults).ok()?;
        return (!prediction.partial).then(|| (faults.clone(), prediction));
    }
    let stand_in = |key: &FaultKey| FaultKey {
        mode: engine.classes.representative(*key, &engine.catalogue),
        ..*key
    };
    let stand_ins = FaultSet::new(faults.keys().iter().map(stand_in).collect());
    let mut prediction = predict(&engine.model, &engine.catalogue, &stand_ins).ok()?;
    if prediction.partial {
        return None;
    }
    for call in &mut prediction.calls {
        if let Some(original) = engine.catalogue.fault_at(faults, call.point) {
            call.injected = call.injected.map(|_| original);
            call.label.reply = engine
                .catalogue
                .mode(original.mode)
                .reply()
                .or(call.label.reply);
        }
    }
    Some((stand_ins, prediction))
}

/// Whether an execution shows the predicted calls with the predicted replies
/// and bodies.
fn went_as(prediction: &Prediction, execution: &Execution, tree: &Tree) -> bool {
    let engine = &tree.engine;
    let mut expected: BTreeMap<(PointId, Answer), usize> = BTreeMap::new();
    for call in &prediction.calls {
        let answer = (call.point, call.label.answer());
        *expected.entry(answer).or_default() += 1;
    }
    let mut seen: BTreeMap<(PointId, Answer), usize> = BTreeMap::new();
    for call in execution.trace.calls() {
        let Some(point) = engine.catalogue.find(&call.point) else {
            return false;
        };
        let bodies = &engine.model.bodies;
        let Some(body) = bodies.class(point, call) else {
            return false;
        };
        let answer = Answer {
            reply: call.reply,
            body,
        };
        *seen.entry((point, answer)).or_default() += 1;
    }
    expected == seen
}
