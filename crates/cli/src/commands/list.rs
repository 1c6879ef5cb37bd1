//! `murphy demo --list`: the example systems and their switches.

use std::io::{self, Write};

use anstyle::Style;
use murphy_corpus::{App, Switch, Values};

use crate::error::Error;
use crate::{exit, output};

const NAME: Style = Style::new().bold();

pub(crate) fn run() -> Result<u8, Error> {
    output::write(|out| write(&murphy_corpus::all(), out))?;
    Ok(exit::OK)
}

fn write(apps: &[App], out: &mut dyn Write) -> io::Result<()> {
    let width = apps.iter().map(|app| app.name.len()).max().unwrap_or(0);
    for app in apps {
        writeln!(out, "{NAME}{:width$}{NAME:#}  {}", app.name, app.about)?;
        for switch in app.switches {
            writeln!(out, "{:width$}    {}", "", switch_text(switch))?;
        }
    }
    Ok(())
}

fn switch_text(switch: &Switch) -> String {
    let values = match switch.values {
        Values::OnOff => "on|off".to_owned(),
        Values::Number(low, high) => format!("{low}..{high}"),
        Values::Tenths(low, high) => format!("{low}.0..{high}.0"),
        Values::Words(words) => words.join("|"),
    };
    let Switch {
        name,
        about,
        default,
        ..
    } = switch;
    format!("--set {name}={values}  {about} (default {default})")
}
