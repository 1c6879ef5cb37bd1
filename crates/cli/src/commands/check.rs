//! `murphy check`: what `murphy.toml` means, without running anything.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anstyle::Style;
use humantime::format_duration;
use murphy_model::Pattern;
use murphy_proxy::HEALTH_CHECKS;
use murphy_report::redact;
use murphy_search::{GRPC_MODES, HTTP_MODES, Reduction, Replies};
use murphy_system::spec::{
    CommandSpec, RequestCall, RequestSpec, ScenarioKind, ScenarioSpec, ServiceSpec, Source,
    StepSpec, Unused,
};

use murphy_system::{bypassed, url_variable};

use super::init;
use crate::args::CheckArgs;
use crate::context::Context;
use crate::error::{Error, warn};
use crate::project::say_if_extended;
use crate::{exit, output};
use murphy_config::{Config, IdentityRules, Level, Switch, mode_names};

const HEADING: Style = Style::new().bold();

pub(crate) fn run(args: &CheckArgs, context: &Context) -> Result<u8, Error> {
    let directory = context.directory();
    let variables = |name: &str| context.variable(name);
    let mut config =
        Config::load(args.config.as_deref(), &directory, &variables).map_err(Error::Config)?;
    if !args.command.is_empty() {
        let (typed, extended) = config.with_typed(&args.command, directory, &[])?;
        say_if_extended(extended.as_ref());
        config = typed;
    }
    output::write(|out| write(&config, out))?;
    warn_of_bypassed(&config);
    warn_of_unpublished(&config, context);
    Ok(exit::OK)
}

/// Warns of services whose callers would call them past Murphy: faults could
/// not be injected into these calls, and nobody would see why.
fn warn_of_bypassed(config: &Config) {
    for service in bypassed(&config.system, &config.scenarios) {
        let name = &service.name;
        let place = service.place.as_deref().unwrap_or_default();
        let variable = url_variable(name);
        let short = variable.trim_start_matches("MURPHY_");
        warn(format_args!(
            "callers of `{name}` are not led through Murphy: nothing uses `{{{name}.url}}`, and no `listen` is set\n --> {place}\n\
            hint: tell its callers, as in `env = {{ {short} = \"{{{name}.url}}\" }}`; where they cannot be told, set `listen` to the address that they call; \
            a test that reads {variable} needs neither; if nobody calls it, set `unused = true` or `proxied = false`"
        ));
    }
}

/// Warns of containers without a table that publish no port, beside others that
/// have one: calls to them bypass Murphy. One that cannot be read says nothing.
fn warn_of_unpublished(config: &Config, context: &Context) {
    let found = init::find_compose(config.file.directory(), context);
    let Ok(Some(compose)) = found else { return };
    let services = &config.system.services;
    let has_table = |name: &str| services.iter().any(|it| it.name == name);
    if !compose.services.iter().any(|it| has_table(&it.name)) {
        return;
    }
    let open = compose.services.iter().filter(|it| {
        it.published.is_empty() && it.why_left_out().is_none() && !has_table(&it.name)
    });
    for container in open {
        let name = &container.name;
        let port = compose.port_of(container).unwrap_or(8080);
        warn(format_args!(
            "`{name}` of {} publishes no port and has no table here: calls to it bypass Murphy\n\
            hint: publish one, as in `ports: [\"127.0.0.1:{port}:{port}\"]`, and write `[services.{name}]` with `upstream = \"127.0.0.1:{port}\"`; \
            if nobody calls it, all is well",
            compose.file
        ));
    }
}

fn write(config: &Config, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} makes sense.", config.file.shown())?;
    section(out, "Services", services(config))?;
    section(out, "Scenarios", scenarios(config))?;
    section(out, "Steps without faults", steps(config))?;
    section(
        out,
        "Environment of all that Murphy starts",
        environment(config),
    )?;
    section(out, "Calls fail with", modes(config))?;
    section(out, "Search", search(config))?;
    section(out, "Identity", identity(&config.identity))?;
    section(out, "Traffic", traffic(config))?;
    section(out, "Oracles", oracles(config))?;
    section(out, "Files", files(config))
}

/// Lines of a name and a text each; nothing if there are none.
fn section(out: &mut dyn Write, heading: &str, lines: Vec<(String, String)>) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{HEADING}{heading}{HEADING:#}")?;
    let width = lines.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    for (name, text) in lines {
        let text = redact::owned(&text);
        writeln!(out, "{}", format!("  {name:width$}  {text}").trim_end())?;
    }
    Ok(())
}

fn services(config: &Config) -> Vec<(String, String)> {
    let line = |service: &ServiceSpec| (service.name.clone(), about_service(service, config));
    config.system.services.iter().map(line).collect()
}

fn up_once(service: &ServiceSpec) -> String {
    match &service.health.path {
        Some(path) => format!(
            "up once {path} answers, within {}",
            time(service.health.within)
        ),
        None => format!(
            "up once it accepts connections, within {}",
            time(service.health.within)
        ),
    }
}

fn about_service(service: &ServiceSpec, config: &Config) -> String {
    let mut parts = vec![match &service.source {
        Source::Running { upstream } => format!("runs at {upstream}"),
        Source::Hosts => "wherever its hosts are".to_owned(),
        Source::Test => "started by the test".to_owned(),
        Source::Managed(managed) => {
            let port = managed.port.map(|port| format!(" at port {port}"));
            format!(
                "started with {}{}{}, stopped within {}",
                command_line(&managed.command),
                in_folder(&managed.directory, config),
                port.unwrap_or_default(),
                time(managed.stop_within)
            )
        }
    }];
    if !service.callers.hosts.is_empty() {
        let hosts = service.callers.hosts.join(", ");
        parts.push(format!("called by the forward proxy as {hosts}"));
    }
    if service.callers.speak_tls {
        parts.push("its callers speak TLS".to_owned());
    }
    if service.tls.is_some() {
        parts.push("spoken to over TLS".to_owned());
    }
    if !matches!(service.source, Source::Hosts | Source::Test) {
        parts.push(up_once(service));
    }
    parts.extend(
        service
            .listen
            .map(|at| format!("its proxy listens at {at}")),
    );
    if !service.proxied {
        parts.push("without a proxy".to_owned());
    }
    if let Some(calls) = &service.calls {
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        parts.push(match calls.is_empty() {
            true => "calls no service".to_owned(),
            false => format!("calls {}", calls.join(", ")),
        });
    }
    match &service.unused {
        Unused::Never => {}
        Unused::Always => parts.push("no call to it is expected".to_owned()),
        Unused::In(scenarios) => {
            let scenarios: Vec<&str> = scenarios.iter().map(String::as_str).collect();
            let scenarios = scenarios.join(", ");
            parts.push(format!("no call to it is expected in {scenarios}"));
        }
    }
    parts.join("; ")
}

fn scenarios(config: &Config) -> Vec<(String, String)> {
    if config.scenarios.is_empty() {
        return vec![(
            "(none)".to_owned(),
            "`murphy run -- COMMAND` runs one".to_owned(),
        )];
    }
    let line = |scenario: &ScenarioSpec| {
        let what = match &scenario.kind {
            ScenarioKind::Command(command) => about_command(command, config),
            ScenarioKind::Requests(requests) => {
                let requests: Vec<String> = requests.iter().map(about_request).collect();
                requests.join(", then ")
            }
            ScenarioKind::Each(each) => {
                format!(
                    "each test of {}",
                    about_command(&each.runner.command, config)
                )
            }
            ScenarioKind::Test(test) => test.id.clone(),
            ScenarioKind::Function(_) => "a function".to_owned(),
        };
        (
            scenario.name.clone(),
            format!("{what}; at most {}", time(scenario.timeout)),
        )
    };
    config.scenarios.iter().map(line).collect()
}

fn steps(config: &Config) -> Vec<(String, String)> {
    let system = &config.system;
    let parts = [
        ("at first", &system.setup),
        ("before each execution", &system.reset),
        ("in the end", &system.teardown),
    ];
    let mut lines = Vec::new();
    for (when, steps) in parts {
        for step in steps {
            let what = match step {
                StepSpec::Command(command) => about_command(command, config),
                StepSpec::Request(request) => about_request(request),
                StepSpec::Function(_) => "a function".to_owned(),
            };
            lines.push((when.to_owned(), what));
        }
    }
    lines
}

fn about_command(command: &CommandSpec, config: &Config) -> String {
    command_line(&command.command) + &in_folder(&command.directory, config)
}

fn about_request(request: &RequestSpec) -> String {
    let asked = match &request.call {
        RequestCall::Http { method, target, .. } => format!("{method} {target}"),
        RequestCall::Grpc { method, .. } => format!("gRPC {method}"),
    };
    let expected = match request.expect.status.is_empty() {
        true => String::new(),
        false => format!(", expects {}", request.expect.status.join(" or ")),
    };
    format!("{asked} of {}{expected}", request.service)
}

/// What is shown of a variable passes for a setting, so that secrets are hidden
/// by their names as well.
fn environment(config: &Config) -> Vec<(String, String)> {
    let line = |(name, value): (&String, &String)| {
        let setting = redact::owned(&format!("{name}={value}"));
        let value = setting.strip_prefix(&format!("{name}="));
        (name.clone(), value.unwrap_or_default().to_owned())
    };
    config.environment.iter().map(line).collect()
}

fn modes(config: &Config) -> Vec<(String, String)> {
    let rules = &config.modes;
    let never = |modes: String| {
        if modes.is_empty() {
            "nothing".to_owned()
        } else {
            modes
        }
    };
    let usual = rules.usual.as_deref().map(mode_names);
    let usual = usual.unwrap_or_else(|| {
        let [http, grpc] = [HTTP_MODES, GRPC_MODES].map(|list| list.replace(',', ", "));
        format!("{http}; over gRPC {grpc}")
    });
    let calls = rules.calls.iter();
    let mut lines: Vec<(String, String)> = calls
        .map(|(at, modes)| (at.to_string(), never(mode_names(modes))))
        .collect();
    for service in &config.system.services {
        let name = &service.name;
        let own = rules.services.get(name);
        lines.extend(own.map(|modes| (format!("calls to {name}"), never(mode_names(modes)))));
    }
    let rest = if lines.is_empty() {
        "all calls"
    } else {
        "other calls"
    };
    lines.push((rest.to_owned(), usual));
    lines
}

fn search(config: &Config) -> Vec<(String, String)> {
    let rules = &config.search;
    let mut lines = Lines::default();
    lines.set(
        "strategy",
        rules.strategy.map(|s| format!("{s:?}").to_lowercase()),
    );
    lines.set(
        "order",
        rules.order.map(|o| format!("{o:?}").to_lowercase()),
    );
    lines.set("max_faults", rules.max_faults);
    lines.set("max_cases", rules.max_cases);
    lines.set("max_time", rules.max_time.map(time));
    lines.set("jobs", rules.jobs);
    lines.set("exhaustive", rules.exhaustive.then_some(true));
    let replies = |of| Replies::NAMES.iter().find(|(_, known)| *known == of);
    lines.set(
        "replies",
        rules.replies.and_then(replies).map(|(name, _)| *name),
    );
    lines.list("reduce", rules.reduce.iter().map(reduction));
    lines.list("no_reduce", rules.no_reduce.iter().map(reduction));
    lines.set("seed", rules.seed);
    lines.list("only", rules.filter.only.iter().map(Pattern::to_string));
    lines.list("except", rules.filter.except.iter().map(Pattern::to_string));
    lines.set("references", Some(rules.references));
    lines.0
}

fn reduction(reduction: &Reduction) -> String {
    let known = Reduction::NAMES
        .iter()
        .find(|(_, known)| known == reduction);
    known.map_or("", |(name, _)| name).to_owned()
}

fn identity(rules: &IdentityRules) -> Vec<(String, String)> {
    let mut lines = Lines::default();
    let switches = [
        ("path", rules.path),
        ("payload", rules.payload),
        ("predecessors", rules.predecessors),
        ("call_site", rules.call_site),
        ("count", rules.count),
    ];
    for (name, switch) in switches {
        lines.set(
            name,
            (switch != Switch::Auto).then(|| name_of(switch, &Switch::NAMES)),
        );
    }
    lines.list("paths", rules.paths.iter().cloned());
    lines.list("mask", rules.masked.iter().cloned());
    lines.0
}

fn traffic(config: &Config) -> Vec<(String, String)> {
    let proxy = &config.proxy;
    let solo = config.context.solo;
    let mut lines = Lines::default();
    lines.set("carriers", Some(&proxy.carriers));
    lines.set(
        "solo",
        (solo != Switch::Auto).then(|| name_of(solo, &Switch::NAMES)),
    );
    lines.set("grace", config.context.grace.map(time));
    lines.list("ignore", ignored(&proxy.ignored));
    lines.set("marker", (!proxy.marker).then_some("off"));
    lines.list("answers", proxy.answers.keys().map(u16::to_string));
    lines.0
}

/// The usual ones have a name for all of them.
fn ignored(paths: &[String]) -> impl Iterator<Item = String> {
    let usual = |path: &&String| HEALTH_CHECKS.contains(&path.as_str());
    let others = paths.iter().filter(move |path| !usual(path)).cloned();
    let health_checks = paths.iter().find(usual).map(|_| "health checks".to_owned());
    others.chain(health_checks)
}

fn oracles(config: &Config) -> Vec<(String, String)> {
    let rules = config.oracles.iter();
    let line = |rule: &murphy_config::OracleRule| {
        let level = name_of(rule.level, &Level::NAMES);
        (rule.name.clone(), level.to_owned())
    };
    rules.map(line).collect()
}

fn files(config: &Config) -> Vec<(String, String)> {
    let store = &config.store;
    let near = |path: &Path| near(path, config);
    let runs = format!("{}, the last {}", near(&store.directory), store.keep);
    let mut lines = vec![("runs".to_owned(), runs)];
    for report in &config.reports {
        lines.push((report.format.to_owned(), near(&report.path)));
    }
    lines
}

/// Settings that differ from what is usual.
#[derive(Default)]
struct Lines(Vec<(String, String)>);

impl Lines {
    fn set(&mut self, name: &str, value: Option<impl Display>) {
        self.0
            .extend(value.map(|value| (name.to_owned(), value.to_string())));
    }

    fn list(&mut self, name: &str, values: impl Iterator<Item = String>) {
        let values: Vec<String> = values.collect();
        self.set(name, (!values.is_empty()).then(|| values.join(", ")));
    }
}

fn name_of<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let found = names.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

fn command_line(words: &[String]) -> String {
    let plain = |word: &String| word.replace("{{", "{").replace("}}", "}");
    let words: Vec<String> = words.iter().map(plain).collect();
    format!("`{}`", redact::command(&words))
}

fn in_folder(directory: &Path, config: &Config) -> String {
    match near(directory, config) {
        here if here.is_empty() || here == "." => String::new(),
        folder => format!(" in {folder}"),
    }
}

/// A path as it would be written in the file.
fn near(path: &Path, config: &Config) -> String {
    let short = path.strip_prefix(config.file.directory()).unwrap_or(path);
    short.display().to_string()
}

fn time(time: Duration) -> String {
    format_duration(time).to_string()
}
