//! Short names for points and faults.
//!
//! Owns what may be left out. Hashes of payloads and lists of predecessors
//! are noise to a reader; a name without them is used wherever it still means
//! one point only, so that it can be given back to Murphy.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use murphy_model::{
    Attempts, CallId, Fault, Faultload, Finding, Frame, Pattern, Point, Target, Trace,
};

use crate::redact;

/// Digits of a payload's hash that distinguish two calls. A target of a fault may
/// be written with so many, so what is printed can be given back.
const HASH_DIGITS: usize = 8;

/// Short names for points that are known.
pub(super) struct Labels {
    known: BTreeSet<Point>,
    /// Full and short texts that differ, longest first.
    shorter: Vec<(String, String)>,
    /// What was found out before: the same calls are in many findings.
    short: RefCell<HashMap<Point, Point>>,
}

impl Labels {
    /// For these points and those they are made from.
    pub(super) fn new(points: &[Point]) -> Self {
        let ancestors = points.iter().flat_map(Point::ancestors);
        let mut labels = Labels {
            known: points.iter().chain(ancestors).cloned().collect(),
            shorter: Vec::new(),
            short: RefCell::default(),
        };
        let known = labels.known.iter();
        let texts = known.map(|point| (point.to_string(), labels.point(point)));
        labels.shorter = texts.filter(|(full, short)| full != short).collect();
        let longest_first = |(full, _): &(String, String)| std::cmp::Reverse(full.len());
        labels.shorter.sort_by_key(longest_first);
        labels
    }

    /// A sentence with the points in it named shortly.
    pub(super) fn sentence(&self, text: &str) -> String {
        let shorten = |text: String, (full, short): &(String, String)| text.replace(full, short);
        self.shorter.iter().fold(text.to_owned(), shorten)
    }

    /// The shortest text that means this fault and no other.
    pub(super) fn fault(&self, fault: &Fault) -> String {
        format!("{} = {}", self.target(&fault.target), fault.mode)
    }

    /// The shortest text that means this faultload and no other.
    pub(super) fn faultload(&self, faultload: &Faultload) -> String {
        let faults: Vec<String> = faultload.faults().map(|fault| self.fault(&fault)).collect();
        match faults.is_empty() {
            true => faultload.to_string(),
            false => faults.join(", "),
        }
    }

    /// The shortest text that means this point and no other.
    pub(super) fn point(&self, point: &Point) -> String {
        short(&Target::Call(self.unless_ambiguous(point)))
    }

    fn target(&self, target: &Target) -> String {
        match target {
            Target::Call(point) => short(&Target::Call(self.unless_ambiguous(point))),
            Target::Every(point) => short(&Target::Every(self.unless_ambiguous(point))),
            Target::Matching(_) => target.to_string(),
        }
    }

    /// The point with as much left out as leaves it the only one that fits.
    fn unless_ambiguous(&self, point: &Point) -> Point {
        if let Some(short) = self.short.borrow().get(point) {
            return short.clone();
        }
        let short = self.shortest(point);
        let mut known = self.short.borrow_mut();
        known.insert(point.clone(), short.clone());
        short
    }

    fn shortest(&self, point: &Point) -> Point {
        let only_fit = |written: &Point| {
            let mut fitting = self.known.iter().filter(|known| fits(written, known));
            fitting.all(|known| known == point)
        };
        let shorter = [bare_point(point), bare_above(point)];
        shorter.into_iter().find(only_fit).unwrap_or(point.clone())
    }
}

/// Whether what was written may mean a known point: what it leaves out is not
/// looked at. This is how `murphy explain` reads points.
fn fits(written: &Point, known: &Point) -> bool {
    fn agree<T: PartialEq>(written: &Option<T>, known: &Option<T>) -> bool {
        written.is_none() || written == known
    }
    let frame_fits = |(w, k): (&Frame, &Frame)| {
        bare_frame(w) == bare_frame(k)
            && agree(&w.payload, &k.payload)
            && agree(&w.predecessors, &k.predecessors)
            && agree(&w.site, &k.site)
    };
    let (written_frames, known_frames) = (written.frames(), known.frames());
    written.depth() == known.depth() && written_frames.into_iter().zip(known_frames).all(frame_fits)
}

/// A target with the beginning of every payload's hash, which means the same.
fn short(target: &Target) -> String {
    let mut pattern = match target {
        Target::Call(point) | Target::Every(point) => Pattern::from(point),
        Target::Matching(pattern) => Pattern::clone(pattern),
    };
    for frame in &mut pattern.frames {
        let digits = frame.payload.as_deref();
        let cut = digits.map(|digits| &digits[..digits.len().min(HASH_DIGITS)]);
        frame.payload = cut.map(Into::into);
    }
    if let (Target::Every(_), Some(last)) = (target, pattern.frames.last_mut()) {
        last.count = Attempts::Any;
    }
    Target::Matching(pattern).to_string()
}

/// A fault as a person reads it: with as much of a payload's hash as
/// identifies its call.
pub fn fault_text(fault: &Fault) -> String {
    format!("{} = {}", short(&fault.target), fault.mode)
}

/// A faultload, likewise.
pub fn faultload_text(faultload: &Faultload) -> String {
    let faults: Vec<String> = faultload.faults().map(|fault| fault_text(&fault)).collect();
    match faults.is_empty() {
        true => faultload.to_string(),
        false => faults.join(", "),
    }
}

/// A point, likewise.
pub fn point_text(point: &Point) -> String {
    short(&Target::Call(point.clone()))
}

/// Names for the calls of one execution, with the queries that they were made
/// with where these are known.
pub struct CallNames<'t> {
    trace: &'t Trace,
    queries: &'t [String],
}

impl<'t> CallNames<'t> {
    /// For a trace, and the queries of its calls in the same order; empty where
    /// they are not known.
    pub fn new(trace: &'t Trace, queries: &'t [String]) -> Self {
        CallNames { trace, queries }
    }

    /// The call, as its caller's siblings see it.
    pub fn call(&self, id: CallId) -> String {
        let parent = self.trace.call(id).parent;
        let ids: Vec<CallId> = self.trace.children(parent).collect();
        let at = ids.iter().position(|other| *other == id);
        let names = self.siblings(&ids);
        at.map_or_else(String::new, |at| names[at].clone())
    }

    /// The call, with those that led to it.
    pub fn path(&self, id: CallId) -> String {
        let mut names: Vec<String> = self.trace.ancestors(id).map(|it| self.call(it)).collect();
        names.reverse();
        names.push(self.call(id));
        names.join(" > ")
    }

    /// Names for calls of one caller: bare, with their queries, and with the
    /// beginning of the payload's hash where two would otherwise look the same.
    pub(super) fn siblings(&self, ids: &[CallId]) -> Vec<String> {
        let frames = ids.iter().map(|id| self.trace.call(*id).point.frame());
        let frames: Vec<&Frame> = frames.collect();
        let queried: Vec<String> = ids.iter().map(|id| self.queried(*id)).collect();
        named(&frames, &queried)
    }

    /// The call with its query, where that is what identifies it.
    fn queried(&self, id: CallId) -> String {
        let frame = self.trace.call(id).point.frame();
        let query = self.queries.get(id.0 as usize).map_or("", String::as_str);
        if frame.payload.is_none() || query.is_empty() {
            return bare_frame(frame).to_string();
        }
        let count = match frame.count {
            1 => String::new(),
            count => format!(" #{count}"),
        };
        let first = bare_frame(frame).nth(1);
        format!("{first}?{}{count}", redact::owned(query))
    }
}

/// Names for calls of one caller: bare, with the beginning of the payload's hash
/// where two would otherwise look the same.
pub(super) fn siblings(frames: &[&Frame]) -> Vec<String> {
    let bare: Vec<String> = frames.iter().map(|it| bare_frame(it).to_string()).collect();
    named(frames, &bare)
}

fn named(frames: &[&Frame], names: &[String]) -> Vec<String> {
    let twice = |wanted: &str| names.iter().filter(|name| *name == wanted).count() > 1;
    let label = |(frame, name): (&&Frame, &String)| match frame.payload {
        Some(hash) if twice(name) => {
            let digits = hash.to_string();
            format!("{name} {{body={}}}", &digits[..HASH_DIGITS])
        }
        _ => name.clone(),
    };
    frames.iter().zip(names).map(label).collect()
}

/// The call that a finding is about, by the names of services and what they are
/// asked for: the one to blame, or else those that are injected.
pub fn call_of(finding: &Finding) -> String {
    match &finding.edge {
        Some(edge) => bare_point(edge).to_string(),
        None => {
            let calls = finding.faultload.iter().map(|(target, _)| match target {
                Target::Call(point) | Target::Every(point) => bare_point(point).to_string(),
                Target::Matching(_) => target.to_string(),
            });
            calls.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The frame without payload, predecessors and call site.
pub(super) fn bare_frame(frame: &Frame) -> Frame {
    Frame::new(&frame.destination, frame.interface.clone()).nth(frame.count)
}

/// The point as calls look that differ in nothing but their history.
pub(super) fn without_predecessors(point: &Point) -> Point {
    let frames = point.frames().into_iter().map(|frame| Frame {
        predecessors: None,
        ..frame.clone()
    });
    Point::from_frames(frames).expect("a point has frames")
}

/// The point with only its last frame in full.
fn bare_above(point: &Point) -> Point {
    match point.parent() {
        Some(parent) => bare_point(parent).child(point.frame().clone()),
        None => point.clone(),
    }
}

fn bare_point(point: &Point) -> Point {
    let frames = point.frames().into_iter().map(bare_frame);
    Point::from_frames(frames).expect("a point has frames")
}

#[cfg(test)]
mod tests {
    use murphy_model::Call;

    use super::*;

    fn point(text: &str) -> Point {
        text.parse().unwrap()
    }

    #[test]
    fn payloads_are_left_out_unless_they_distinguish_points() {
        let (one, two) = ("1".repeat(32), "2".repeat(32));
        let first = point(&format!("a GET / {{body={one}}} > b GET / {{body={one}}}"));
        let second = point(&format!("a GET / {{body={one}}} > b GET / {{body={two}}}"));
        let alone = Labels::new(std::slice::from_ref(&first));
        assert_eq!(alone.point(&first), "a GET / > b GET /");
        let both = Labels::new(&[first.clone(), second.clone()]);
        assert_eq!(both.point(&first), "a GET / > b GET / {body=11111111}");
        let fault: Fault = format!("{first} = 503").parse().unwrap();
        let written: Fault = both.fault(&fault).parse().unwrap();
        let Target::Matching(meant) = written.target else {
            panic!("a hash that is cut short is a pattern");
        };
        assert!(meant.matches(&first) && !meant.matches(&second));
        assert!(
            !meant.matches(&point(&format!("{first} #2"))),
            "the first attempt alone"
        );
        assert_eq!(
            both.sentence(&format!("`{second}` fails")),
            format!("`{}` fails", both.point(&second))
        );
        assert_eq!(
            siblings(&[first.frame(), second.frame()]),
            ["b GET / {body=11111111}", "b GET / {body=22222222}"]
        );
    }

    #[test]
    fn queries_are_shown_as_queries() {
        let (one, two) = ("1".repeat(32), "2".repeat(32));
        let call = |text: String, parent: Option<u32>| Call {
            point: point(&text),
            parent: parent.map(CallId),
            arrived: 0,
            finished: None,
            reply: None,
            injected: None,
            body: None,
        };
        let trace = Trace::new(vec![
            call("a GET /".to_owned(), None),
            call(format!("a GET / > b GET /p {{body={one}}}"), Some(0)),
            call(format!("a GET / > b GET /p {{body={two}}}"), Some(0)),
        ]);
        let queries = ["", "sku=1&token=s3cret", "sku=2"].map(str::to_owned);
        let names = CallNames::new(&trace, &queries);
        assert_eq!(names.path(CallId(2)), "a GET / > b GET /p?sku=2");
        assert_eq!(names.call(CallId(1)), "b GET /p?sku=1&token=[redacted]");
        let unknown = CallNames::new(&trace, &[]);
        assert_eq!(unknown.call(CallId(1)), "b GET /p {body=11111111}");
    }
}
