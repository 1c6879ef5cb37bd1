//! The decisions of one service while it serves one point.
//!
//! A service that keeps no state decides on its next call by the replies it
//! has had so far, so its behaviour is a tree: nodes are what it has seen,
//! edges are replies, leaves are its answer. Owns that tree for one caller:
//! what was observed, what contradicts what, and which branches are open.
//!
//! Everything published about inclusion, exclusion and propagation is a way of
//! reading this tree: a call that only some branches hold is included by the
//! replies on them; one that some branches lack is excluded; a leaf with a
//! failed answer is a propagated failure.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::catalogue::{FaultKey, FaultSet, PointId};

use super::bodies::BodyClass;
use super::observation::{Answer, Label, Observation};
use super::order::{CallOrder, Item, OrderNews, Replies};

/// One call on a path, with what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) child: PointId,
    pub(crate) label: Label,
    story: u64,
    organic: bool,
    item: Item,
    /// The faults that were injected it or anything below it.
    injected: FaultSet,
}

/// What one execution showed of the service: its calls and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) steps: Vec<Step>,
    /// The answer; `None` where a fault hid it.
    answer: Option<Answer>,
    /// The faults that were injected before the service's first call.
    before: FaultSet,
    /// All its replies, where their order is in question.
    replies: Replies,
    execution: usize,
}

impl Path {
    /// The path a caller took: the call at `caller`, or the scenario.
    pub(crate) fn of(observation: &Observation, caller: Option<usize>, execution: usize) -> Self {
        let (children, answer) = match caller {
            Some(index) => {
                let call = &observation.calls[index];
                (&call.children, call.answer)
            }
            None => (&observation.entries, Some(Answer::default())),
        };
        let step = |index: &usize| {
            let call = &observation.calls[*index];
            Step {
                child: call.point,
                label: call.label,
                story: call.story,
                organic: call.injected.is_none(),
                item: call.item,
                injected: observation.injected_at(*index),
            }
        };
        Path {
            steps: children.iter().map(step).collect(),
            answer,
            before: match children.first() {
                Some(first) => observation.injected_before(*first),
                None => FaultSet::default(),
            },
            replies: Replies::default(),
            execution,
        }
    }

    /// The calls, in order of arrival.
    fn items(&self) -> Vec<Item> {
        let mut items: Vec<Item> = self.steps.iter().map(|step| step.item).collect();
        items.sort_by_key(|item| item.arrived);
        items
    }

    /// Puts the calls in the order in which they are now known to come; says
    /// whether that is another one.
    fn reorder(&mut self, order: &mut CallOrder) -> bool {
        let items = self.items();
        self.replies = order.replies(&items);
        let arranged = order.arrange(&items);
        let arrivals = arranged.iter().map(|index| items[*index].arrived);
        if self.steps.iter().map(|step| step.item.arrived).eq(arrivals) {
            return false;
        }
        self.steps.sort_by_key(|step| step.item.arrived);
        self.steps = arranged
            .iter()
            .map(|index| self.steps[*index].clone())
            .collect();
        true
    }

    /// Whether a call was freed that this path holds.
    fn concerns(&self, freed: &[(PointId, Replies)]) -> bool {
        freed.iter().any(|(point, enough)| {
            enough.is_subset(&self.replies) && self.steps.iter().any(|step| step.child == *point)
        })
    }

    /// Everything about the path but the execution that showed it.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.answer, self.circumstances()).hash(&mut hasher);
        hasher.finish()
    }

    /// The calls with their replies and how those came about.
    fn circumstances(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let key = |step: &Step| (step.child, step.label, step.story);
        let mut calls: Vec<_> = self.steps.iter().map(key).collect();
        calls.sort_unstable();
        calls.hash(&mut hasher);
        hasher.finish()
    }

    /// The circumstances and the status of the answer, with the answer itself:
    /// what must be equal for its body to be equal.
    fn cause_of_answer(&self) -> Option<(u64, Answer)> {
        let answer = self.answer?;
        let mut hasher = DefaultHasher::new();
        (answer.reply, self.circumstances()).hash(&mut hasher);
        Some((hasher.finish(), answer))
    }

    /// Leaves the bodies of these calls' answers out, and of its own answer.
    fn forget_bodies(&mut self, own: bool, of: &dyn Fn(PointId) -> bool) {
        if let (true, Some(answer)) = (own, &mut self.answer) {
            answer.body = BodyClass::BASE;
        }
        for step in self.steps.iter_mut().filter(|step| of(step.child)) {
            step.label = step.label.without_body();
            step.item.label = step.label;
        }
    }
}

/// The number of a node of a [`Decisions`] tree.
pub(crate) type NodeId = usize;

/// What identifies an edge: the reply, and how it came about if that matters.
type EdgeKey = (Label, u64);

/// A reply that was seen, and what it led to.
#[derive(Debug)]
pub(crate) struct Edge {
    key: EdgeKey,
    pub(crate) to: NodeId,
    /// The first execution that took it.
    pub(crate) execution: usize,
    /// Whether the callee itself gave this reply then.
    pub(crate) organic: bool,
}

impl Edge {
    /// The reply.
    pub(crate) fn label(&self) -> Label {
        self.key.0
    }
}

/// A call that was made at a node.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) child: PointId,
    /// Faults that lead here.
    pub(crate) driver: FaultSet,
    pub(crate) edges: Vec<Edge>,
    execution: usize,
}

/// The end of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) answer: Option<Answer>,
    pub(crate) execution: usize,
}

/// What a service had seen, and what it did then.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The call made next. More than one only where calls overlap and
    /// schedules differ, or where observations contradict each other.
    pub(crate) choices: Vec<Choice>,
    pub(crate) leaf: Option<Leaf>,
}

/// How a path fits what was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It agrees.
    Agrees,
    /// The same replies led elsewhere before, but they had come about
    /// differently: from now on that is looked at.
    Unexplained { earlier: usize },
    /// The very same circumstances led elsewhere before.
    Contradicts { earlier: usize },
}

/// All that is known of one service while it serves one point.
#[derive(Debug)]
pub(crate) struct Decisions {
    nodes: Vec<Node>,
    paths: Vec<Path>,
    fingerprints: HashSet<u64>,
    /// The body of the answer by what brought it about, and an execution that
    /// showed it.
    bodies: HashMap<u64, (BodyClass, usize)>,
    /// Whether two calls were seen to come next at some node.
    alternatives: bool,
    /// Whether equal replies with different stories are distinguished.
    pub(crate) precise: bool,
    /// Whether the service contradicted itself.
    pub(crate) disputed: bool,
}

impl Default for Decisions {
    fn default() -> Self {
        Decisions {
            nodes: vec![Node::default()],
            paths: Vec::new(),
            fingerprints: HashSet::new(),
            bodies: HashMap::new(),
            alternatives: false,
            precise: false,
            disputed: false,
        }
    }
}

impl Decisions {
    pub(crate) const ROOT: NodeId = 0;

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// All calls made at any node.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &Choice> {
        self.nodes.iter().flat_map(|node| &node.choices)
    }

    /// Whether the service was ever seen running.
    pub(crate) fn is_known(&self) -> bool {
        !self.paths.is_empty()
    }

    /// The edge of a choice for a reply with this story.
    pub(crate) fn edge<'c>(
        &self,
        choice: &'c Choice,
        label: Label,
        story: u64,
    ) -> Option<&'c Edge> {
        let key = self.key(label, story);
        choice.edges.iter().find(|edge| edge.key == key)
    }

    fn key(&self, label: Label, story: u64) -> EdgeKey {
        (label, if self.precise { story } else { 0 })
    }

    /// Takes a path in. Says how it fits and which of its calls were made at
    /// a node where they had not been seen before.
    pub(crate) fn learn(&mut self, mut path: Path, order: &mut CallOrder) -> (Fit, Vec<usize>) {
        if !self.fingerprints.insert(path.fingerprint()) && !self.disputed {
            return (Fit::Agrees, Vec::new());
        }
        self.note_body(&path);
        path.replies = order.replies(&path.items());
        let fit = self.fit(&path);
        let rebuilt = matches!(fit, Fit::Unexplained { .. });
        if matches!(fit, Fit::Contradicts { .. }) {
            self.disputed = true;
        }
        let fresh = self.insert(&path);
        self.paths.push(path);
        let all = 0..self.paths.last().map_or(0, |path| path.steps.len());
        // After a rebuild every branch may be open again.
        (fit, if rebuilt { all.collect() } else { fresh })
    }

    fn note_body(&mut self, path: &Path) {
        if let Some((cause, answer)) = path.cause_of_answer() {
            let body = (answer.body, path.execution);
            self.bodies.entry(cause).or_insert(body);
        }
    }

    /// An earlier execution in which the very same circumstances brought about
    /// another body: it varies by itself.
    pub(crate) fn other_body(&self, path: &Path) -> Option<usize> {
        let (cause, answer) = path.cause_of_answer()?;
        let (body, execution) = self.bodies.get(&cause)?;
        (*body != answer.body).then_some(*execution)
    }

    /// Leaves the bodies of these calls' answers out of everything that is
    /// known, and those of the service's own answers if they are meant too.
    pub(crate) fn forget_bodies(
        &mut self,
        own: bool,
        of: &dyn Fn(PointId) -> bool,
        order: &mut CallOrder,
    ) {
        let mut paths = std::mem::take(&mut self.paths);
        self.bodies.clear();
        self.fingerprints.clear();
        for path in &mut paths {
            path.forget_bodies(own, of);
            self.note_body(path);
            self.fingerprints.insert(path.fingerprint());
        }
        self.paths = paths;
        order.start_over();
        self.reorder(order, &OrderNews::Concurrent);
        self.rebuild(self.precise);
    }

    /// Compares a path with what is known, distinguishing replies more finely
    /// if only that reconciles them.
    fn fit(&mut self, path: &Path) -> Fit {
        let Some(earlier) = self.conflict(path) else {
            return Fit::Agrees;
        };
        if self.disputed {
            return Fit::Contradicts { earlier };
        }
        if self.precise {
            // Distinguishing replies has not helped.
            self.rebuild(false);
            return Fit::Contradicts { earlier };
        }
        if self.agreement(path) == 0 {
            // There was no reply yet that could have made the difference.
            return Fit::Contradicts { earlier };
        }
        self.rebuild(true);
        match self.conflict(path) {
            None => Fit::Unexplained { earlier },
            Some(earlier) => {
                self.rebuild(false);
                Fit::Contradicts { earlier }
            }
        }
    }

    /// Whether two calls were seen to come next at the same node: a sign that
    /// they are made side by side, unless the service contradicted itself.
    pub(crate) fn has_alternatives(&self) -> bool {
        !self.disputed && self.alternatives
    }

    /// Puts the calls of all paths in the order in which they are now known to
    /// come; says whether that changed anything.
    pub(crate) fn reorder(&mut self, order: &mut CallOrder, news: &OrderNews) -> bool {
        let changed = match news {
            OrderNews::Nothing => false,
            OrderNews::Concurrent => {
                for path in &self.paths {
                    order.learn(&path.items());
                }
                self.reorder_paths(order, |_| true)
            }
            OrderNews::Freed(freed) => self.reorder_paths(order, |path| path.concerns(freed)),
        };
        if changed {
            self.rebuild(self.precise);
        }
        changed
    }

    fn reorder_paths(&mut self, order: &mut CallOrder, which: impl Fn(&Path) -> bool) -> bool {
        let mut changed = false;
        for path in self.paths.iter_mut().filter(|path| which(path)) {
            changed |= path.reorder(order);
        }
        changed
    }

    fn rebuild(&mut self, precise: bool) {
        self.precise = precise;
        self.alternatives = false;
        self.nodes = vec![Node::default()];
        for path in std::mem::take(&mut self.paths) {
            self.insert(&path);
            self.paths.push(path);
        }
    }

    /// How many calls of a path go as known before it parts from all others.
    fn agreement(&self, path: &Path) -> usize {
        let mut node = Self::ROOT;
        for (index, step) in path.steps.iter().enumerate() {
            let choices = &self.node(node).choices;
            let known = choices.iter().find(|choice| choice.child == step.child);
            match known.and_then(|choice| self.edge(choice, step.label, step.story)) {
                Some(edge) => node = edge.to,
                None => return index,
            }
        }
        path.steps.len()
    }

    /// An earlier execution that had the same replies and yet did otherwise.
    fn conflict(&self, path: &Path) -> Option<usize> {
        self.conflict_from(Self::ROOT, path, &mut vec![false; path.steps.len()])
    }

    fn conflict_from(&self, node: NodeId, path: &Path, used: &mut [bool]) -> Option<usize> {
        let node = self.node(node);
        let rest = used.iter().filter(|used| !**used).count();
        if let Some(leaf) = node.leaf {
            let differs = match (leaf.answer, path.answer) {
                (Some(known), Some(now)) => known != now,
                _ => false,
            };
            if rest > 0 || differs {
                return Some(leaf.execution);
            }
        }
        for choice in &node.choices {
            let same = |i: &usize| !used[*i] && path.steps[*i].child == choice.child;
            let Some(index) = (0..used.len()).find(same) else {
                return Some(choice.execution);
            };
            let step = &path.steps[index];
            if let Some(edge) = self.edge(choice, step.label, step.story) {
                used[index] = true;
                let conflict = self.conflict_from(edge.to, path, used);
                used[index] = false;
                if conflict.is_some() {
                    return conflict;
                }
            }
        }
        None
    }

    fn insert(&mut self, path: &Path) -> Vec<usize> {
        let mut node = Self::ROOT;
        let mut fresh = Vec::new();
        let mut before = path.before.keys().to_vec();
        for (index, step) in path.steps.iter().enumerate() {
            let (choice, is_new) = self.choice(node, step, &before, path.execution);
            if is_new {
                fresh.push(index);
            }
            node = self.follow(node, choice, step, path.execution);
            before.extend_from_slice(step.injected.keys());
        }
        let leaf = self.nodes[node].leaf.get_or_insert(Leaf {
            answer: path.answer,
            execution: path.execution,
        });
        leaf.answer = leaf.answer.or(path.answer);
        fresh
    }

    fn choice(
        &mut self,
        node: NodeId,
        step: &Step,
        before: &[FaultKey],
        execution: usize,
    ) -> (usize, bool) {
        let choices = &mut self.nodes[node].choices;
        if let Some(known) = choices.iter().position(|c| c.child == step.child) {
            return (known, false);
        }
        choices.push(Choice {
            child: step.child,
            driver: FaultSet::new(before.to_vec()),
            edges: Vec::new(),
            execution,
        });
        self.alternatives |= choices.len() > 1;
        (choices.len() - 1, true)
    }

    fn follow(&mut self, node: NodeId, choice: usize, step: &Step, execution: usize) -> NodeId {
        let key = self.key(step.label, step.story);
        let edges = &self.nodes[node].choices[choice].edges;
        if let Some(edge) = edges.iter().find(|edge| edge.key == key) {
            return edge.to;
        }
        let to = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[node].choices[choice].edges.push(Edge {
            key,
            to,
            execution,
            organic: step.organic,
        });
        to
    }
}
