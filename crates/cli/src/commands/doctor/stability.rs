//! Whether the test is fit to be tested with faults: does it pass without, and
//! does it make the same calls every time?

use std::io::{self, Write};
use std::time::Duration;

use murphy_campaign::{Failed, Refused};
use murphy_model::{LeftOutCall, Observed};
use murphy_report::number::counted;
use murphy_report::point_text;
use murphy_report::terminal::visible;

use super::Report;

/// Writes what the runs without faults have in common.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let runs = counted(report.runs.len(), "run");
    match report.settled {
        Err(Failed::Refused(Refused::Fails { complaint, .. })) => {
            writeln!(out, "  FAILS without any fault: {}", first_line(complaint))?;
        }
        Err(Failed::Refused(Refused::Flaky {
            passed, complaint, ..
        })) => writeln!(
            out,
            "  FLAKY: without any fault it passed {}, then failed: {}",
            counted(passed, "time"),
            first_line(complaint)
        )?,
        Err(Failed::Refused(Refused::Unstable { varies, .. })) => {
            writeln!(out, "  passes without faults")?;
            writeln!(out, "  NOT STABLE: {runs} made different calls")?;
            for one in varies {
                writeln!(out, "    {one}")?;
            }
        }
        Err(_) => writeln!(out, "  passes without faults")?,
        Ok(settled) => {
            let calls = counted(report.trace().calls().len(), "call");
            writeln!(out, "  passes without faults, {calls}")?;
            let runs = counted(settled.compared, "run");
            let left_out = &settled.chosen.identity.left_out;
            match left_out.is_empty() {
                true => writeln!(
                    out,
                    "  stable: {runs} made the same calls and got the same answers"
                )?,
                false => writeln!(
                    out,
                    "  stable but for what is left out: {runs} made the same other calls and got the same\n  answers"
                )?,
            }
            for LeftOutCall { at, how } in left_out {
                writeln!(
                    out,
                    "    leaving out {}, which {how},\n      and what is called for it",
                    point_text(at)
                )?;
            }
            for why in &settled.chosen.masked {
                writeln!(out, "    ignoring {}", visible(why))?;
            }
        }
    }
    writeln!(out, "  took {}", times(report.runs))?;
    match report.correlation.late.filter(|late| *late >= NOTICED) {
        Some(late) => writeln!(
            out,
            "  calls arrive up to {late:.0?} after its end, which is waited for"
        ),
        None => Ok(()),
    }
}

/// What comes sooner is waited for anyway.
const NOTICED: Duration = Duration::from_millis(20);

fn first_line(complaint: &str) -> String {
    visible(complaint.lines().next().unwrap_or_default())
}

/// The shortest and the longest of them.
fn times(runs: &[std::sync::Arc<Observed>]) -> String {
    let took = || runs.iter().map(|run| run.took);
    match (took().min(), took().max()) {
        (Some(least), Some(most)) if least != most => format!("{least:.0?} to {most:.0?}"),
        (Some(only), _) => format!("{only:.0?}"),
        _ => "no time".to_owned(),
    }
}
