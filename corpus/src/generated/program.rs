//! The programs of generated services, and how they are drawn.
//!
//! A program is a list of steps. Between them the kinds of steps and reactions
//! cover nesting, sequential and concurrent calls, retries, fallbacks inside
//! and outside a service, propagation, branches on a status, and failures that
//! are ignored. The knobs add what the search assumes away.

use std::sync::LazyLock;

use crate::names::lasting;

/// The most services a generated system has. More than its calls, so that
/// concurrent calls never have to share a service.
const MOST_SERVICES: usize = 64;

/// Names of generated services.
pub(super) static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let name = |index: usize| lasting(format!("s{index}"));
    (0..MOST_SERVICES).map(name).collect()
});

/// What a service does when a call it made has failed for good.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Goes on as if nothing had happened (a default value).
    Ignore,
    /// Answers with this status at once.
    Answer(u16),
    /// Answers with the failed call's own status at once.
    Forward,
    /// Makes this call in its place.
    Instead(Box<Call>),
    /// Goes on after one more call whose outcome does not matter.
    Also(Box<Call>),
    /// Leaves out everything that is left and answers 200.
    LeaveRest,
}

/// A call a service makes.
#[derive(Clone, Debug)]
pub struct Call {
    /// The service called: always one with a greater number.
    pub to: usize,
    /// How often it is tried again.
    pub retries: u32,
    /// What happens if it fails.
    pub failed: Reaction,
    /// What happens instead if it fails with this status.
    pub special: Option<(u16, Reaction)>,
    /// The call made in addition if the answer is 200 but says that it is not
    /// the whole truth.
    pub degraded: Option<(Wants, Box<Call>)>,
}

/// Which degraded answers a caller distinguishes from good ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// All of them.
    Any,
    /// Those that say that this is missing.
    Exactly(u64),
}

impl Wants {
    /// Whether an answer that lacks this is meant; nothing lacking is 0.
    pub fn matches(self, missing: u64) -> bool {
        match self {
            Wants::Any => missing > 0,
            Wants::Exactly(what) => missing == what,
        }
    }
}

/// One thing a service does.
#[derive(Clone, Debug)]
pub enum Step {
    /// A call.
    One(Call),
    /// Calls made at the same time; the step ends when all have.
    Together(Vec<Call>),
    /// A call made only if a failure was ignored before.
    IfFailed(Call),
    /// A call made only if no failure was ignored before.
    IfWell(Call),
    /// A call made or not, by a coin that no two runs share.
    Maybe(Call),
    /// A call made on every second run of the service, counted across runs.
    EverySecond(Call),
    /// A call made only in the first run of the service: its answer is kept.
    Once(Call),
    /// Two equal calls at the same time, the second of which the service
    /// cannot do without.
    Twins(Call),
}

/// What a service says of a failure that it ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admits {
    /// Nothing: it answers as if all were well.
    #[default]
    Nothing,
    /// That something is missing.
    That,
    /// What is missing: the number of the step, from 1, that failed first.
    What,
}

/// What a service does with a request.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its steps, in order; it answers 200 if it gets to their end.
    pub steps: Vec<Step>,
    /// What it says when it answers 200 after an ignored failure.
    pub admits: Admits,
    /// It breaks (500) if it got a degraded answer and had to ignore a
    /// failure too.
    pub brittle: Option<Wants>,
    /// Whether an ignored failure leaves something behind that breaks every
    /// later run.
    pub leaks: bool,
}

/// What a generated system may contain.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// About how many calls its programs make in all.
    pub calls: usize,
    /// Concurrent calls.
    pub concurrency: bool,
    /// Answers of 200 that callers distinguish by their bodies.
    pub degraded: bool,
    /// Coins and counters: the search assumes there are none.
    pub random: bool,
    /// Calls whose answers are kept from the first run on.
    pub lazy: bool,
    /// Equal calls at the same time.
    pub twins: bool,
    /// Failures that leave something behind.
    pub leaking: bool,
}

impl Knobs {
    /// Everything the search claims to cover, and nothing else.
    pub const COVERED: Knobs = Knobs {
        calls: 6,
        concurrency: true,
        degraded: false,
        random: false,
        lazy: false,
        twins: false,
        leaking: false,
    };
}

/// Draws the programs of a system, the entry service first.
pub fn generate(seed: u64, knobs: Knobs) -> Vec<Program> {
    let mut draw = Draw {
        rng: fastrand::Rng::with_seed(seed),
        knobs,
        left: knobs.calls,
        programs: vec![Program::default()],
    };
    draw.program(0, 0);
    draw.programs
}

/// A system of `points` calls, each of which its caller cannot do without:
/// every service calls up to three others in turn and fails when one fails.
pub fn hard_dependencies(points: usize) -> Vec<Program> {
    assert!(points < MOST_SERVICES, "there is a service for every call");
    let needed = |to: usize| {
        Step::One(Call {
            to,
            retries: 0,
            failed: Reaction::Answer(500),
            special: None,
            degraded: None,
        })
    };
    let program = |index: usize| Program {
        steps: (3 * index + 1..=3 * index + 3)
            .filter(|callee| *callee <= points)
            .map(needed)
            .collect(),
        ..Program::default()
    };
    (0..=points).map(program).collect()
}

struct Draw {
    rng: fastrand::Rng,
    knobs: Knobs,
    left: usize,
    programs: Vec<Program>,
}

impl Draw {
    fn program(&mut self, me: usize, depth: usize) {
        let most = [4, 3, 2][depth.min(2)];
        let least = usize::from(depth == 0);
        let steps = self.rng.usize(least..=most);
        for _ in 0..steps {
            // Fallbacks are made of calls further down.
            let flat = if self.knobs.degraded { 0.1 } else { 0.35 };
            if self.left == 0 || (depth > 0 && self.rng.f64() < flat) {
                break;
            }
            let step = self.step(me, depth);
            self.programs[me].steps.push(step);
        }
        if self.knobs.degraded {
            self.programs[me].admits = match self.rng.usize(..4) {
                0..=1 => Admits::That,
                2 => Admits::What,
                _ => Admits::Nothing,
            };
            self.programs[me].brittle = (self.rng.f64() < 0.3).then(|| self.wants());
        }
        self.programs[me].leaks = self.knobs.leaking && self.rng.f64() < 0.2;
    }

    fn wants(&mut self) -> Wants {
        match self.rng.usize(..3) {
            0 => Wants::Exactly(self.rng.u64(1..=3)),
            _ => Wants::Any,
        }
    }

    fn step(&mut self, me: usize, depth: usize) -> Step {
        let random = self.knobs.random && self.rng.f64() < 0.4;
        if random {
            let call = self.call(me, depth, true);
            return match self.rng.bool() {
                true => Step::Maybe(call),
                false => Step::EverySecond(call),
            };
        }
        if self.knobs.lazy && self.rng.f64() < 0.15 {
            return Step::Once(self.call(me, depth, true));
        }
        if self.knobs.twins && self.left >= 2 && self.rng.f64() < 0.15 {
            return Step::Twins(self.lane(me, depth));
        }
        if self.knobs.concurrency && self.left >= 2 && self.rng.f64() < 0.35 {
            let lanes = self.rng.usize(2..=3.min(self.left));
            return Step::Together((0..lanes).map(|_| self.lane(me, depth)).collect());
        }
        let call = self.call(me, depth, true);
        match self.rng.usize(..10) {
            0 if !self.programs[me].steps.is_empty() => Step::IfFailed(call),
            1 if !self.programs[me].steps.is_empty() => Step::IfWell(call),
            _ => Step::One(call),
        }
    }

    /// Concurrent calls go to services of their own: two that cannot be told
    /// apart would be named by chance.
    fn lane(&mut self, me: usize, depth: usize) -> Call {
        let mut call = self.call(me, depth, false);
        if !matches!(
            call.failed,
            Reaction::Ignore | Reaction::Answer(_) | Reaction::Instead(_)
        ) {
            call.failed = Reaction::Ignore;
        }
        call.special = None;
        call
    }

    fn call(&mut self, me: usize, depth: usize, may_share: bool) -> Call {
        self.left = self.left.saturating_sub(1);
        let to = self.callee(me, depth, may_share);
        let retries = match self.rng.usize(..5) {
            0 => 1,
            _ => 0,
        };
        let special = (self.rng.f64() < 0.2).then(|| {
            let status = *self.rng.choice(&[500, 503]).expect("two statuses");
            (status, self.reaction(me, depth, may_share))
        });
        let degraded = (self.knobs.degraded && self.left > 0 && self.rng.f64() < 0.3)
            .then(|| (self.wants(), Box::new(self.call(me, depth + 1, may_share))));
        Call {
            to,
            retries,
            failed: self.reaction(me, depth, may_share),
            special,
            degraded,
        }
    }

    fn callee(&mut self, me: usize, depth: usize, may_share: bool) -> usize {
        let known = self.programs.len();
        let share = may_share && known > me + 1 && self.rng.f64() < 0.15;
        if share || known == MOST_SERVICES {
            return self.rng.usize(me + 1..known);
        }
        self.programs.push(Program::default());
        self.program(known, depth + 1);
        known
    }

    fn reaction(&mut self, me: usize, depth: usize, may_share: bool) -> Reaction {
        if self.knobs.degraded && self.rng.f64() < 0.5 {
            return Reaction::Ignore;
        }
        match self.rng.usize(..10) {
            0..=2 => Reaction::Ignore,
            3..=4 => Reaction::Answer(*self.rng.choice(&[500, 503, 418]).expect("three statuses")),
            5 => Reaction::Forward,
            6 => Reaction::LeaveRest,
            7..=8 if self.left > 0 => {
                Reaction::Instead(Box::new(self.call(me, depth + 1, may_share)))
            }
            9 if self.left > 0 => Reaction::Also(Box::new(self.call(me, depth + 1, may_share))),
            _ => Reaction::Ignore,
        }
    }
}
