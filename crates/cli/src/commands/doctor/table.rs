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
    for column in columns {
        write!(out, "  {column}")?;
    }
    writeln!(out)?;
    for (name, row) in names.iter().zip(rows) {
        let mut line = format!("  {name:first$}  {:>5}", row.calls);
        for (column, cell) in columns.iter().zip(&row.cells) {
            let width = column.chars().count();
            line += &format!("  {:^width$}", sign(*cell));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(
        out,
        "  ✓ comes back on every call, ~ on some, ✗ on none, - not in use (`[context] carriers`)"
    )
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Always => '✓',
        Cell::Sometimes => '~',
        Cell::Never => '✗',
        Cell::Unused => '-',
    }
}
