//! Services and carriers as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::sightings::{Cell, Row};

/// Services and carriers as a table.
pub(super) struct Table<'t> {
    columns: Vec<&'t str>,
    rows: &'t [Row],
    callers: &'t BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Table<'t> {
    pub(super) fn new(
        columns: Vec<&'t str>,
        rows: &'t [Row],
        callers: &'t BTreeMap<&'t str, BTreeSet<&'t str>>,
    ) -> Self {
        Table {
            columns,
            rows,
            callers,
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = self.rows.iter().map(|row| self.name(row)).collect();
        let widest = names.iter().map(|name| name.chars().count()).max();
        let first = widest.unwrap_or(0);
        write!(out, "  {:first$}  calls", "")?;
        for column in &self.columns {
            write!(out, "  {column}")?;
        }
        writeln!(out)?;
        for (name, row) in names.iter().zip(self.rows) {
            let mut line = format!("  {name:first$}  {:>5}", row.calls);
            for (column, cell) in self.columns.iter().zip(&row.cells) {
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

    fn name(&self, row: &Row) -> String {
        let callers = self.callers.get(row.service.as_str());
        match callers {
            Some(callers) => {
                let callers: Vec<&str> = callers.iter().copied().collect();
                format!("{} (called by {})", row.service, callers.join(", "))
            }
            None => row.service.clone(),
        }
    }
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Always => '✓',
        Cell::Sometimes => '~',
        Cell::Never => '✗',
        Cell::Unused => '-',
    }
}
