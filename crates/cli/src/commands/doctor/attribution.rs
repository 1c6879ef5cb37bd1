//! How each call is attributed to its caller, by what, and how certain that is.

use std::collections::BTreeMap;
use std::io::{self, Write};

use murphy_model::{CallId, Link};
use murphy_report::terminal;
use murphy_system::sightings::{Cell, Row};

use super::Report;

/// Draws the calls, each with who made it and how that is known.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nCalls, and how it is known who made each")?;
    let trace = report.trace();
    if trace.calls().is_empty() {
        return writeln!(out, "  no calls were seen");
    }
    let rows = report.sightings.rows();
    let rows: BTreeMap<&str, &Row> = rows.iter().map(|row| (&*row.service, row)).collect();
    let columns = report.sightings.columns();
    let how = |id: CallId| {
        let call = trace.call(id);
        let row = rows.get(&*call.point.frame().destination).copied();
        let carriers = row.map_or_else(Vec::new, |row| carriers(row, &columns));
        let link = report.observed.detail(id).map(|detail| detail.link);
        format!("  {}", told(call.parent.is_none(), link, &carriers))
    };
    let all = trace.calls().len();
    let most = report.room.of(all);
    terminal::write_most_calls(trace, &report.names(), &how, most, out)?;
    if most < all {
        let uncertain = report
            .observed
            .details
            .iter()
            .filter(|it| !is_certain(it.link));
        writeln!(
            out,
            "  of all {all}, {} not certain",
            match uncertain.count() {
                0 => "none is".to_owned(),
                1 => "1 is".to_owned(),
                more => format!("{more} are"),
            }
        )?;
    }
    Ok(())
}

/// The carriers that came back with calls to a service.
fn is_certain(link: Link) -> bool {
    matches!(link, Link::Certain | Link::Spans)
}

fn carriers<'c>(row: &Row, columns: &[&'c str]) -> Vec<&'c str> {
    let came = |cell: &Cell| matches!(cell, Cell::Always | Cell::Sometimes);
    let columns = columns.iter().zip(&row.cells);
    let came = columns.filter(|(_, cell)| came(cell));
    came.map(|(column, _)| *column).collect()
}

/// Who made a call, from certain to unknown.
fn told(is_entry: bool, link: Option<Link>, carriers: &[&str]) -> String {
    let by = || carriers.join(", ");
    match link {
        Some(Link::Orphan) => "UNKNOWN: nothing tells who made it".to_owned(),
        Some(Link::Inferred) if is_entry => "likely by the test: no call was under way".to_owned(),
        _ if is_entry => "by the test".to_owned(),
        Some(Link::Certain) | None if carriers.is_empty() => "certain".to_owned(),
        Some(Link::Certain) | None => format!("certain, by {}", by()),
        Some(Link::Spans) => format!("certain, by span ids ({})", by()),
        Some(Link::Inferred) => "likely: the only call under way that could".to_owned(),
        Some(Link::Ambiguous) => "A GUESS: several calls under way could".to_owned(),
        Some(Link::Background) => "A GUESS: made after its caller had answered".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_says_how_certain_it_is() {
        let carriers = ["tracestate", "traceparent"];
        let cases = [
            (true, Link::Certain, "by the test"),
            (
                true,
                Link::Inferred,
                "likely by the test: no call was under way",
            ),
            (false, Link::Certain, "certain, by tracestate, traceparent"),
            (
                false,
                Link::Spans,
                "certain, by span ids (tracestate, traceparent)",
            ),
            (
                false,
                Link::Inferred,
                "likely: the only call under way that could",
            ),
            (
                false,
                Link::Ambiguous,
                "A GUESS: several calls under way could",
            ),
            // It stands at the top, but is not the test's own.
            (true, Link::Orphan, "UNKNOWN: nothing tells who made it"),
        ];
        for (is_entry, link, expected) in cases {
            assert_eq!(told(is_entry, Some(link), &carriers), expected);
        }
    }
}
