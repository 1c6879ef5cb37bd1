//! The measuring.
//!
//! Owns the order: every round visits every subject once, so that whatever
//! else the machine does meets all of them alike; each round begins with
//! another subject. Of all rounds the median counts.

use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::cpu::Cpu;
use super::load::{Generator, Tally};
use super::protocol::Shape;
use super::statistics::median;
use super::subject::{Kind, Subject};

/// Load before each measurement, so that connections to the upstream are
/// open and caches are warm.
const WARM_UP: Duration = Duration::from_millis(100);

/// How often a subject is tried that gives no answer at all: on a machine busy
/// with other things a short round can pass without one.
const ATTEMPTS: usize = 3;

/// The share of answers that may be of another status before the numbers mean
/// nothing; fewer are only mentioned.
const TOLERATED: f64 = 0.001;

/// What was measured in one round.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Requests answered.
    pub requests: u64,
    /// Requests answered per second.
    pub per_second: f64,
    /// In microseconds.
    pub p50_us: f64,
    /// In microseconds.
    pub p99_us: f64,
    /// Processor time of the proxy per request, in microseconds; none where
    /// there is no proxy.
    pub cpu_us: Option<f64>,
}

/// All rounds of one subject under one shape of load.
#[derive(Clone, Debug)]
pub struct Row {
    /// The subject.
    pub kind: Kind,
    /// In the order of the rounds.
    pub samples: Vec<Sample>,
}

impl Row {
    /// The median of a reading over the rounds.
    pub fn median(&self, reading: impl Fn(&Sample) -> f64) -> f64 {
        median(self.samples.iter().map(reading))
    }

    /// The median processor time per request.
    pub fn cpu_us(&self) -> Option<f64> {
        self.costs().map(median)
    }

    /// The processor time per request, in the order of the rounds.
    fn costs(&self) -> Option<Vec<f64>> {
        self.samples.iter().map(|sample| sample.cpu_us).collect()
    }
}

/// All subjects under one shape of load.
#[derive(Clone, Debug)]
pub struct Results {
    /// The shape.
    pub shape: Shape,
    /// In the order of the subjects.
    pub rows: Vec<Row>,
}

impl Results {
    /// The row of a subject, if it was measured.
    pub fn row(&self, kind: Kind) -> Option<&Row> {
        self.rows.iter().find(|row| row.kind == kind)
    }

    /// How many times as much processor time per request one subject takes as
    /// another, in the median round. Compared round by round, since on a shared
    /// machine the same work costs half more a minute later, but rarely so a
    /// second later.
    pub fn times(&self, one: Kind, other: Kind) -> Option<f64> {
        let (one, other) = (self.row(one)?.costs()?, self.row(other)?.costs()?);
        let ratios = one.into_iter().zip(other).map(|(one, other)| one / other);
        Some(median(ratios))
    }
}

/// Measures all subjects under one shape of load.
pub async fn measure(
    shape: Shape,
    subjects: &mut [Subject],
    generator: &Generator,
    rounds: usize,
    time: Duration,
) -> Result<Results> {
    let new_row = |subject: &Subject| Row {
        kind: subject.kind,
        samples: Vec::new(),
    };
    let mut rows: Vec<Row> = subjects.iter().map(new_row).collect();
    for round in 0..rounds {
        eprintln!("{}: round {} of {rounds}", shape, round + 1);
        for place in 0..subjects.len() {
            let index = (place + round) % subjects.len();
            let sample = sample(shape, &mut subjects[index], generator, time).await?;
            rows[index].samples.push(sample);
        }
    }
    Ok(Results { shape, rows })
}

async fn sample(
    shape: Shape,
    subject: &mut Subject,
    generator: &Generator,
    time: Duration,
) -> Result<Sample> {
    let headers = subject.prepare().await?;
    let url = subject.url(shape.protocol);
    generator.run(shape, &url, &headers, WARM_UP).await?;
    for _ in 0..ATTEMPTS {
        let before = subject.group().map(Cpu::of_group);
        let tally = generator.run(shape, &url, &headers, time).await?;
        let after = subject.group().map(Cpu::of_group);
        if tally.requests() > 0 {
            subject.settle().await?;
            check(&tally, subject, shape)?;
            let used = after
                .zip(before)
                .map(|(after, before)| after.since(&before));
            return Ok(Sample::new(&tally, used));
        }
        eprintln!("{}: no answer at all; once more", subject.kind);
    }
    bail!("{} gives no answers under {shape}", subject.kind)
}

impl Sample {
    fn new(tally: &Tally, used: Option<Duration>) -> Self {
        let requests = tally.requests();
        Self {
            requests,
            per_second: tally.per_second,
            p50_us: tally.p50_us,
            p99_us: tally.p99_us,
            cpu_us: used.map(|used| used.as_secs_f64() * 1e6 / requests as f64),
        }
    }
}

fn check(tally: &Tally, subject: &Subject, shape: Shape) -> Result<()> {
    let (all, expected) = (tally.requests(), subject.expected_status(shape.protocol));
    let wrong = all - tally.statuses.get(&expected).copied().unwrap_or(0);
    if wrong == 0 {
        return Ok(());
    }
    let said = format!(
        "{} under {shape}: {wrong} of {all} answers are not {expected}: {:?}",
        subject.kind, tally.statuses
    );
    ensure!(wrong as f64 <= all as f64 * TOLERATED, said);
    eprintln!("{said}");
    Ok(())
}
