//! What to harden: the call sites, what is left, and what other budgets would
//! cover.
//!
//! Owns how much of it is told; the answer in one line comes last, next to the
//! prompt.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::heading;
use super::number::{counted, grouped};
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use crate::hardening::{Best, Hardening, LeftOut, Verified};

/// More findings than this are only counted.
const MOST_FINDINGS: usize = 8;

/// More combinations than this are only counted.
const MOST_COMBINATIONS: usize = 10;

/// Cells of a bar that stands for everything.
const BAR: usize = 20;

pub(super) fn write(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    if hardening.combinations.is_empty() {
        nothing(hardening, out)?;
        return left_out(&hardening.left_out, out);
    }
    subject(hardening, out)?;
    left_out(&hardening.left_out, out)?;
    steps(hardening, out)?;
    combinations("Not covered", &hardening.uncovered(), hardening, out)?;
    curve(hardening, out)?;
    if let Some(verified) = &hardening.verified {
        write_verified(verified, hardening, out)?;
    }
    answer(hardening, out)
}

fn nothing(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    let names = scenarios(hardening).join(", ");
    writeln!(
        out,
        "{GOOD}Nothing to harden{GOOD:#}: no finding names calls whose failure brings {names} down"
    )
}

/// Each scenario once, however many campaigns there are on it.
fn scenarios(hardening: &Hardening) -> Vec<String> {
    let name = |(name, high): (&str, bool)| match high {
        true => format!("{name} (high priority)"),
        false => name.to_owned(),
    };
    let campaigns = hardening.campaigns.iter();
    let names: BTreeSet<_> = campaigns
        .map(|it| (it.scenario.as_str(), it.high))
        .collect();
    names.into_iter().map(name).collect()
}

fn subject(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    let names = scenarios(hardening).join(", ");
    let combinations = counted(hardening.combinations.len(), "combination");
    let sites = counted(hardening.sites.len(), "call site");
    writeln!(
        out,
        "{TITLE}{names}{TITLE:#}: brought down by {combinations} of failing calls, at {sites}"
    )
}

fn left_out(left_out: &LeftOut, out: &mut dyn Write) -> io::Result<()> {
    let LeftOut {
        warnings,
        untested,
        without_faults,
    } = left_out;
    let mut parts = Vec::new();
    if *warnings > 0 {
        let text = counted(warnings, "warning");
        parts.push(format!("{text} (`--warnings` counts them)"));
    }
    if *untested > 0 {
        parts.push(format!(
            "{} about faults that were not injected",
            grouped(untested)
        ));
    }
    if !without_faults.is_empty() {
        let ids: Vec<&str> = without_faults.iter().map(String::as_str).collect();
        parts.push(format!("{}, seen without any fault", ids.join(", ")));
    }
    match parts.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{QUIET}Not counted: {}{QUIET:#}", parts.join("; ")),
    }
}

fn steps(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    if hardening.steps.is_empty() {
        return Ok(());
    }
    heading("Harden, the largest gain first", out)?;
    for (i, step) in hardening.steps.iter().enumerate() {
        let site = &hardening.sites[step.site];
        writeln!(out, "  {}. {TITLE}{site}{TITLE:#}", i + 1)?;
        let gain = match i {
            0 => counted(step.gains.len(), "combination"),
            _ => format!("{} more", grouped(step.gains.len())),
        };
        writeln!(out, "     covers {gain}{}", ids(&step.gains, hardening))?;
    }
    Ok(())
}

/// The findings of some combinations, as in `: M-1, M-2`.
fn ids(combinations: &[usize], hardening: &Hardening) -> String {
    let found = combinations.iter().map(|at| &hardening.combinations[*at]);
    let all: BTreeSet<&str> = found
        .flat_map(|it| it.findings.iter().map(String::as_str))
        .collect();
    let shown: Vec<&str> = all.iter().copied().take(MOST_FINDINGS).collect();
    match all.len().saturating_sub(shown.len()) {
        0 if all.is_empty() => String::new(),
        0 => format!(": {}", shown.join(", ")),
        more => format!(": {} and {} more", shown.join(", "), grouped(more)),
    }
}

fn combinations(
    title: &str,
    places: &BTreeSet<usize>,
    hardening: &Hardening,
    out: &mut dyn Write,
) -> io::Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    heading(title, out)?;
    for at in places.iter().take(MOST_COMBINATIONS) {
        let one = &hardening.combinations[*at];
        writeln!(out, "  {}{}", one.scenario, ids(&[*at], hardening))?;
        for site in &one.sites {
            writeln!(out, "    {}", hardening.sites[*site])?;
        }
    }
    match places.len().saturating_sub(MOST_COMBINATIONS) {
        0 => Ok(()),
        more => writeln!(out, "  {QUIET}and {} more{QUIET:#}", grouped(more)),
    }
}

fn curve(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    heading("Coverage by budget", out)?;
    writeln!(
        out,
        "    {QUIET}budget  covered     CR_b  MCG_b   AFVR_b{QUIET:#}"
    )?;
    let mut before = None;
    for (at, row) in hardening.curve.rows.iter().enumerate() {
        if before.is_some_and(|before| row.budget > before + 1) {
            writeln!(out, "    {QUIET}   ...{QUIET:#}")?;
        }
        before = Some(row.budget);
        let mark = match Some(row.budget) == hardening.budget {
            true => '>',
            false => ' ',
        };
        write!(out, "  {mark} {:>6}  ", row.budget)?;
        match &row.best {
            Some(best) => write_row(at, best, hardening, out)?,
            None => writeln!(out, "{CAREFUL}too small{CAREFUL:#}")?,
        }
    }
    high(hardening, out)
}

fn write_row(at: usize, best: &Best, hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    let rate = hardening.rate(best);
    let share = rate.map_or("-".to_owned(), percent);
    let gain = hardening.gain(at);
    let gain = gain.map_or("-".to_owned(), |gain| format!("{gain:.1}"));
    let fails = percent(hardening.promised_validity(best));
    let line = format!(
        "{:>7}  {share:>7}  {gain:>5}  {fails:>7}  {}",
        grouped(best.covered),
        bar(rate.unwrap_or(0.0))
    );
    writeln!(out, "{}", line.trim_end())
}

/// What the budgets that are too small are too small for.
fn high(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    let high = hardening.combinations.len() - hardening.low();
    let from = hardening.curve.feasible;
    match high {
        0 => Ok(()),
        1 => writeln!(
            out,
            "  The one combination of high priority is covered from {from} on and not counted here."
        ),
        _ => writeln!(
            out,
            "  The {} combinations of high priority are covered from {from} on and not counted here.",
            grouped(high)
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A bar of this share of [`BAR`] cells, to an eighth of a cell.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * (BAR * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

fn write_verified(
    verified: &Verified,
    hardening: &Hardening,
    out: &mut dyn Write,
) -> io::Result<()> {
    heading("Verified", out)?;
    writeln!(
        out,
        "  Injected what is left of every combination without the faults at hardened call sites: {}.",
        counted(verified.injected, "execution")
    )?;
    writeln!(
        out,
        "  Still failing: {} of {}",
        grouped(verified.remain.len()),
        counted(hardening.combinations.len(), "combination")
    )?;
    writeln!(
        out,
        "  AFVR_{}: {} measured, {} predicted {QUIET}(the share that still fails, on average over the scenarios){QUIET:#}",
        verified.budget,
        percent(hardening.validity(&verified.remain)),
        percent(hardening.validity(&hardening.uncovered())),
    )?;
    combinations(
        "Covered, and failing all the same",
        &hardening.surprises(),
        hardening,
        out,
    )
}

fn answer(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    let all = hardening.combinations.len();
    let covered = all - hardening.uncovered().len();
    let sites = counted(hardening.steps.len(), "call site");
    let complete = counted(hardening.curve.complete, "call site");
    let text = format!(
        "{sites} hardened: {} of {} covered",
        grouped(covered),
        counted(all, "combination")
    );
    writeln!(out)?;
    match covered == all {
        true => writeln!(out, "{GOOD}{text}{GOOD:#}"),
        false => writeln!(out, "{BAD}{text}{BAD:#}; it takes {complete} to cover all"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::style;
    use super::*;
    use crate::hardening::tests::example;

    fn text(hardening: &Hardening) -> String {
        let mut out = Vec::new();
        write(hardening, &mut out).unwrap();
        style::plain(&out)
    }

    #[test]
    fn the_answer_comes_last_and_the_budget_is_marked() {
        let expected = "\
browse, buy (high priority): brought down by 3 combinations of failing calls, at 3 call sites

Harden, the largest gain first
  1. shop GET / > cart GET /
     covers 2 combinations: M-1, M-3

Not covered
  browse: M-2
    shop GET / > pay GET /
    shop GET / > stock GET /

Coverage by budget
    budget  covered     CR_b  MCG_b   AFVR_b
         0  too small
  >      1        1   50.0 %      -   25.0 %  ██████████
         2        2  100.0 %    1.0    0.0 %  ████████████████████
  The one combination of high priority is covered from 1 on and not counted here.

1 call site hardened: 2 of 3 combinations covered; it takes 2 call sites to cover all
";
        assert_eq!(text(&example()), expected);
    }

    #[test]
    fn what_was_measured_stands_beside_what_was_predicted() {
        let hardening = Hardening {
            verified: Some(Verified {
                budget: 1,
                injected: 2,
                remain: [1, 2].into(),
            }),
            ..example()
        };
        let text = text(&hardening);
        assert!(
            text.contains("AFVR_1: 75.0 % measured, 25.0 % predicted"),
            "{text}"
        );
        let surprise =
            "Covered, and failing all the same\n  buy: M-3\n    shop GET / > cart GET /\n";
        assert!(text.contains(surprise), "{text}");
    }

    #[test]
    fn nothing_to_harden_is_good_news_with_what_was_not_counted() {
        let hardening = Hardening {
            combinations: Vec::new(),
            left_out: LeftOut {
                warnings: 2,
                untested: 1,
                without_faults: ["M-9".to_owned()].into(),
            },
            ..example()
        };
        let expected = "\
Nothing to harden: no finding names calls whose failure brings browse, buy (high priority) down
Not counted: 2 warnings (`--warnings` counts them); 1 about faults that were not injected; M-9, seen without any fault
";
        assert_eq!(text(&hardening), expected);
    }

    #[test]
    fn bars_are_exact_to_an_eighth_of_a_cell() {
        let cases = [
            (0.0, ""),
            (0.5, "██████████"),
            (0.03, "▋"),
            (0.26, "█████▎"),
        ];
        for (share, shown) in cases {
            assert_eq!(bar(share), shown, "{share}");
        }
        assert_eq!(bar(1.0).chars().count(), BAR);
    }
}
