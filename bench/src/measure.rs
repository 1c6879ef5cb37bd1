//! What a piece of work costs this process.
//!
//! Owns the readings, from Linux' own accounting: processor time and peak
//! memory. Elsewhere they are not available and print as such.

use std::fs;

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

/// A reading for a table.
pub fn show(reading: Option<f64>) -> String {
    reading.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.1}"))
}
