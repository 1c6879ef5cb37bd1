//! The text of a first `murphy.toml`: short, and commented where the next
//! question comes up.

use std::fmt::Write;

use murphy_report::redact;
use murphy_system::template::{Place, Places, expand, parts};

use crate::code::FixedAddress;
use crate::plan::{Listen, Origin, Owner, Plan, Service, Wire};
use crate::wires;

const HEAD: &str = "\
# How Murphy tests this system. `murphy check` says what this file means,
# `murphy init --full` prints every key, explained.
";

/// Used where nothing is known yet.
const EXAMPLE_SERVICE: &str = "shop";

const MODES: &str = "
# How calls fail; by default with 503, reset and after:reset, over gRPC with grpc:UNAVAILABLE, grpc:INTERNAL and
# after:grpc:UNAVAILABLE. `murphy modes` shows them all.
# [search]
# modes = [500, 503, \"reset\", \"hang\"]
";

/// More variables than this have a line each.
const MOST_IN_LINE: usize = 3;

/// The file for a plan.
pub fn of(plan: &Plan) -> String {
    let mut text = HEAD.to_owned();
    text += &left_out(plan);
    for service in &plan.services {
        text += &self::service(service, plan);
    }
    if plan.services.is_empty() {
        text +=
            "\n# Change this: a name, and where the service runs. One table for each service.\n";
        text += &format!("[services.{EXAMPLE_SERVICE}]\nupstream = \"127.0.0.1:5000\"\n");
        text += "# or, to have it started:  command = \"flask --app shop run -p {port}\"\n";
    }
    text + &how_to_lead_containers(plan) + &scenario(plan) + MODES
}

fn left_out(plan: &Plan) -> String {
    let Some(file) = &plan.compose else {
        return String::new();
    };
    let mut text = format!("\n# The services were read from {file}.\n");
    for (name, why) in &plan.left_out {
        let _ = writeln!(text, "# Without {name}: {why}.");
    }
    text
}

fn service(service: &Service, plan: &Plan) -> String {
    let name = &service.name;
    let mut text = format!("\n[services.{}]\n", key(name));
    match &service.origin {
        Origin::Running(upstream) => {
            if service.unpublished.is_some() {
                let file = plan.compose.as_deref().unwrap_or_default();
                let _ = writeln!(
                    text,
                    "# {file} publishes no port of it; compose.murphy.yaml, below, publishes this one."
                );
            }
            let _ = writeln!(text, "upstream = {}", quoted(upstream));
            if let Some(command) = &service.container_command {
                let _ = writeln!(
                    text,
                    "# `{command}` starts it in its container. Where that works here too, Murphy can: write it as\n# `command` in place of `upstream`, with `directory` and `env` as needed."
                );
            }
            text += &listen(name, plan);
        }
        Origin::Started { command, port } => {
            let _ = writeln!(text, "command = {}", quoted(command));
            if !service.led.is_empty() {
                let callees = service.led.join(", ");
                let _ = writeln!(
                    text,
                    "# In it, placeholders replace the addresses of {callees}: they lead through Murphy."
                );
            }
            if let Some(port) = port {
                text +=
                    "# The command names this port. With {port} there, Murphy finds a free one.\n";
                let _ = writeln!(text, "port = {port}");
            }
            text += "# health = \"/health\"\n";
            let listen = listen_if_called(name, plan);
            text += &match called_at(name, plan) {
                Some((port, place)) if listen.is_empty() && service.usual_port == Some(port) => {
                    format!("# {place} calls it at this address.\nlisten = \"127.0.0.1:{port}\"\n")
                }
                _ => listen,
            };
            text += &env_of_started(service, plan);
        }
    }
    text
}

/// What a service is told that Murphy starts. Last, since it may be a table.
fn env_of_started(service: &Service, plan: &Plan) -> String {
    let owner = Owner::Service(service.name.clone());
    let lines = variables(&plan.wires_of(&owner), &service.assigned);
    let names_others = |command: &str| {
        let mut others = plan.services.iter().filter(|it| it.name != service.name);
        others.any(|it| command.contains(&format!("{{{}.", it.name)))
    };
    match &service.origin {
        // Where others are told something, this one may well call nobody.
        Origin::Started { command, .. }
            if plan.wires.is_empty() && lines.is_empty() && !names_others(command) =>
        {
            let other = plan.services.iter().find(|it| it.name != service.name);
            let other = other.map_or("other", |it| it.name.as_str());
            format!(
                "# Tell it where the others are, so that its calls go through Murphy's proxies:\n# env = {{ {} = \"{{{other}.url}}\" }}\n",
                variable(other)
            )
        }
        _ => env(&format!("services.{}", key(&service.name)), &lines),
    }
}

/// A variable, its value, and where it was learnt.
type Line = (String, String, String);

/// What somebody is told: what leads through Murphy, and what else stood before
/// the command.
fn variables(wires: &[&Wire], assigned: &[(String, String)]) -> Vec<Line> {
    let line = |it: &&Wire| (it.variable.clone(), it.value.clone(), it.learnt.clone());
    let mut lines: Vec<Line> = wires.iter().map(line).collect();
    for (name, value) in assigned {
        if !lines.iter().any(|(known, ..)| known == name) {
            let (value, learnt) = literal(name, value);
            lines.push((name.clone(), value, learnt.to_owned()));
        }
    }
    lines
}

/// A value that stands for itself, and where it was learnt. A secret does not
/// belong into a file that is kept with the code.
fn literal(name: &str, value: &str) -> (String, &'static str) {
    match redact::owned(&format!("{name}={value}")).ends_with(redact::MARK) {
        true => (
            format!("${{{name}:-}}"),
            "a secret, so set it in the environment of Murphy",
        ),
        false => (
            match parts(value) {
                // `{port}` and `{cart.url}` mean the same there.
                Ok(_) => value.to_owned(),
                Err(_) => value.replace('{', "{{").replace('}', "}}"),
            },
            "it stood before the command",
        ),
    }
}

/// `env`, in one line with the places above it, or as a table.
fn env(table: &str, lines: &[Line]) -> String {
    let pair = |(name, value, _): &Line| format!("{} = {}", key(name), quoted(value));
    if lines.is_empty() {
        return String::new();
    }
    if lines.len() > MOST_IN_LINE {
        let head = format!("\n[{table}.env]\n");
        let lines = lines.iter().map(|it| format!("{}  # {}\n", pair(it), it.2));
        return head + &lines.collect::<String>();
    }
    let learnt = lines
        .iter()
        .map(|(name, _, learnt)| format!("# {name}: {learnt}\n"));
    let pairs: Vec<String> = lines.iter().map(pair).collect();
    learnt.collect::<String>() + &format!("env = {{ {} }}\n", pairs.join(", "))
}

/// Where the proxy of a service listens that runs already.
fn listen(name: &str, plan: &Plan) -> String {
    let fixed = listen_if_called(name, plan);
    let is_led = plan.wires.iter().any(|it| it.callee == name)
        || plan
            .services
            .iter()
            .any(|it| it.led.iter().any(|led| led == name));
    match (fixed.is_empty(), is_led) {
        (true, true) => String::new(),
        (true, false) => {
            if let Some((port, place)) = called_at(name, plan) {
                let other = match port {
                    ..55_000 => port + 10_000,
                    _ => port - 10_000,
                };
                return format!(
                    "# {place} calls it at 127.0.0.1:{port}, past Murphy. Start {name} at another port, and write\n\
                     # for example, in place of the line above:\n\
                     # upstream = \"127.0.0.1:{other}\"\n# listen = \"127.0.0.1:{port}\"\n"
                );
            }
            let at = plan.services.iter().position(|it| it.name == name);
            let port = 15001 + at.unwrap_or(0);
            format!(
                "# Its callers must go through Murphy's proxy. Where they cannot be told so with\n# {{{name}.url}}, choose an address and point them at it:\n# listen = \"127.0.0.1:{port}\"\n"
            )
        }
        (false, _) => fixed,
    }
}

/// The port at which code other than its own calls a service, and where; none
/// where a variable leads there.
pub fn called_at(name: &str, plan: &Plan) -> Option<(u16, String)> {
    let service = plan.service(name)?;
    let port = service.usual_port.or(service.local_port())?;
    let is_led = plan.wires.iter().any(|it| it.callee == name);
    let mut fixed = plan.fixed.iter().filter(|_| !is_led);
    let of_others = |it: &&FixedAddress| it.port == port && !wires::is_of(name, &it.file, plan);
    let found = fixed.find(of_others)?;
    Some((port, format!("{}:{}", found.file, found.line)))
}

/// Where it must listen for callers that run already, and who they are.
fn listen_if_called(name: &str, plan: &Plan) -> String {
    let Some(listen) = plan.listen(name) else {
        return String::new();
    };
    let mut text = String::new();
    for caller in &plan.services {
        let calls: Vec<&Wire> = calls_of_running(plan)
            .filter(|(it, wire)| it.name == caller.name && wire.callee == name)
            .map(|(_, wire)| wire)
            .collect();
        let Some(first) = calls.first() else { continue };
        let settings = calls.iter().map(|it| {
            let value = expanded(it, plan).unwrap_or_default();
            format!("{}={value}", it.variable)
        });
        let settings = settings.collect::<Vec<_>>().join(" ");
        let (caller, learnt) = (&caller.name, &first.learnt);
        let _ = writeln!(
            text,
            "# {caller} calls it and runs already. Start that with {settings} ({learnt})."
        );
    }
    text + &format!("listen = {}\n", quoted(&listen.address()))
}

/// The variables of services that Murphy does not start.
fn calls_of_running(plan: &Plan) -> impl Iterator<Item = (&Service, &Wire)> {
    let wires = plan.wires.iter().filter_map(|wire| match &wire.owner {
        Owner::Service(name) => Some((plan.service(name)?, wire)),
        Owner::Test => None,
    });
    wires.filter(|(caller, _)| !caller.is_started())
}

/// What a variable must hold for a caller that Murphy does not start.
fn expanded(wire: &Wire, plan: &Plan) -> Option<String> {
    let listen: Listen = plan.listen(&wire.callee)?;
    let place = Place {
        host: listen.host().to_owned(),
        port: listen.port,
        secure: false,
    };
    let places = Places::from([(wire.callee.clone(), place)]);
    expand(&wire.value, &places, None).ok()
}

/// A file for compose that leads containers through Murphy.
fn how_to_lead_containers(plan: &Plan) -> String {
    let containers = plan.services.iter().filter(|it| it.in_container);
    let of_containers = |(caller, _): &(&Service, &Wire)| caller.in_container;
    let calls: Vec<_> = calls_of_running(plan).filter(of_containers).collect();
    let mut all = String::new();
    for container in containers {
        let calls = calls.iter().filter(|(it, _)| it.name == container.name);
        let calls: Vec<&Wire> = calls.map(|(_, wire)| *wire).collect();
        let publishes = container.unpublished.zip(container.local_port());
        if calls.is_empty() && publishes.is_none() {
            continue;
        }
        let _ = writeln!(all, "#     {}:", container.name);
        if let Some((inside, outside)) = publishes {
            let _ = writeln!(all, "#       ports: [\"127.0.0.1:{outside}:{inside}\"]");
        }
        if !calls.is_empty() {
            all += "#       extra_hosts: [\"host.docker.internal:host-gateway\"]\n#       environment:\n";
        }
        for wire in calls {
            let value = expanded(wire, plan).unwrap_or_default();
            let _ = writeln!(all, "#         {}: {}", wire.variable, quoted(&value));
        }
    }
    let Some(file) = plan.compose.as_ref().filter(|_| !all.is_empty()) else {
        return String::new();
    };
    let text = format!(
        "\n# Containers call each other past Murphy, unless they are told otherwise. Write this to\n\
         # compose.murphy.yaml, and start them with `docker compose -f {file} -f compose.murphy.yaml up -d`:\n#   services:\n{all}"
    );
    if calls.is_empty() {
        return text;
    }
    text + "# The proxies listen at 0.0.0.0, so that containers reach them; so does everybody in your network.\n"
}

fn scenario(plan: &Plan) -> String {
    let entry = plan.entry().unwrap_or(EXAMPLE_SERVICE);
    let assigned = plan.test.as_ref().map(|it| it.assigned.as_slice());
    let mut lines = variables(&plan.wires_of(&Owner::Test), assigned.unwrap_or_default());
    let names_entry = |it: &Line| it.1.contains(&format!("{{{entry}."));
    if !lines.iter().any(names_entry) {
        let value = format!("{{{entry}.url}}");
        let learnt = match plan.entry {
            Some(_) => "change the name to the variable that your test reads",
            None => {
                "change the name to the variable that your test reads, and the service to the one it calls"
            }
        };
        lines.insert(0, (variable(entry), value, learnt.to_owned()));
    }
    let rest = under_fault(plan)
        + "# Your test must call the system at this address, which leads through Murphy:\n"
        + &env("scenario.test", &lines);
    if !plan.files.is_empty() {
        let mut text = "\n# A scenario for each file of tests: a whole suite in one has too many calls to search.\n\
            # `murphy run NAME` runs one of them, `-k TEXT` those tests of it whose names hold a text.\n"
            .to_owned();
        let bare = rest.lines().filter(|line| !line.starts_with('#'));
        let bare: String = bare.map(|line| format!("{line}\n")).collect();
        for (at, file) in plan.files.iter().enumerate() {
            let (name, command) = (key(&file.name), quoted(&file.command));
            let env =
                |text: &str| text.replace("[scenario.test.env]", &format!("[scenario.{name}.env]"));
            let rest = env(if at == 0 { &rest } else { &bare });
            let gap = if at == 0 { "" } else { "\n" };
            let each = each(&file.command);
            let _ = write!(
                text,
                "{gap}[scenario.{name}]\ncommand = {command}\n{each}{rest}"
            );
        }
        return text;
    }
    match &plan.test {
        Some(test) => {
            let command = quoted(&test.command);
            let each = each(&test.command);
            let many = plan.many_files.filter(|_| each.is_empty()).map_or_else(String::new, |count| {
                format!(
                    "# This runs {count} files of tests. A scenario for each file, or for those that matter most, is searched sooner:\n\
                     # copy this table, and name the file in its command.\n"
                )
            });
            format!("\n{many}[scenario.test]\ncommand = {command}\n{each}{rest}")
        }
        None => {
            let commented = |line: &str| match line.starts_with('#') || line.is_empty() {
                true => format!("{line}\n"),
                false => format!("# {line}\n"),
            };
            let rest: String = rest.lines().map(commented).collect();
            format!(
                "\n# The test: any command that exits with 0 if it passes. Without one here,\n# `murphy run -- COMMAND` runs what you type.\n# [scenario.test]\n# command = \"pytest -q\"\n{rest}"
            )
        }
    }
}

/// Tests that are searched one by one do not meet what others left undone.
fn each(command: &str) -> &'static str {
    match murphy_config::lists_tests(command) {
        true => "each = true                # every test of it is a scenario of its own\n",
        false => "",
    }
}

/// The answers that are an honest refusal.
fn under_fault(plan: &Plan) -> String {
    let status = |it: &String| match it.parse::<u16>() {
        Ok(number) => number.to_string(),
        Err(_) => quoted(it),
    };
    let statuses: Vec<String> = plan.refusals.iter().map(status).collect();
    format!(
        "# Answers that refuse honestly while a call fails: a test that fails on one of them is no finding.\n\
         # 500 is never one: it says that the service itself is broken.\nunder_fault = [{}]\n",
        statuses.join(", ")
    )
}

/// A name as a key: bare, or in quotes for the reader to complain about.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// A string of TOML; JSON writes them the same way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The usual name of the variable that holds a service's address.
fn variable(service: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = service.chars().map(plain).collect();
    format!("{name}_URL")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{command_line, refusals};
    use murphy_config::Config;
    use murphy_system::spec::Source;

    fn written(plan: &Plan) -> Config {
        let text = of(plan);
        Config::of_new_file(Path::new("murphy.toml"), &text, &|_| None)
            .unwrap_or_else(|problems| panic!("{text}\n{}", problems[0]))
    }

    /// The text with its commented settings switched on.
    fn switched_on(text: &str) -> String {
        let setting = |line: &str| line.starts_with("# [") || line.contains(" = ");
        let lines = text.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if setting(line) && !rest.starts_with("or,") => rest,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn running(name: &str, at: &str) -> Service {
        Service::of(name, Origin::Running(at.to_owned()))
    }

    fn wire(owner: Owner, variable: &str) -> Wire {
        Wire {
            owner,
            variable: variable.to_owned(),
            value: "{cart.url}/v1".to_owned(),
            callee: "cart".to_owned(),
            learnt: "shop/app.py:3".to_owned(),
        }
    }

    #[test]
    fn what_is_written_can_be_read_with_and_without_what_is_commented_out() {
        let started = command_line::started("a-shop", r#"sh -c "echo \"{port}\"; sleep 9""#);
        let plans = [
            Plan::default(),
            Plan {
                services: vec![
                    running("cart", "127.0.0.1:5001"),
                    running("b", "127.0.0.1:2"),
                ],
                refusals: refusals::usual(),
                ..Plan::default()
            },
            Plan {
                services: vec![started, running("cart", "c:1")],
                test: Some(command_line::test("A='{b}' pytest -q 'a b'")),
                entry: Some("cart".to_owned()),
                ..Plan::default()
            },
        ];
        for plan in plans {
            let config = written(&plan);
            assert_eq!(config.system.services.len(), plan.services.len().max(1));
            assert_eq!(config.scenarios.len(), usize::from(plan.test.is_some()));
            let text = switched_on(&of(&plan));
            let more = Config::of_new_file(Path::new("murphy.toml"), &text, &|_| None);
            let more = more.unwrap_or_else(|problems| panic!("{text}\n{}", problems[0]));
            assert_eq!(more.scenarios.len(), 1);
            assert!(more.modes.usual.is_some());
        }
    }

    #[test]
    fn variables_are_written_with_where_they_were_learnt() {
        for count in [1, MOST_IN_LINE + 1] {
            let owner = || Owner::Service("shop".to_owned());
            let wires = (0..count).map(|it| wire(owner(), &format!("A{it}_URL")));
            let plan = Plan {
                services: vec![
                    command_line::started("shop", "x {port}"),
                    running("cart", "c:1"),
                ],
                wires: wires.collect(),
                ..Plan::default()
            };
            let text = of(&plan);
            assert_eq!(text.matches("shop/app.py:3").count(), count, "{text}");
            let Source::Managed(shop) = &written(&plan).system.services[0].source else {
                panic!("started");
            };
            assert_eq!(shop.environment.len(), count);
            assert_eq!(shop.environment["A0_URL"], "{cart.url}/v1");
        }
    }

    #[test]
    fn secrets_are_not_written_down_and_placeholders_stay() {
        let plan = Plan {
            services: vec![command_line::started(
                "shop",
                "API_TOKEN=hush-hush-42 A='{b}' SHOP_PORT={port} x",
            )],
            ..Plan::default()
        };
        assert!(!of(&plan).contains("hush"));
        let Source::Managed(shop) = &written(&plan).system.services[0].source else {
            panic!("started");
        };
        let of = |name: &str| shop.environment[name].as_str();
        assert_eq!((of("API_TOKEN"), of("A")), ("", "{{b}}"));
        assert_eq!(of("SHOP_PORT"), "{port}");
    }

    #[test]
    fn callers_that_run_already_get_an_address_to_call() {
        let shop = |in_container| Service {
            in_container,
            ..running("shop", "127.0.0.1:5000")
        };
        for (in_container, listen, told) in [
            (
                false,
                "127.0.0.1:15002",
                "CART_URL=http://127.0.0.1:15002/v1",
            ),
            (
                true,
                "0.0.0.0:15002",
                "#         CART_URL: \"http://host.docker.internal:15002/v1\"",
            ),
        ] {
            let plan = Plan {
                services: vec![shop(in_container), running("cart", "127.0.0.1:5001")],
                compose: Some("compose.yaml".to_owned()),
                wires: vec![wire(Owner::Service("shop".to_owned()), "CART_URL")],
                ..Plan::default()
            };
            let text = of(&plan);
            assert!(text.contains(told), "{text}");
            let cart = &written(&plan).system.services[1];
            let at = cart.listen.map(|it| it.to_string());
            assert_eq!(at.as_deref(), Some(listen));
        }
    }
}
