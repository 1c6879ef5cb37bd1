//! What traffic leaves behind in memory.
//!
//! Owns the list of checks and how much more memory counts as none.

pub mod bodies;
pub mod executions;

use anyhow::Result;

use super::args::Options;
use super::upstream;

/// Runs all checks; whether all passed.
pub async fn check(options: &Options) -> Result<bool> {
    println!("Resident sizes of the process that does the work.");
    let upstream = upstream::start(options.threads, None).await?;
    let bodies = bodies::check(options, &upstream.doors).await?;
    let in_process = executions::check_in_process().await?;
    let on_sockets = executions::check_on_sockets(options, &upstream.doors).await?;
    Ok(bodies && in_process && on_sockets)
}

/// Prints what was read and whether it grew by more than is allowed, in MiB.
fn judge(what: &str, grown: f64, allowed: f64) -> bool {
    let passed = grown <= allowed;
    let verdict = if passed { "PASS" } else { "MISS" };
    println!("  {verdict}  {what} (at most +{allowed})");
    passed
}
