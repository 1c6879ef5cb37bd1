//! Services and carriers as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use murphy_system::sightings::{Cell, Row};

/// Writes which carriers came back with the calls to each service.
pub(super) fn write(
    columns: &[&str],
    rows: &[Row],
    callers: &BTreeMap<&str, BTreeSet<&str>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = |row: &Row| match callers.get(row.service.as_str()) {
        Some(callers) => {
            let callers: Vec<&str> = callers.iter().copied().collect();
            format!("{} (called by {})", row.service, callers.join(", "))
        }
        None => row.service.clone(),
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    let widest = names.iter().map(|name| name.chars().count()).max();
    let first = widest.unwrap_or(0);
    write!(out, "  {:first$}  calls", "")?;
    for column in used(columns, rows) {
        write!(out, "  {column}")?;
    }
    writeln!(out)?;
    for (name, row) in names.iter().zip(rows) {
        let mut line = format!("  {name:first$}  {:>5}", row.calls);
        let cells = columns.iter().zip(&row.cells);
        for (column, cell) in cells.filter(|(_, cell)| **cell != Cell::Unused) {
            let width = column.chars().count();
            line += &format!("  {:^width$}", sign(*cell));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "  ✓ comes back on every call, ~ on some, ✗ on none")?;
    let used = used(columns, rows);
    let unused = columns.iter().filter(|column| !used.contains(column));
    let unused: Vec<&str> = unused.copied().collect();
    match unused.is_empty() {
        true => Ok(()),
        false => writeln!(
            out,
            "  not in use: {} (`[context] carriers`)",
            unused.join(", ")
        ),
    }
}

/// The carriers that are in use, which is the same for all rows.
fn used<'c>(columns: &[&'c str], rows: &[Row]) -> Vec<&'c str> {
    let cells = rows.first().map_or(&[][..], |row| &row.cells);
    let columns = columns.iter().zip(cells);
    let used = columns.filter(|(_, cell)| **cell != Cell::Unused);
    used.map(|(column, _)| *column).collect()
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Always => '✓',
        Cell::Sometimes => '~',
        Cell::Never => '✗',
        Cell::Unused => ' ',
    }
}
