//! Short names for points and faults.
//!
//! Owns what may be left out. Hashes of payloads and lists of predecessors
//! are noise to a reader; a name without them is used wherever it still means
//! one point only, so that it can be given back to Murphy.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use murphy_model::{Fault, Faultload, Finding, Frame, Point, Target};

/// Digits of a payload's hash that tell two calls apart.
const HASH_DIGITS: usize = 6;

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
        self.unless_ambiguous(point).to_string()
    }

    fn target(&self, target: &Target) -> String {
        match target {
            Target::Call(point) => Target::Call(self.unless_ambiguous(point)).to_string(),
            Target::Every(point) => Target::Every(self.unless_ambiguous(point)).to_string(),
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

/// Names for the calls made by one caller: bare, with the beginning of the
/// payload's hash where two would otherwise look the same.
pub(super) fn siblings(frames: &[&Frame]) -> Vec<String> {
    let bare: Vec<Frame> = frames.iter().map(|frame| bare_frame(frame)).collect();
    let twice = |wanted: &Frame| bare.iter().filter(|frame| *frame == wanted).count() > 1;
    let label = |(frame, bare): (&&Frame, &Frame)| match frame.payload {
        Some(hash) if twice(bare) => {
            let digits = hash.to_string();
            format!("{bare} {{body={}}}", &digits[..HASH_DIGITS])
        }
        _ => bare.to_string(),
    };
    frames.iter().zip(&bare).map(label).collect()
}

/// The call that a finding is about, by the names of services and what they are
/// asked for: the one to blame, or else those that are made to fail.
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
    use super::*;

    fn point(text: &str) -> Point {
        text.parse().unwrap()
    }

    #[test]
    fn payloads_are_left_out_unless_they_tell_points_apart() {
        let (one, two) = ("1".repeat(32), "2".repeat(32));
        let first = point(&format!("a GET / {{body={one}}} > b GET / {{body={one}}}"));
        let second = point(&format!("a GET / {{body={one}}} > b GET / {{body={two}}}"));
        let alone = Labels::new(std::slice::from_ref(&first));
        assert_eq!(alone.point(&first), "a GET / > b GET /");
        let both = Labels::new(&[first.clone(), second.clone()]);
        assert_eq!(
            both.point(&first),
            format!("a GET / > b GET / {{body={one}}}")
        );
        assert_eq!(
            both.sentence(&format!("`{second}` fails")),
            format!("`{}` fails", both.point(&second))
        );
        assert_eq!(
            siblings(&[first.frame(), second.frame()]),
            ["b GET / {body=111111}", "b GET / {body=222222}"]
        );
    }
}
