//! `murphy modes`: every mode, or one, with what it shows and what it costs.

#[cfg(test)]
mod guide;
mod table;

use std::io::{self, Write};

use anstyle::Style;
use murphy_config::Usage;
use murphy_model::{Mode, ModeSet, Phase};
use murphy_search::{GRPC_MODES, HTTP_MODES};

use crate::args::ModesArgs;
use crate::error::Error;
use crate::{exit, output};
use table::{ENTRIES, Entry, PHASES, about_set};

const TITLE: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

pub(crate) fn run(args: &ModesArgs) -> Result<u8, Error> {
    let Some(word) = args.mode.as_deref() else {
        output::write(all)?;
        return Ok(exit::OK);
    };
    match ModeSet::named(word) {
        Some(set) => output::write(|out| one_set(set, out))?,
        None => {
            let modes = Mode::parse_list(word).map_err(|error| Usage::syntax("MODE", &error))?;
            output::write(|out| each(&modes, out))?;
        }
    }
    Ok(exit::OK)
}

fn all(out: &mut dyn Write) -> io::Result<()> {
    for (phase, name, about) in PHASES {
        writeln!(out, "{TITLE}{name}{TITLE:#}: {about}")?;
        let width = ENTRIES.iter().map(|entry| entry.mode.len()).max();
        for entry in ENTRIES.iter().filter(|entry| is_in(entry, phase)) {
            row(entry, width.unwrap_or_default(), out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{TITLE}Several at once{TITLE:#}, in a list of modes")?;
    for set in ModeSet::ALL {
        let (name, modes) = (set.name, spaced(set.modes));
        writeln!(out, "  {name}  {modes}: {}", about_set(set))?;
    }
    let [http, grpc] = [HTTP_MODES, GRPC_MODES].map(spaced);
    writeln!(
        out,
        "\nBy default calls fail with {http}; over gRPC with {grpc}."
    )?;
    writeln!(
        out,
        "Choose with `murphy run --modes 503,hang` or `modes` in murphy.toml; `murphy modes hang` shows one."
    )
}

fn is_in(entry: &Entry, phase: Phase) -> bool {
    entry.parsed().phase() == phase
}

fn row(entry: &Entry, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mode = entry.mode;
    writeln!(
        out,
        "  {TITLE}{mode:width$}{TITLE:#}  {}{}",
        entry.happens,
        or_others(entry)
    )?;
    let lines = [("shows", entry.shows), ("costs", entry.costs)];
    for (what, text) in lines {
        writeln!(out, "  {:width$}  {QUIET}{what}{QUIET:#} {text}", "")?;
    }
    Ok(())
}

fn or_others(entry: &Entry) -> String {
    match entry.others {
        "" => String::new(),
        others => format!(" ({others})"),
    }
}

fn each(modes: &[Mode], out: &mut dyn Write) -> io::Result<()> {
    for (i, mode) in modes.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        one(*mode, out)?;
    }
    Ok(())
}

/// One mode, which need not be the example in the table.
fn one(mode: Mode, out: &mut dyn Write) -> io::Result<()> {
    let entry = Entry::of(mode);
    let (_, phase, about) = PHASES
        .into_iter()
        .find(|(phase, _, _)| *phase == mode.phase())
        .expect("all phases are listed");
    writeln!(
        out,
        "{TITLE}{mode}{TITLE:#}: {}{}",
        entry.happens,
        or_others(entry)
    )?;
    let lines = [
        ("when", format!("{}: {about}", phase.to_lowercase())),
        ("shows", entry.shows.to_owned()),
        ("costs", entry.costs.to_owned()),
        ("example", entry.demo.to_owned()),
        ("use", format!("murphy run --modes {mode}")),
    ];
    for (what, text) in lines {
        writeln!(out, "  {QUIET}{what:7}{QUIET:#}  {text}")?;
    }
    Ok(())
}

fn one_set(set: ModeSet, out: &mut dyn Write) -> io::Result<()> {
    let (name, modes) = (set.name, spaced(set.modes));
    writeln!(
        out,
        "{TITLE}{name}{TITLE:#}: stands for {modes} in a list of modes"
    )?;
    writeln!(out, "  {QUIET}{:7}{QUIET:#}  {}", "what", about_set(set))?;
    writeln!(
        out,
        "  {QUIET}{:7}{QUIET:#}  murphy run --modes {name}",
        "use"
    )
}

fn spaced(list: &str) -> String {
    list.replace(',', ", ")
}
