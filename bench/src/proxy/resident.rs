//! How much memory a process holds.
//!
//! Owns the reading of its resident size, now and at its peak.

use std::fs;

use anyhow::{Context, Result};

/// Resident sizes of a process, in MiB.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// Now.
    pub now: f64,
    /// The most since the process started, or since [`forget_peak`].
    pub peak: f64,
}

impl Resident {
    /// The reading of a process.
    pub fn of(process: u32) -> Result<Self> {
        let path = format!("/proc/{process}/status");
        let status = fs::read_to_string(path).context("the process has ended")?;
        Ok(Self {
            now: mib(&status, "VmRSS:")?,
            peak: mib(&status, "VmHWM:")?,
        })
    }
}

fn mib(status: &str, field: &str) -> Result<f64> {
    let line = status.lines().find(|line| line.starts_with(field));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: f64 = kib.with_context(|| format!("no {field}"))?.parse()?;
    Ok(kib / 1024.0)
}

/// Starts the peak of a process anew.
pub fn forget_peak(process: u32) -> Result<()> {
    fs::write(format!("/proc/{process}/clear_refs"), "5")
        .context("the peak of the resident size could not be reset")
}
