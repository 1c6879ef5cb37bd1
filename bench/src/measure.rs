//! What a piece of work costs this process, and how busy the machine is.
//!
//! Owns the readings, from Linux' own accounting: processor time and peak
//! memory. Elsewhere they are not available and print as such.

use std::fs;

use anyhow::{Context, Result};

/// What a piece of work cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Processor time, in milliseconds.
    pub cpu_ms: Option<f64>,
    /// The most memory the process held up to then, in MiB.
    pub peak_mib: Option<f64>,
}

/// Does the work and measures it.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let before = cpu_ms();
    let result = work();
    let cost = Cost {
        cpu_ms: cpu_ms().zip(before).map(|(after, before)| after - before),
        peak_mib: peak_mib(),
    };
    (result, cost)
}

/// Time on a processor, from the scheduler: nanoseconds in the first field.
fn cpu_ms() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e6)
}

fn peak_mib() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// How long the machine's processors have been in use and idle, in ticks.
pub struct Processors {
    all: u64,
    idle: u64,
}

impl Processors {
    /// The reading now.
    pub fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat").context("how busy the processors are")?;
        let total = text.lines().next().unwrap_or_default();
        let ticks = total.split_whitespace().skip(1);
        // User, nice, system, idle, waiting for disks, two kinds of
        // interrupts, stolen; guests are in user.
        let ticks: Vec<u64> = ticks.take(8).flat_map(str::parse).collect();
        let all = ticks.iter().sum();
        let idle = ticks.iter().skip(3).take(2).sum();
        Ok(Processors { all, idle })
    }

    /// The share of them that was in use since an earlier reading.
    pub fn busy_since(&self, earlier: &Processors) -> f64 {
        let all = (self.all - earlier.all).max(1);
        1.0 - (self.idle.saturating_sub(earlier.idle)) as f64 / all as f64
    }
}

/// A reading for a table.
pub fn show(reading: Option<f64>) -> String {
    reading.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.1}"))
}
