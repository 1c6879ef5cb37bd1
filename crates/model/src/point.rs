//! A point: the stable identity of a call across executions.
//!
//! Owns the shape of an identity, a chain of frames from the entry call to the
//! call itself. Computing one from a request is [`crate::identity`]'s job;
//! matching many with one expression is [`crate::Pattern`]'s.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::{Interface, PayloadHash};

/// One link of a [`Point`]: a call as its caller's siblings see it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The service the call is sent to.
    pub destination: Arc<str>,
    /// What it asks for.
    pub interface: Interface,
    /// What it sends; `None` when nothing is sent or payloads are not looked at.
    pub payload: Option<PayloadHash>,
    /// What its caller had completed before; `None` when not looked at.
    pub predecessors: Option<Predecessors>,
    /// Where in the caller's code it was made, when a client library says so.
    pub site: Option<Arc<str>>,
    /// 1 for the first call with everything above equal, 2 for the second, …
    pub count: u32,
}

impl Frame {
    /// A first call without payload, predecessors or call site.
    pub fn new(destination: &str, interface: Interface) -> Self {
        Frame {
            destination: destination.into(),
            interface,
            payload: None,
            predecessors: None,
            site: None,
            count: 1,
        }
    }

    /// The same frame as its `count`-th occurrence.
    pub fn nth(self, count: u32) -> Self {
        Frame { count, ..self }
    }

    /// Whether both are attempts of one call: equal but for the count.
    pub fn same_call(&self, other: &Frame) -> bool {
        self.destination == other.destination
            && self.interface == other.interface
            && self.payload == other.payload
            && self.predecessors == other.predecessors
            && self.site == other.site
    }
}

impl Frame {
    fn hash_but_for_count(&self, state: &mut impl Hasher) {
        self.destination.hash(state);
        self.interface.hash(state);
        self.payload.hash(state);
        self.predecessors.hash(state);
        self.site.hash(state);
    }
}

/// The completed siblings of a call, each with its highest count.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predecessors(pub Arc<BTreeMap<Sibling, u32>>);

/// What identifies a completed sibling: as a [`Frame`], without its history.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sibling {
    /// The service that was called.
    pub destination: Arc<str>,
    /// What it was asked for.
    pub interface: Interface,
    /// What it was sent.
    pub payload: Option<PayloadHash>,
}

/// The chain of frames from the entry call (first) to this call (last).
///
/// Cheap to clone and to extend: children share their parent's frames. Never
/// empty. Ordered by frames, so that sets of points print the same everywhere.
#[derive(Clone)]
pub struct Point(Arc<Node>);

struct Node {
    parent: Option<Point>,
    frame: Frame,
    depth: usize,
    /// Of everything but the last count.
    same_call: u64,
}

impl Node {
    fn hash(&self) -> u64 {
        // An odd factor moves different counts to different hashes.
        let count = u64::from(self.frame.count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.same_call ^ count
    }
}

impl Point {
    /// An entry point: a call that nothing observed has caused.
    pub fn entry(frame: Frame) -> Self {
        Self::link(None, frame)
    }

    /// The point of a call made while serving the call at `self`.
    pub fn child(&self, frame: Frame) -> Self {
        Self::link(Some(self.clone()), frame)
    }

    /// A point from its frames, entry call first; `None` if there are none.
    pub fn from_frames(frames: impl IntoIterator<Item = Frame>) -> Option<Self> {
        frames
            .into_iter()
            .fold(None, |parent, frame| Some(Self::link(parent, frame)))
    }

    fn link(parent: Option<Point>, frame: Frame) -> Self {
        // Points are made for every call on the wire: the hash must be cheap.
        let mut hasher = FxHasher::default();
        parent.as_ref().map(|p| p.0.hash()).hash(&mut hasher);
        frame.hash_but_for_count(&mut hasher);
        let depth = parent.as_ref().map_or(1, |p| p.0.depth + 1);
        Point(Arc::new(Node {
            same_call: hasher.finish(),
            parent,
            frame,
            depth,
        }))
    }

    /// The call itself: the last frame of the chain.
    pub fn frame(&self) -> &Frame {
        &self.0.frame
    }

    /// The call this one was made from; `None` for an entry call.
    pub fn parent(&self) -> Option<&Point> {
        self.0.parent.as_ref()
    }

    /// How many frames the chain has; 1 for an entry call.
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// All frames, entry call first.
    pub fn frames(&self) -> Vec<&Frame> {
        let mut frames: Vec<&Frame> = self.and_above().map(Point::frame).collect();
        frames.reverse();
        frames
    }

    /// The points this call was made under, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &Point> {
        self.and_above().skip(1)
    }

    fn and_above(&self) -> impl Iterator<Item = &Point> {
        std::iter::successors(Some(self), |point| point.parent())
    }

    /// The same chain with the last frame at another count.
    pub fn with_count(&self, count: u32) -> Self {
        Point(Arc::new(Node {
            parent: self.0.parent.clone(),
            frame: self.0.frame.clone().nth(count),
            depth: self.0.depth,
            same_call: self.0.same_call,
        }))
    }

    /// The same, without a copy where that is its count already.
    pub fn attempt(&self, count: u32) -> Self {
        match count == self.frame().count {
            true => self.clone(),
            false => self.with_count(count),
        }
    }

    /// The same chain with every frame at its first count: the call, whichever
    /// attempts led to it.
    pub fn first_attempts(&self) -> Self {
        if self.and_above().all(|point| point.frame().count == 1) {
            return self.clone();
        }
        let frame = self.frame().clone().nth(1);
        Self::link(self.parent().map(Point::first_attempts), frame)
    }

    /// The same chain without what went before each call: the place in the
    /// system, however it was reached.
    pub fn without_predecessors(&self) -> Self {
        let frame = Frame {
            predecessors: None,
            ..self.0.frame.clone()
        };
        Self::link(self.parent().map(Point::without_predecessors), frame)
    }

    /// Whether both are attempts of one call: equal but for the last count.
    pub fn same_call(&self, other: &Point) -> bool {
        self.0.parent == other.0.parent && self.0.frame.same_call(&other.0.frame)
    }

    /// Whether both are the same but for what was sent and for counts, at every
    /// level of the chain.
    pub fn same_but_for_payloads(&self, other: &Point) -> bool {
        let same = |(a, b): (&Point, &Point)| {
            let (a, b) = (a.frame(), b.frame());
            a.destination == b.destination && a.interface == b.interface && a.site == b.site
        };
        self.depth() == other.depth() && self.and_above().zip(other.and_above()).all(same)
    }

    /// Whether both are the same but for counts, at every level of the chain.
    pub fn same_but_for_counts(&self, other: &Point) -> bool {
        self.depth() == other.depth()
            && self
                .and_above()
                .zip(other.and_above())
                .all(|(a, b)| a.frame().same_call(b.frame()))
    }
}

/// A call whatever its count: what is equal are the attempts of one call.
#[derive(Clone, Debug)]
pub(crate) struct AnyCount(pub(crate) Point);

impl PartialEq for AnyCount {
    fn eq(&self, AnyCount(other): &Self) -> bool {
        self.0.0.same_call == other.0.same_call && self.0.same_call(other)
    }
}

impl Eq for AnyCount {}

impl Hash for AnyCount {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.0.same_call);
    }
}

/// The text form: the chain of nodes behind it says nothing to a reader.
impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{self}`")
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.same_call == other.0.same_call
                && self.0.frame == other.0.frame
                && self.0.parent == other.0.parent)
    }
}

impl Eq for Point {}

impl Hash for Point {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash());
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        match (self.parent(), other.parent()) {
            _ if self.depth() == other.depth() => self
                .parent()
                .cmp(&other.parent())
                .then_with(|| self.frame().cmp(other.frame())),
            (Some(parent), _) if self.depth() > other.depth() => {
                parent.cmp(other).then(Ordering::Greater)
            }
            (_, Some(parent)) => self.cmp(parent).then(Ordering::Less),
            (_, None) => unreachable!("only the deeper point has more ancestors"),
        }
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str) -> Frame {
        Frame::new(name, Interface::http("GET", "/"))
    }

    #[test]
    fn equal_chains_are_equal_however_they_were_built() {
        let built = Point::entry(frame("a")).child(frame("b"));
        let listed = Point::from_frames([frame("a"), frame("b")]).unwrap();
        assert_eq!(built, listed);
        assert_ne!(built, Point::entry(frame("b")));
        assert_eq!(built.depth(), 2);
        assert!(Point::from_frames([]).is_none());
    }

    #[test]
    fn attempts_differ_in_their_last_count_only() {
        let entry = Point::entry(frame("a"));
        let (first, second) = (entry.child(frame("b")), entry.child(frame("b").nth(2)));
        assert!(first.same_call(&second));
        assert_eq!(first.with_count(2), second);
        let below_retry = second.child(frame("c"));
        assert!(!below_retry.same_call(&first.child(frame("c"))));
        assert!(below_retry.same_but_for_counts(&first.child(frame("c"))));
    }

    #[test]
    fn order_is_by_frames_from_the_entry() {
        let a = Point::entry(frame("a"));
        let mut points = vec![Point::entry(frame("b")), a.child(frame("z")), a.clone()];
        points.sort();
        assert_eq!(
            points,
            [a.clone(), a.child(frame("z")), Point::entry(frame("b"))]
        );
    }
}
