//! What brings a call tree down, computed without running it.
//!
//! Owns the truth that strategies are compared with, so it shares nothing with
//! what serves the tree: it unrolls the tree into a formula over its points,
//! and finds what fails by trying all subsets of them.

use std::collections::BTreeSet;

use murphy_model::{Frame, Interface, Point};

use super::{CallTree, ENTRY, Site, Step, Work};

/// The points of a call tree, and what becomes of the request when some fail.
#[derive(Clone, Debug)]
pub struct Truth {
    points: Vec<Point>,
    well: Formula,
}

/// When something goes well.
#[derive(Clone, Debug)]
enum Formula {
    /// If the call at the point of this number is let through and goes well.
    Call(usize, Box<Formula>),
    /// If all of these do.
    All(Vec<Formula>),
    /// If one of these does.
    Any(Vec<Formula>),
    /// If the first does not, or the second does too.
    Implies(Box<Formula>, Box<Formula>),
}

impl Truth {
    /// The most points of which all subsets are tried in a moment.
    pub const MOST_POINTS: usize = 20;

    /// The truth about a tree.
    pub fn of(tree: &CallTree) -> Self {
        let mut points = Points(Vec::new());
        let entry = Point::entry(frame(ENTRY.0, ENTRY.1));
        let well = points.of_work(&tree.work, &entry);
        Truth {
            points: points.0,
            well,
        }
    }

    /// All points that can fail. The entry is not among them: what the
    /// scenario itself asks is never failed.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether the request fails when the calls at these points do.
    pub fn fails(&self, down: &BTreeSet<Point>) -> bool {
        !self
            .well
            .holds(&|number| down.contains(&self.points[number]))
    }

    /// Every set of points that brings the request down and holds no smaller
    /// one that does.
    ///
    /// # Panics
    /// If there are more than [`Truth::MOST_POINTS`] points.
    pub fn minimal_failing(&self) -> BTreeSet<BTreeSet<Point>> {
        let fails = self.all_outcomes();
        // Whether a smaller one fails: known by then, being a smaller number.
        let mut smaller = vec![false; fails.len()];
        for set in 0..fails.len() {
            smaller[set] = one_less(set).any(|less| fails[less] || smaller[less]);
        }
        let minimal = (0..fails.len()).filter(|set| fails[*set] && !smaller[*set]);
        minimal.map(|set| self.set(set)).collect()
    }

    /// Whether failing more never helps.
    ///
    /// # Panics
    /// If there are more than [`Truth::MOST_POINTS`] points.
    pub fn is_monotone(&self) -> bool {
        let fails = self.all_outcomes();
        (0..fails.len()).all(|set| fails[set] || one_less(set).all(|less| !fails[less]))
    }

    /// Whether the request fails, for every set of points. A set is a number,
    /// each of its bits a point.
    fn all_outcomes(&self) -> Vec<bool> {
        let count = self.points.len();
        assert!(count <= Self::MOST_POINTS, "too many points: {count}");
        let fails = |set: usize| !self.well.holds(&|number| set >> number & 1 == 1);
        (0..1 << count).map(fails).collect()
    }

    fn set(&self, set: usize) -> BTreeSet<Point> {
        let points = self.points.iter().enumerate();
        let inside = points.filter(|(number, _)| set >> number & 1 == 1);
        inside.map(|(_, point)| point.clone()).collect()
    }
}

/// The sets that lack one point of this one.
fn one_less(set: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS)
        .map(|bit| 1 << bit)
        .filter(move |bit| set & bit != 0)
        .map(move |bit| set ^ bit)
}

impl Formula {
    fn holds(&self, is_down: &impl Fn(usize) -> bool) -> bool {
        match self {
            Formula::Call(number, work) => !is_down(*number) && work.holds(is_down),
            Formula::All(parts) => parts.iter().all(|part| part.holds(is_down)),
            Formula::Any(parts) => parts.iter().any(|part| part.holds(is_down)),
            Formula::Implies(first, then) => !first.holds(is_down) || then.holds(is_down),
        }
    }
}

/// The points met so far, while a tree is unrolled.
struct Points(Vec<Point>);

impl Points {
    fn of_work(&mut self, work: &Work, caller: &Point) -> Formula {
        match work {
            Work::Nothing => Formula::All(Vec::new()),
            Work::All(steps) => Formula::All(
                steps
                    .iter()
                    .map(|step| self.of_step(step, caller))
                    .collect(),
            ),
            Work::Any(_, sites) => Formula::Any(
                sites
                    .iter()
                    .map(|site| self.of_site(site, caller))
                    .collect(),
            ),
        }
    }

    fn of_step(&mut self, step: &Step, caller: &Point) -> Formula {
        match step {
            Step::Needed(site) => self.of_site(site, caller),
            Step::Optional(site) => {
                self.of_site(site, caller);
                Formula::All(Vec::new())
            }
            Step::Leads(first, then) => Formula::Implies(
                Box::new(self.of_site(first, caller)),
                Box::new(self.of_site(then, caller)),
            ),
        }
    }

    fn of_site(&mut self, site: &Site, caller: &Point) -> Formula {
        let replicas = site.names().map(|name| {
            let point = caller.child(frame(&name, &site.path()));
            let number = self.0.len();
            self.0.push(point.clone());
            Formula::Call(number, Box::new(self.of_work(&site.work, &point)))
        });
        Formula::Any(replicas.collect())
    }
}

fn frame(service: &str, path: &str) -> Frame {
    Frame::new(service, Interface::http("GET", path))
}
