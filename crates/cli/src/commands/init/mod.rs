//! `murphy init`: a first `murphy.toml`.
//!
//! Owns the course: what was typed, what the project shows by itself, questions
//! where somebody can answer ([`questions`]), a check by our own reader, and only
//! then the file. What is learnt from files is `murphy_discover`'s.

mod questions;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use murphy_config::Usage;
use murphy_config::{Config, REFERENCE};
use murphy_system::bypassed;

use crate::args::InitArgs;
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output};
use murphy_discover::compose::{self, Compose, Container};
use murphy_discover::plan::{Origin, Owner, Plan, Service};
use murphy_discover::{
    address, code, command_line, commands, dotenv, refusals, test_files, text, wires,
};

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<u8, Error> {
    if args.full {
        output::write(|out| out.write_all(REFERENCE.as_bytes()))?;
        return Ok(exit::OK);
    }
    check_free(args, context)?;
    let plan = plan(args, context)?;
    let text = text::of(&plan);
    let unwritten = format!("{} (not written)", args.config.display());
    let config = Config::of_new_file(Path::new(&unwritten), &text, &|name| context.variable(name))
        .map_err(Error::Config)?;
    write(args, context, &text)?;
    output::write(|out| {
        say_what_was_learnt(args, &plan, &config, out)?;
        say_what_next(args, out)
    })?;
    Ok(exit::OK)
}

/// Ports of this machine for containers that publish none, and cannot have theirs.
const FIRST_PUBLISHED: u16 = 16001;

/// How services are named, where nothing is known of any.
const EXAMPLE_FLAGS: [&str; 2] = [
    "--manage \"shop=COMMAND {port}\"",
    "--service cart=127.0.0.1:5001",
];

fn check_free(args: &InitArgs, context: &Context) -> Result<(), Usage> {
    let path = args.config.display().to_string();
    if args.force || !context.directory().join(&args.config).exists() {
        return Ok(());
    }
    Err(Usage::new(format!("`{path}` exists already"))
        .hint("overwrite it with `--force`, or write another one with `--config PATH`"))
}

/// From the flags and from what the project shows; without any flags, from
/// whoever sits at the terminal, too.
fn plan(args: &InitArgs, context: &Context) -> Result<Plan, Error> {
    let services = services(args)?;
    let refusals = args
        .under_fault
        .as_deref()
        .map(refusals::read)
        .transpose()?;
    let is_told = !services.is_empty() || args.test.is_some() || args.entry.is_some();
    let compose = compose_file(context);
    let mut plan = Plan {
        services,
        test: args.test.as_deref().map(command_line::test),
        entry: args.entry.clone(),
        refusals: refusals.clone().unwrap_or_else(refusals::usual),
        ..Plan::default()
    };
    if plan.services.is_empty() {
        take_containers(&mut plan, compose.as_ref());
    }
    if plan.services.is_empty() {
        for (service, learnt) in commands::find(&context.directory()) {
            plan.services.push(service);
            plan.found_in.push(learnt);
        }
    }
    take_tests(&mut plan, &context.directory());
    let asks = context.interactive && !is_told;
    let (answers, out) = (&mut io::stdin().lock(), &mut io::stderr());
    let unreadable = |error| Error::Internal {
        what: "cannot read the answers",
        error,
    };
    if asks {
        questions::ask_for_services(&mut plan, answers, out).map_err(unreadable)?;
    }
    check_entry(&plan)?;
    lead_commands(&mut plan);
    let found = code::search(&context.directory());
    if found.is_cut {
        output::say(format_args!(
            "note: only the first {} files were searched for variables that hold addresses",
            found.files
        ));
    }
    plan.wires = wires::find(&plan, compose.as_ref(), &found.mentions);
    plan.named_by_variables = wires::names(&found.mentions);
    plan.fixed = found.addresses;
    if asks {
        questions::ask_for_wires(&mut plan, answers, out).map_err(unreadable)?;
        if refusals.is_none() {
            questions::ask_for_refusals(&mut plan, answers, out).map_err(unreadable)?;
        }
    }
    Ok(plan)
}

/// The services of the flags, in the order of the flags.
fn services(args: &InitArgs) -> Result<Vec<Service>, Usage> {
    let mut services: Vec<Service> = Vec::new();
    for (argument, words) in [("--service", &args.service), ("--manage", &args.manage)] {
        for word in words {
            let Some((name, rest)) = word.split_once('=') else {
                return Err(Usage::new(format!("`{word}` names no service"))
                    .at(argument, word, word, "no `=` in it")
                    .hint(match argument {
                        "--service" => "write for example `--service cart=127.0.0.1:5001`",
                        _ => "write for example `--manage \"cart=python cart.py {port}\"`",
                    }));
            };
            if services.iter().any(|known| known.name == name) {
                return Err(Usage::new(format!("service `{name}` is given twice"))
                    .at(argument, word, name, "the second time")
                    .hint("leave out one of them"));
            }
            services.push(match argument {
                "--service" => Service::of(name, Origin::Running(rest.to_owned())),
                _ => command_line::started(name, rest),
            });
        }
    }
    Ok(services)
}

/// The compose file of this folder. One that cannot be read is no reason to
/// write nothing.
fn compose_file(context: &Context) -> Option<Compose> {
    match find_compose(&context.directory(), context) {
        Ok(found) => found,
        Err(compose::Unreadable { file, why }) => {
            output::say(format_args!(
                "note: {file} cannot be read and is left out: {why}\nhint: name services with `--service` and `--manage`, or repair it and use `--force`"
            ));
            None
        }
    }
}

/// The compose file of a folder, with the variables that compose would use.
pub(super) fn find_compose(
    folder: &Path,
    context: &Context,
) -> Result<Option<Compose>, compose::Unreadable> {
    // Some tools make it a pipe, which nobody may write to now.
    let dotenv = Some(folder.join(".env")).filter(|it| it.is_file());
    let dotenv = dotenv.and_then(|it| std::fs::read_to_string(it).ok());
    let dotenv = dotenv::read(&dotenv.unwrap_or_default());
    let variables = |name: &str| {
        let written = dotenv.iter().find(|it| it.name == name);
        let written = written.map(|it| it.value.clone());
        context.variable(name).or(written)
    };
    compose::find(folder, &variables)
}

/// The tests of the project: in place of none, or of a whole suite.
fn take_tests(plan: &mut Plan, folder: &Path) {
    let found = test_files::find(folder);
    match &plan.test {
        Some(test) => plan.files = test_files::of_suite(&test.command, &found.files),
        None => {
            plan.files = found.files;
            if let Some((count, test)) = found.all {
                plan.many_files = Some(count);
                plan.test = Some(test);
            }
        }
    }
}

/// The services of a compose file, at the ports that they publish.
fn take_containers(plan: &mut Plan, compose: Option<&Compose>) {
    let Some(compose) = compose else { return };
    plan.compose = Some(compose.file.clone());
    for container in &compose.services {
        let name = &container.name;
        let why = match (container.why_left_out(), container.published.first()) {
            (Some(why), _) => why,
            (None, Some((port, _))) => {
                plan.services.push(Service {
                    in_container: true,
                    container_command: container.command.clone(),
                    ..Service::of(name, Origin::Running(format!("127.0.0.1:{port}")))
                });
                continue;
            }
            (None, None) => match compose.port_of(container) {
                Some(inside) => {
                    let service = to_be_published(container, inside, plan, compose);
                    plan.services.push(service);
                    continue;
                }
                None => "it publishes no port, and nothing says at which it listens: where others call it, publish one as in `ports: [\"127.0.0.1:8080:8080\"]`, and add a table with `upstream = \"127.0.0.1:8080\"`".to_owned(),
            },
        };
        plan.left_out.push((name.clone(), why));
    }
}

/// A container that publishes no port, at one of this machine that is free: its
/// own, where anybody may listen there.
fn to_be_published(container: &Container, inside: u16, plan: &Plan, compose: &Compose) -> Service {
    let published = compose.services.iter().flat_map(|it| &it.published);
    let known = plan.services.iter().filter_map(Service::local_port);
    let taken: Vec<u16> = published.map(|(it, _)| *it).chain(known).collect();
    let own = Some(inside).filter(|port| *port >= 1024);
    let mut ports = own.into_iter().chain(FIRST_PUBLISHED..);
    let port = ports.find(|port| !taken.contains(port)).unwrap_or(inside);
    Service {
        in_container: true,
        unpublished: Some(inside),
        container_command: container.command.clone(),
        ..Service::of(
            &container.name,
            Origin::Running(format!("127.0.0.1:{port}")),
        )
    }
}

/// Puts placeholders in place of addresses of services in commands.
fn lead_commands(plan: &mut Plan) {
    let services = plan.services.clone();
    for service in &mut plan.services {
        if let Origin::Started { command, .. } = &mut service.origin
            && let Some((led, callees)) = address::in_words(command, &service.name, &services)
        {
            *command = led;
            service.led = callees;
        }
    }
    if let Some(test) = &mut plan.test
        && let Some((led, _)) = address::in_words(&test.command, "", &services)
    {
        test.command = led;
    }
}

fn check_entry(plan: &Plan) -> Result<(), Usage> {
    let Some(entry) = &plan.entry else {
        return Ok(());
    };
    if plan.service(entry).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = plan.services.iter().map(|it| &*it.name).collect();
    let hint = match names.is_empty() {
        true => format!("add it with `--service {entry}=HOST:PORT`"),
        false => format!("there are {}", names.join(", ")),
    };
    Err(Usage::new(format!("there is no service `{entry}`"))
        .at("--entry", entry, entry, "none of the services given")
        .hint(hint))
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

/// The variables that lead through Murphy, each with where it was learnt, and
/// what is still missing.
fn say_what_was_learnt(
    args: &InitArgs,
    plan: &Plan,
    config: &Config,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Wrote {}.", args.config.display())?;
    if let Some(file) = &plan.compose {
        let names: Vec<&str> = plan.services.iter().map(|it| &*it.name).collect();
        writeln!(out, "Read {file}: {}", or_none(&names))?;
    }
    if !plan.found_in.is_empty() {
        let found = plan.services.iter().zip(&plan.found_in);
        let found: Vec<String> = found
            .map(|(it, at)| format!("{} ({at})", it.name))
            .collect();
        writeln!(out, "Commands that start services: {}", found.join(", "))?;
    }
    let unpublished = plan.services.iter().filter(|it| it.unpublished.is_some());
    let unpublished: Vec<&str> = unpublished.map(|it| &*it.name).collect();
    if !unpublished.is_empty() {
        writeln!(
            out,
            "  {} cannot be reached from here yet: the file says how to publish a port",
            unpublished.join(", ")
        )?;
    }
    match (plan.files.len(), plan.many_files) {
        (0, None) => {}
        (0, Some(count)) => writeln!(
            out,
            "Tests: {count} files in one scenario; a scenario each is searched sooner"
        )?,
        (1, _) => writeln!(out, "Tests: {}", plan.files[0].file)?,
        (count, _) => writeln!(out, "Tests: {count} files, a scenario each")?,
    }
    for (name, why) in &plan.left_out {
        writeln!(out, "  without {name}: {why}")?;
    }
    if plan.services.is_empty() {
        say_how_to_name_services(args, plan, out)?;
    }
    if !plan.wires.is_empty() {
        writeln!(out, "Variables that lead through Murphy:")?;
    }
    for wire in &plan.wires {
        let owner = match &wire.owner {
            Owner::Service(name) => name,
            Owner::Test => "the test",
        };
        writeln!(
            out,
            "  {owner}: {} = {} ({})",
            wire.variable, wire.value, wire.learnt
        )?;
    }
    let callers_run = plan.wires.iter().any(|it| match &it.owner {
        Owner::Service(name) => plan.service(name).is_some_and(|it| !it.is_started()),
        Owner::Test => false,
    });
    if callers_run {
        writeln!(
            out,
            "Services that run already must be started anew with theirs: the file says how."
        )?;
    }
    let unknown = bypassed(&config.system, &config.scenarios).into_iter();
    let unknown = unknown.map(|it| it.name.as_str());
    let running = plan.services.iter().filter(|it| !it.is_started());
    let fixed = running.filter_map(|it| Some((&*it.name, text::called_at(&it.name, plan)?)));
    let fixed: BTreeMap<&str, (u16, String)> = fixed.collect();
    for (name, (port, place)) in &fixed {
        writeln!(
            out,
            "{place} calls {name} at 127.0.0.1:{port}, past Murphy: the file says what to change."
        )?;
    }
    // The test calls the entry, and it is told.
    let is_open = |it: &&str| Some(*it) != plan.entry() && !fixed.contains_key(it);
    let unknown: Vec<&str> = unknown.filter(is_open).collect();
    if !unknown.is_empty() && !plan.services.is_empty() {
        writeln!(
            out,
            "Not known: how callers are told where to find {}; write it to the file, or they bypass Murphy.",
            unknown.join(", ")
        )?;
    }
    Ok(())
}

/// Where no service was found: what code says of some, and how to name them.
fn say_how_to_name_services(args: &InitArgs, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "No service was found.")?;
    let mut flags = Vec::new();
    for (name, variable, place) in &plan.named_by_variables {
        writeln!(out, "  {variable} ({place}) names one: {name}")?;
        flags.push(format!("--manage \"{name}=COMMAND {{port}}\""));
    }
    for it in &plan.fixed {
        let (port, file, line) = (it.port, &it.file, it.line);
        writeln!(out, "  127.0.0.1:{port} is called ({file}:{line})")?;
        flags.push(format!("--service NAME=127.0.0.1:{port}"));
    }
    if flags.is_empty() {
        flags = EXAMPLE_FLAGS.map(str::to_owned).to_vec();
    }
    let config = config_flag(args);
    writeln!(
        out,
        "Say how each is started (`--manage`) or where it runs (`--service`), and init writes the file anew:\n  \
         murphy init --force{config} {}",
        flags.join(" ")
    )
}

fn or_none(names: &[&str]) -> String {
    match names.is_empty() {
        true => "no service that Murphy could stand in front of".to_owned(),
        false => names.join(", "),
    }
}

/// What to add to a command so that it finds the file.
fn config_flag(args: &InitArgs) -> String {
    match args.config.as_os_str() == murphy_config::NAME {
        true => String::new(),
        false => format!(" --config {}", args.config.display()),
    }
}

fn say_what_next(args: &InitArgs, out: &mut dyn Write) -> io::Result<()> {
    let flag = config_flag(args);
    writeln!(out, "What to do next:")?;
    writeln!(
        out,
        "  1. read it, and change what does not fit your system"
    )?;
    writeln!(out, "  2. murphy check{flag}    says what it means")?;
    writeln!(
        out,
        "  3. murphy doctor{flag}   is everything up, and does the test go through Murphy?"
    )?;
    writeln!(
        out,
        "  4. murphy run{flag}      runs your test with calls failing"
    )
}
