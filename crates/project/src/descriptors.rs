//! How many executions at once the open files of this process allow.
//!
//! Owns the estimate. Every execution that runs beside others has listeners and
//! connections of its own; when those run out in the middle of a campaign, calls
//! fail that nobody made fail, so that it is refused before it begins.

use rustix::process::{Resource, getrlimit};

use murphy_config::Usage;

/// What runs before the first execution: runtime, store, logs.
const ALWAYS: u64 = 64;

/// Connections and pipes of the scenario itself.
const OF_SCENARIO: u64 = 8;

/// What one execution needs for each service: on a user's own system the
/// listener of the entry and a connection; measured, with what comes and goes.
const PER_SERVICE: u64 = 2;

/// The same where the services run in this process: both ends of every
/// connection are here.
const PER_SERVICE_WITHIN: u64 = 4;

/// Refuses more jobs than there can be open files for; `within` says whether
/// the services run in this process.
pub(crate) fn check(jobs: u32, services: usize, within: bool) -> Result<(), Usage> {
    match getrlimit(Resource::Nofile).current {
        Some(limit) => check_limit(jobs, services, within, limit),
        None => Ok(()),
    }
}

fn check_limit(jobs: u32, services: usize, within: bool, limit: u64) -> Result<(), Usage> {
    let services = services as u64;
    let per_service = if within {
        PER_SERVICE_WITHIN
    } else {
        PER_SERVICE
    };
    let once = ALWAYS + PER_SERVICE_WITHIN * services;
    let each = OF_SCENARIO + per_service * services;
    let fits = (limit.saturating_sub(once) / each).max(1);
    if u64::from(jobs) <= fits {
        return Ok(());
    }
    let needed = once + each * u64::from(jobs);
    let jobs = jobs.to_string();
    Err(Usage::new(format!(
        "{jobs} executions at once need about {needed} open files, and this process may have {limit}"
    ))
    .at("--jobs", &jobs, &jobs, format!("{fits} fit"))
    .hint(format!(
        "use `--jobs {fits}`, or raise the limit with `ulimit -n {needed}`"
    )))
}

#[cfg(test)]
mod tests {
    use super::check_limit;

    #[test]
    fn what_fits_is_let_pass_and_named() {
        assert!(check_limit(1, 50, false, 20).is_ok(), "one is always tried");
        assert!(check_limit(51, 5, false, 1024).is_ok());
        let refused = check_limit(500, 5, false, 1024).unwrap_err().to_string();
        assert!(refused.contains("use `--jobs 52`"), "{refused}");
        assert!(check_limit(52, 5, false, 1024).is_ok());
        assert!(check_limit(53, 5, false, 1024).is_err());
    }
}
