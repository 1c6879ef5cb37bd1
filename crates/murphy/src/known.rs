//! Which findings of a campaign the baseline knows.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use murphy_campaign::baseline::{Baseline, Date};
use murphy_model::Finding;
use murphy_report::Known;

use crate::error::Error;
use crate::usage::Usage;

/// What the baseline in this file says of the findings of a scenario; `None`
/// if there is no such file.
pub(crate) fn of(
    file: &Path,
    scenario: &str,
    findings: &[Finding],
) -> Result<Option<Known>, Error> {
    if !file.exists() {
        return Ok(None);
    }
    let baseline = load(file)?;
    let today = today();
    let split = baseline.split(scenario, findings, &today);
    let reasons = split.known.iter();
    let reasons = reasons.map(|(finding, entry)| (finding.id.clone(), entry.reason.clone()));
    Ok(Some(Known {
        file: file.display().to_string(),
        reasons: reasons.collect(),
        expired: split
            .expired
            .iter()
            .map(|(finding, _)| finding.id.clone())
            .collect(),
        stale: split.stale.iter().map(|entry| entry.id.clone()).collect(),
    }))
}

/// The baseline in this file; nothing is known where there is none.
pub(crate) fn load(file: &Path) -> Result<Baseline, Usage> {
    Baseline::load_or_empty(file).map_err(|error| {
        Usage::new(error.to_string()).hint("`murphy baseline write` writes it anew")
    })
}

/// The day it is, in UTC.
pub(crate) fn today() -> Date {
    let now = SystemTime::now().max(UNIX_EPOCH);
    let text = humantime::format_rfc3339_seconds(now).to_string();
    let day = text.split('T').next().unwrap_or_default();
    day.parse().expect("a day as RFC 3339 writes it")
}
