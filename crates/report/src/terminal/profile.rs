//! What the services do about failures, as a table by caller.
//!
//! Owns what is worth a row: edges on which something failed. Times that were
//! not seen are left blank, never guessed.

use std::io::{self, Write};

use murphy_model::{EdgeProfile, Place, Span};

use super::heading;
use super::number::{grouped, span};
use super::style::{QUIET, TITLE};

const COLUMNS: [&str; 6] = [
    "callee", "failed", "attempts", "pause", "timeout", "outcome",
];

pub(super) fn write(profile: &[EdgeProfile], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<&EdgeProfile> = profile.iter().filter(|row| is_telling(row)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    heading("How callers handle failures", out)?;
    let cells: Vec<[String; 6]> = rows.iter().map(|row| cells(row)).collect();
    let widths = widths(&cells);
    writeln!(out, "    {QUIET}{}{QUIET:#}", line(&COLUMNS, &widths))?;
    let mut caller: Option<&Option<Place>> = None;
    for (row, cells) in rows.iter().zip(&cells) {
        if caller != Some(&row.edge.caller) {
            caller = Some(&row.edge.caller);
            let name = row.edge.caller.as_ref().map(Place::to_string);
            let name = name.unwrap_or("the scenario".to_owned());
            writeln!(out, "  {TITLE}{name}{TITLE:#}")?;
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        writeln!(out, "    {}", line(&cells, &widths))?;
    }
    Ok(())
}

fn is_telling(row: &EdgeProfile) -> bool {
    row.failed > 0 || row.attempts > 1 || row.hedged > 0
}

fn cells(row: &EdgeProfile) -> [String; 6] {
    [
        row.edge.callee.to_string(),
        format!("{} of {}", grouped(row.failed), grouped(row.calls)),
        grouped(row.attempts),
        row.backoff.map(range).unwrap_or_default(),
        row.timeout.map(range).unwrap_or_default(),
        endings(row),
    ]
}

/// One time where the two look the same.
fn range(seen: Span) -> String {
    let (least, most) = (span(seen.least), span(seen.most));
    match least == most {
        true => least,
        false => format!("{least} to {most}"),
    }
}

fn endings(row: &EdgeProfile) -> String {
    let endings = [
        ("recovered by a retry", row.recovered),
        ("fallback", row.fallbacks),
        ("propagated", row.propagated),
        ("hedged", row.hedged),
    ];
    let seen = endings.iter().filter(|(_, count)| *count > 0);
    let texts: Vec<String> = seen
        .map(|(what, n)| format!("{what} {}×", grouped(*n)))
        .collect();
    texts.join(", ")
}

fn widths(rows: &[[String; 6]]) -> Vec<usize> {
    let columns = COLUMNS.iter().enumerate();
    let widest = |(i, title): (usize, &&str)| {
        let cells = rows.iter().map(|row| row[i].chars().count());
        cells.chain([title.len()]).max().unwrap_or(0)
    };
    columns.map(widest).collect()
}

fn line(cells: &[&str], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths);
    let padded: Vec<String> = padded
        .map(|(cell, width)| format!("{cell:width$}"))
        .collect();
    padded.join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Edge, Interface};

    use super::super::style;
    use super::*;

    fn place(service: &str, path: &str) -> Place {
        Place {
            service: service.into(),
            interface: Interface::http("GET", path),
        }
    }

    fn row(callee: &str) -> EdgeProfile {
        EdgeProfile {
            edge: Edge {
                caller: Some(place("gateway", "/")),
                callee: place(callee, "/x"),
            },
            calls: 1200,
            failed: 0,
            attempts: 1,
            backoff: None,
            timeout: None,
            recovered: 0,
            fallbacks: 0,
            propagated: 0,
            hedged: 0,
        }
    }

    #[test]
    fn only_edges_that_failed_are_shown_and_unknown_times_are_blank() {
        let ms = Duration::from_millis;
        let stubborn = EdgeProfile {
            failed: 7,
            attempts: 3,
            backoff: Some(Span {
                least: ms(100),
                most: ms(400),
            }),
            timeout: Some(Span {
                least: ms(1000),
                most: ms(1000),
            }),
            recovered: 2,
            fallbacks: 1,
            ..row("cart")
        };
        let plain = EdgeProfile {
            failed: 1,
            propagated: 1,
            ..row("pay")
        };
        let mut out = Vec::new();
        write(&[stubborn, row("quiet"), plain], &mut out).unwrap();
        let expected = "
How callers handle failures
    callee       failed      attempts  pause                 timeout  outcome
  gateway GET /
    cart GET /x  7 of 1,200  3         100.0 ms to 400.0 ms  1.0 s    recovered by a retry 2×, fallback 1×
    pay GET /x   1 of 1,200  1                                        propagated 1×
";
        assert_eq!(style::plain(&out), expected);
        let mut nothing = Vec::new();
        write(&[row("quiet")], &mut nothing).unwrap();
        assert!(nothing.is_empty());
    }
}
