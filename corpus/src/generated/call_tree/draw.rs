//! How call trees are drawn.

use super::{CallTree, Order, Site, Step, Truth, Work};

/// What a drawn tree may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The most points that can fail.
    pub points: usize,
    /// Two or three replicas at some sites.
    pub replicas: bool,
    /// Optional calls.
    pub optional: bool,
    /// Alternatives in random order at some sites.
    pub random: bool,
    /// Optional calls that lead to needed ones, so that failing more may help:
    /// every tree then is one where it does.
    pub contrary: bool,
}

impl Shape {
    /// ANDs and ORs alone.
    pub const PLAIN: Shape = Shape {
        points: 14,
        replicas: false,
        optional: false,
        random: false,
        contrary: false,
    };

    /// Everything that is monotone.
    pub const MONOTONE: Shape = Shape {
        replicas: true,
        optional: true,
        random: true,
        ..Shape::PLAIN
    };
}

/// The deepest a site lies.
const DEEPEST: usize = 3;

/// Draws a tree that some faults bring down.
///
/// # Panics
/// If the shape has fewer points than a tree worth drawing, or more than
/// [`Truth::MOST_POINTS`].
pub fn draw(seed: u64, shape: Shape) -> CallTree {
    let points = 3..=Truth::MOST_POINTS;
    assert!(
        points.contains(&shape.points),
        "a tree has {points:?} points"
    );
    let mut rng = fastrand::Rng::with_seed(seed);
    loop {
        let mut draw = Draw {
            rng: rng.fork(),
            shape,
            sites: 0,
        };
        let tree = CallTree {
            work: draw.work(0),
            seed,
        };
        if is_wanted(&tree, shape) {
            return tree;
        }
    }
}

fn is_wanted(tree: &CallTree, shape: Shape) -> bool {
    let truth = Truth::of(tree);
    truth.points().len() <= shape.points
        && match shape.contrary {
            true => !truth.is_monotone(),
            false => truth.fails(&truth.points().iter().cloned().collect()),
        }
}

struct Draw {
    rng: fastrand::Rng,
    shape: Shape,
    sites: usize,
}

impl Draw {
    fn work(&mut self, depth: usize) -> Work {
        let count = self.rng.usize(2..=3);
        match self.rng.bool() {
            true => Work::All((0..count).map(|_| self.step(depth)).collect()),
            false => {
                let sites = (0..count).map(|_| self.site(depth)).collect();
                Work::Any(self.order(), sites)
            }
        }
    }

    fn step(&mut self, depth: usize) -> Step {
        if self.shape.contrary && self.rng.f64() < 0.3 {
            return Step::Leads(self.site(depth), self.site(depth));
        }
        match self.shape.optional && self.rng.f64() < 0.2 {
            true => Step::Optional(self.site(depth)),
            false => Step::Needed(self.site(depth)),
        }
    }

    fn site(&mut self, depth: usize) -> Site {
        self.sites += 1;
        Site {
            number: self.sites,
            replicas: self.replicas(),
            order: self.order(),
            work: self.work_below(depth + 1),
        }
    }

    /// The deeper, the likelier a service calls nobody.
    fn work_below(&mut self, depth: usize) -> Work {
        match self.rng.usize(..DEEPEST) < depth {
            true => Work::Nothing,
            false => self.work(depth),
        }
    }

    fn replicas(&mut self) -> usize {
        match self.shape.replicas && self.rng.f64() < 0.3 {
            true => self.rng.usize(2..=3),
            false => 1,
        }
    }

    fn order(&mut self) -> Order {
        match self.shape.random && self.rng.bool() {
            true => Order::Random,
            false => Order::Fixed,
        }
    }
}
