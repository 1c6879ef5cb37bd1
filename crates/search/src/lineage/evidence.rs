//! What executions have shown: which calls sufficed, which faults failed.
//!
//! Owns the inference from executions to clauses. An execution that succeeded
//! gives a [`Clause`]: whatever fails must hit a call that it went well with.
//! One that failed gives the faults that were injected in it, no others: a fault that
//! was never injected had no part. What an execution says that contradicts earlier
//! ones is kept, and the clause it contradicts is relied upon no more.

use std::collections::HashSet;

use murphy_hitting::Set;
use murphy_model::{Call, CallId, Execution, Flag, Reply, Trace};

use crate::catalogue::{Catalogue, PointId};
use crate::options::Options;

use super::elements::Elements;

/// The largest set of which every part is looked at: there are 2^n.
const MOST_SPLIT: usize = 12;

/// What must be hit by every set of faults that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    /// It binds only sets that hold all of these.
    pub(super) given: Set,
    /// One of these must be in the set.
    pub(super) any_of: Set,
}

impl Clause {
    /// Whether a set that fails may be this one, as far as this clause goes.
    pub(super) fn is_met_by(&self, set: &Set) -> bool {
        !self.given.is_subset(set) || self.any_of.meets(set)
    }

    /// What a success through exactly these spots would say.
    pub(super) fn of_row(row: &Set, elements: &Elements) -> Self {
        let ways = row.iter().flat_map(|spot| elements.ways(spot).iter());
        Clause {
            given: Set::new(),
            any_of: ways.collect(),
        }
    }
}

/// Everything seen so far.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Whether all ways for a spot to fail are taken to lead to the same.
    are_ways_alike: bool,
    pub(super) catalogue: Catalogue,
    pub(super) elements: Elements,
    successes: Vec<Success>,
    clauses: Vec<Clause>,
    failures: Vec<Set>,
    /// Sets that were run and say nothing: they failed though no fault was injected,
    /// or a fault were not injected a call it was meant for.
    unexplained: Vec<Set>,
    pub(super) flags: Vec<Flag>,
    /// How often a path that had succeeded did not, with none of its calls failing.
    contradictions: usize,
    run: HashSet<Set>,
    exhausted: Set,
    /// Points of the execution without faults.
    pub(super) reference: HashSet<PointId>,
}

/// An execution that succeeded.
#[derive(Debug)]
struct Success {
    number: usize,
    /// The faults that were injected.
    injected: Set,
    /// The ways in which the calls it went well with could still fail.
    path: Set,
    /// The ways in which calls that failed for what was injected below them could
    /// have failed otherwise.
    unlike: Set,
    /// The spots that were called.
    called: Set,
    /// The labels of which a call went well.
    alive: Set,
    /// Whether it is known that its path can fail although none of its calls
    /// does.
    is_contradicted: bool,
}

impl Evidence {
    pub(super) fn new(are_ways_alike: bool) -> Self {
        Evidence {
            are_ways_alike,
            ..Evidence::default()
        }
    }

    /// Learns from execution `number`, for which `planned` was to fail.
    pub(super) fn learn(
        &mut self,
        planned: &Set,
        execution: &Execution,
        number: usize,
        options: &Options,
    ) {
        self.run.insert(planned.clone());
        let points = self.number_points(&execution.trace, options);
        if number == 1 {
            self.reference.extend(&points);
        }
        let spots = self.elements.spots().len();
        self.elements.update(&self.catalogue);
        if self.elements.spots().len() > spots {
            self.derive_all();
        }
        let success = self.success(&execution.trace, &points, number);
        if !execution.verdict.is_failure() {
            self.check_success(&success);
            if planned.meets(&success.path) {
                self.unexplained.push(planned.clone());
            }
            self.derive(&success);
            self.successes.push(success);
            return;
        }
        self.exhaust(&success);
        let injected = success.injected;
        self.check_failure(&injected, number);
        match injected.is_empty() {
            true => self.unexplained.push(planned.clone()),
            false => self.fail(injected),
        }
    }

    fn number_points(&mut self, trace: &Trace, options: &Options) -> Vec<PointId> {
        let number = |call: &Call| {
            let is_entry = call.parent.is_none();
            self.catalogue.number(&call.point, is_entry, options)
        };
        trace.calls().iter().map(number).collect()
    }

    /// The execution as if it had succeeded.
    fn success(&mut self, trace: &Trace, points: &[PointId], number: usize) -> Success {
        let mut success = Success {
            number,
            injected: Set::new(),
            path: Set::new(),
            unlike: Set::new(),
            called: Set::new(),
            alive: Set::new(),
            is_contradicted: false,
        };
        let injected_below = injected_below(trace);
        for id in trace.ids() {
            let call = trace.call(id);
            let point = points[id.0 as usize];
            let is_ok = call.reply.is_some_and(|reply| reply.is_ok());
            let Some(spot) = self.elements.spot(point) else {
                continue;
            };
            success.called.insert(spot);
            if is_ok {
                success.alive.insert(self.elements.label(spot));
            }
            let fault = call.injected.as_ref();
            let fault = fault.and_then(|fault| self.catalogue.key(fault));
            let element = fault.and_then(|fault| self.elements.element(fault));
            success.injected.extend(element);
            // A call that failed for what was injected into it or below it is
            // none that the execution needed.
            if is_ok || (element.is_none() && !injected_below[id.0 as usize]) {
                success.path.add(self.elements.ways(spot));
            } else if element.is_none() {
                let unlike = self.ways_unlike(spot, call.reply);
                success.unlike.add(&unlike);
            }
        }
        success.path.subtract(&success.injected.clone());
        success
    }

    /// The ways for a spot to fail by which its caller would not see `reply`.
    fn ways_unlike(&self, spot: usize, reply: Option<Reply>) -> Set {
        let reply_of = |element: usize| self.catalogue.mode(self.elements.mode(element)).reply();
        let ways = self.elements.ways(spot).iter();
        ways.filter(|element| reply_of(*element) != reply).collect()
    }

    /// A set that holds one that failed succeeded: more faults helped.
    fn check_success(&mut self, success: &Success) {
        let fails = |failed: &Set| failed.is_subset(&success.injected);
        if let Some(failed) = self.failures.iter().find(|failed| fails(failed)) {
            let faults = self.elements.fault_set(failed);
            self.flags.push(Flag::NotMonotone {
                faultload: self.catalogue.faultload(&faults),
                execution: success.number,
            });
        }
    }

    /// A set failed that leaves alone every call of a path that succeeded.
    fn check_failure(&mut self, injected: &Set, number: usize) {
        let before = self.contradictions;
        for at in 0..self.successes.len() {
            let any_of = self.must_hit(&self.successes[at]);
            let success = &mut self.successes[at];
            if success.is_contradicted || any_of.meets(injected) {
                continue;
            }
            success.is_contradicted = true;
            self.contradictions += 1;
            self.flags.push(Flag::Contradicted {
                first: success.number,
                second: number,
            });
        }
        if self.contradictions > before {
            self.derive_all();
        }
    }

    /// Labels of which everything called went wrong when the scenario failed
    /// have no other spots to turn to.
    fn exhaust(&mut self, failure: &Success) {
        for element in failure.injected.iter() {
            let label = self.elements.label(self.elements.spot_of(element));
            if !failure.alive.contains(label) {
                self.exhausted.insert(label);
            }
        }
    }

    fn fail(&mut self, injected: Set) {
        if !self.failures.contains(&injected) {
            self.failures.push(injected);
        }
    }

    /// What every failing set must hit for this success: its path; the calls
    /// that were not made because of what was injected, which might matter as soon
    /// as they are made again; and the other ways in which what failed could
    /// have failed, unless all ways are taken to be alike.
    fn must_hit(&self, success: &Success) -> Set {
        let mut any_of = success.path.clone();
        if success.injected.is_empty() {
            return any_of;
        }
        for spot in self.elements.spots() {
            if self.is_off_stage(spot, success) {
                any_of.add(self.elements.ways(spot));
            }
        }
        if !self.are_ways_alike {
            for element in success.injected.iter() {
                any_of.add(self.elements.ways(self.elements.spot_of(element)));
            }
            any_of.subtract(&success.injected);
            any_of.add(&success.unlike);
        }
        any_of
    }

    /// Whether a call was not made, nor one that could have taken its place.
    fn is_off_stage(&self, spot: usize, success: &Success) -> bool {
        let label = self.elements.label(spot);
        !success.called.contains(spot) && !success.alive.contains(label)
    }

    /// What every set of faults that fails must hit, by what was seen.
    pub(super) fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Makes the clauses anew: spots seen since may have been left out by
    /// executions before.
    fn derive_all(&mut self) {
        let successes = std::mem::take(&mut self.successes);
        self.clauses.clear();
        for success in &successes {
            self.derive(success);
        }
        self.successes = successes;
    }

    fn derive(&mut self, success: &Success) {
        for clause in self.clauses_of(success) {
            self.add_clause(clause);
        }
    }

    /// What a success says.
    fn clauses_of(&self, success: &Success) -> Vec<Clause> {
        let exact = Clause {
            given: success.injected.clone(),
            any_of: success.path.clone(),
        };
        // Without faults nothing is given: what the scenario needs then, it
        // needs, however often it may contradict itself.
        if success.is_contradicted && !exact.given.is_empty() {
            return vec![exact];
        }
        let always = Clause {
            given: Set::new(),
            any_of: self.must_hit(success),
        };
        vec![always, exact]
    }

    /// The first execution that shows that these faults do not fail: it
    /// succeeded by calls that they leave alone.
    pub(super) fn refuted_by(&self, set: &Set) -> Option<usize> {
        let refutes = |success: &&Success| {
            let clauses = self.clauses_of(success);
            clauses.iter().any(|clause| !clause.is_met_by(set))
        };
        self.successes.iter().find(refutes).map(|it| it.number)
    }

    /// Adds a clause, without those that follow from others.
    fn add_clause(&mut self, clause: Clause) {
        let implies =
            |a: &Clause, b: &Clause| a.given.is_subset(&b.given) && a.any_of.is_subset(&b.any_of);
        if self.clauses.iter().any(|other| implies(other, &clause)) {
            return;
        }
        self.clauses.retain(|other| !implies(&clause, other));
        self.clauses.push(clause);
    }

    /// Sets not worth another look: they failed, or hold one that did.
    pub(super) fn settled(&self) -> Vec<Set> {
        let sets = self.failures.iter().chain(&self.unexplained);
        sets.cloned().collect()
    }

    /// Those that failed and hold no smaller one that did.
    pub(super) fn minimal_failures(&self) -> Vec<&Set> {
        let below = |set: &Set| {
            let smaller = |other: &&Set| *other != set && other.is_subset(set);
            self.failures.iter().any(|other| smaller(&other))
        };
        self.failures.iter().filter(|set| !below(set)).collect()
    }

    /// Whether every part of a set is known not to fail.
    pub(super) fn is_known_minimal(&self, set: &Set) -> bool {
        let elements: Vec<usize> = set.iter().collect();
        if elements.len() > MOST_SPLIT {
            return false;
        }
        let part = |which: u32| -> Set {
            let chosen = (0..elements.len()).filter(|at| which >> at & 1 == 1);
            chosen.map(|at| elements[at]).collect()
        };
        let all = (1 << elements.len()) - 1;
        let may_fail = |which: u32| {
            let part = part(which);
            self.clauses.iter().all(|clause| clause.is_met_by(&part))
        };
        !(0..all).any(may_fail)
    }

    /// The distinct sets of labels that carried an execution to success, the
    /// latest first.
    pub(super) fn alive(&self) -> Vec<&Set> {
        let mut distinct: Vec<&Set> = Vec::new();
        for success in self.successes.iter().rev() {
            if !distinct.contains(&&success.alive) {
                distinct.push(&success.alive);
            }
        }
        distinct
    }

    /// How often a path that had succeeded did not, with none of its calls failing.
    pub(super) fn contradictions(&self) -> usize {
        self.contradictions
    }

    /// The labels known to have no other spots than those seen.
    pub(super) fn exhausted(&self) -> &Set {
        &self.exhausted
    }

    pub(super) fn was_run(&self, set: &Set) -> bool {
        self.run.contains(set)
    }

    /// Whether any execution succeeded.
    pub(super) fn any_success(&self) -> bool {
        !self.successes.is_empty()
    }
}

/// For each call, whether a fault was injected anywhere below it.
fn injected_below(trace: &Trace) -> Vec<bool> {
    let mut below = vec![false; trace.calls().len()];
    for id in trace.ids() {
        if trace.call(id).injected.is_some() {
            for CallId(above) in trace.ancestors(id) {
                below[above as usize] = true;
            }
        }
    }
    below
}
