//! `murphy init`: a first `murphy.toml`.
//!
//! Owns the course: flags or questions ([`questions`]), the text ([`text`]),
//! a check by our own reader, and only then the file.

mod questions;
mod text;

use std::io::{self, Write};
use std::path::Path;

use crate::args::InitArgs;
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output};
use murphy_config::Usage;
use murphy_config::{Config, REFERENCE};

/// What is known of a system before there is a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    services: Vec<(String, Origin)>,
    test: Option<String>,
    entry: Option<String>,
}

/// Where a service comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// It runs already, at `host:port`.
    Running(String),
    /// This command starts it.
    Started(String),
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<u8, Error> {
    if args.full {
        output::write(|out| out.write_all(REFERENCE.as_bytes()))?;
        return Ok(exit::OK);
    }
    check_free(args, context)?;
    let text = text::of(&plan(args, context)?);
    let unwritten = format!("{} (not written)", args.config.display());
    Config::of_new_file(Path::new(&unwritten), &text, &|name| context.variable(name))
        .map_err(Error::Config)?;
    write(args, context, &text)?;
    output::write(|out| say_what_next(args, out))?;
    Ok(exit::OK)
}

fn check_free(args: &InitArgs, context: &Context) -> Result<(), Usage> {
    let path = args.config.display().to_string();
    if args.force || !context.directory().join(&args.config).exists() {
        return Ok(());
    }
    Err(Usage::new(format!("`{path}` exists already"))
        .hint("overwrite it with `--force`, or write another one with `--config PATH`"))
}

/// From the flags; without any, from whoever sits at the terminal.
fn plan(args: &InitArgs, context: &Context) -> Result<Plan, Error> {
    let mut plan = Plan {
        services: services(args)?,
        test: args.test.clone(),
        entry: args.entry.clone(),
    };
    if plan == Plan::default() && context.interactive {
        plan = questions::ask(&mut io::stdin().lock(), &mut io::stderr())
            .map_err(|error| anyhow::Error::new(error).context("cannot read the answers"))?;
    }
    if let Some(entry) = &plan.entry
        && !plan.services.iter().any(|(name, _)| name == entry)
    {
        let names: Vec<&str> = plan.services.iter().map(|(name, _)| &**name).collect();
        let hint = match names.is_empty() {
            true => format!("add it with `--service {entry}=HOST:PORT`"),
            false => format!("there are {}", names.join(", ")),
        };
        return Err(Usage::new(format!("there is no service `{entry}`"))
            .at("--entry", entry, entry, "none of the services given")
            .hint(hint)
            .into());
    }
    Ok(plan)
}

fn services(args: &InitArgs) -> Result<Vec<(String, Origin)>, Usage> {
    let mut services: Vec<(String, Origin)> = Vec::new();
    for (argument, words, origin) in [
        (
            "--service",
            &args.service,
            Origin::Running as fn(String) -> Origin,
        ),
        ("--manage", &args.manage, Origin::Started),
    ] {
        for word in words {
            let Some((name, rest)) = word.split_once('=') else {
                return Err(Usage::new(format!("`{word}` names no service"))
                    .at(argument, word, word, "no `=` in it")
                    .hint(match argument {
                        "--service" => "write for example `--service cart=127.0.0.1:5001`",
                        _ => "write for example `--manage \"cart=python cart.py {port}\"`",
                    }));
            };
            if services.iter().any(|(known, _)| known == name) {
                return Err(Usage::new(format!("service `{name}` is given twice"))
                    .at(argument, word, name, "the second time")
                    .hint("leave out one of them"));
            }
            services.push((name.to_owned(), origin(rest.to_owned())));
        }
    }
    Ok(services)
}

fn write(args: &InitArgs, context: &Context, text: &str) -> Result<(), Error> {
    let path = context.directory().join(&args.config);
    std::fs::write(&path, text).map_err(|error| {
        let message = format!("cannot write `{}`: {error}", args.config.display());
        Usage::new(message)
            .hint("choose a place that you may write to with `--config PATH`")
            .into()
    })
}

fn say_what_next(args: &InitArgs, out: &mut dyn Write) -> io::Result<()> {
    let usual = args.config.as_os_str() == murphy_config::NAME;
    let path = args.config.display();
    let flag = if usual {
        String::new()
    } else {
        format!(" --config {path}")
    };
    writeln!(out, "Wrote {path}. What to do next:")?;
    writeln!(
        out,
        "  1. read it, and change what does not fit your system"
    )?;
    writeln!(out, "  2. murphy check{flag}    says what it means")?;
    writeln!(
        out,
        "  3. murphy run{flag}      runs your test with calls failing"
    )
}
