//! What was typed about a suite, as the text of a `murphy.toml`.
//!
//! Owns what each flag stands for there, so that there is one reader for both:
//! whoever outgrows the flags writes these keys.

use std::path::Path;

use murphy_config::Usage;
use toml::{Table, Value};

use super::TypedSuite;
use super::emulator::{self, Emulator, Finder};

/// The scenario that stands for the tests.
pub(super) const SCENARIO: &str = "suite";

/// The text; `variable` asks the environment.
pub(super) fn text(
    typed: &TypedSuite,
    directory: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Usage> {
    if typed.command.is_empty() && typed.one_command.is_none() {
        return Err(Usage::new("there is no command that runs the tests").hint(
            "write it after `--`, as in `murphy suite run --emulator moto -- pytest tests`",
        ));
    }
    let finder = Finder {
        directory,
        command: &typed.command,
        variable,
    };
    let emulators = typed.emulator.iter();
    let emulators: Vec<Emulator> = emulators
        .map(|name| emulator::named(name, &finder))
        .collect::<Result<_, _>>()?;
    let upstreams: Vec<Upstream> = typed
        .upstream
        .iter()
        .map(|it| upstream(it))
        .collect::<Result<_, _>>()?;
    if emulators.is_empty() && upstreams.is_empty() {
        return Err(Usage::new("it is not said which services the tests call")
            .hint("`--emulator moto` or `--emulator azurite` starts one, `--upstream HOST:PORT` names one that runs; or describe them in murphy.toml and name the scenario: `murphy suite run SCENARIO`"));
    }
    let mut services = Table::new();
    for (name, service) in emulators.iter().flat_map(|it| &it.services) {
        services.insert(name.clone(), service.clone().into());
    }
    for it in &upstreams {
        let mut service = Table::new();
        service.insert("upstream".into(), it.address.as_str().into());
        services.insert(it.name.clone(), service.into());
    }
    let mut all = Table::new();
    all.insert("services".into(), services.into());
    let scenario = scenario(typed, &emulators, &upstreams, &finder)?;
    all.insert(
        "scenario".into(),
        Table::from_iter([(SCENARIO.to_owned(), scenario.into())]).into(),
    );
    let egress = Table::from_iter([("allow".to_owned(), "named".into())]);
    all.insert("egress".into(), egress.into());
    if let Some(reset) = reset(typed, &emulators, &upstreams)? {
        let steps = Table::from_iter([("reset".to_owned(), reset)]);
        all.insert("steps".into(), steps.into());
    }
    if emulators.iter().any(|it| it.restart) {
        let system = Table::from_iter([("restart".to_owned(), "execution".into())]);
        all.insert("system".into(), system.into());
    }
    Ok(escape_dollars(
        &toml::to_string(&all).expect("tables of texts"),
    ))
}

/// A dollar sign is one, and no variable.
fn escape_dollars(text: &str) -> String {
    text.replace('$', "$$")
}

fn scenario(
    typed: &TypedSuite,
    emulators: &[Emulator],
    upstreams: &[Upstream],
    finder: &Finder<'_>,
) -> Result<Table, Usage> {
    let variable = finder.variable;
    let mut scenario = Table::new();
    let command = finder.runner(&typed.command);
    let words = command.iter().map(|word| Value::from(template(word)));
    scenario.insert("command".into(), Value::Array(words.collect()));
    scenario.insert("entry".into(), "inject".into());
    match (&typed.list_command, &typed.one_command) {
        (None, None) => {
            scenario.insert("each".into(), true.into());
        }
        (Some(list), Some(one)) => {
            scenario.insert("list_command".into(), list.as_str().into());
            scenario.insert("one_command".into(), one.as_str().into());
        }
        (list, _) => {
            let given = if list.is_some() {
                "--list-command"
            } else {
                "--one-command"
            };
            return Err(Usage::new(format!("`{given}` goes with the other of the two"))
                .hint("`--list-command` prints the id of a test on each line, `--one-command \"… {id}\"` runs one"));
        }
    }
    let mut env = Table::new();
    for (name, value) in emulators.iter().flat_map(|it| &it.variables) {
        // Credentials that are set are the user's; where services are is ours.
        let is_place = value.contains('{');
        if is_place || variable(name).is_none_or(|it| it.is_empty()) {
            env.insert((*name).into(), value.as_str().into());
        }
    }
    for (name, value) in redirected(upstreams) {
        env.insert(name, value.into());
    }
    for text in &typed.set {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            // What is secret is not kept for a replay.
            None => (
                text.as_str(),
                template(&variable(text).ok_or_else(|| not_set(text))?),
            ),
        };
        env.insert(name.to_owned(), value.into());
    }
    scenario.insert("env".into(), env.into());
    Ok(scenario)
}

fn not_set(name: &str) -> Usage {
    Usage::new(format!("`--set {name}` has no value"))
        .at("--set", name, name, "there is no `=`, and no variable of this name")
        .hint("write `--set NAME=VALUE`; `{NAME.url}` in it is where a service is called. Secrets are not stored: set the variable for a replay")
}

/// A service that runs already.
struct Upstream {
    name: String,
    address: String,
}

fn upstream(text: &str) -> Result<Upstream, Usage> {
    let (name, address) = text.split_once('=').unwrap_or(("cloud", text));
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if name.is_empty() || !(has_port || address.contains("://")) {
        return Err(Usage::new(format!("`{text}` is no upstream"))
            .at("--upstream", text, text, "not HOST:PORT")
            .hint(
                "write `--upstream 127.0.0.1:4566`, or with a name: `--upstream s3=127.0.0.1:9000`",
            ));
    }
    Ok(Upstream {
        name: name.to_owned(),
        address: address.to_owned(),
    })
}

/// The variables of the environment that name one of these services, so that
/// they lead to its proxy.
fn redirected(upstreams: &[Upstream]) -> Vec<(String, String)> {
    let leading = |value: &str| {
        let mut leading = None;
        for it in upstreams {
            let port = it.address.rsplit(':').next().unwrap_or_default();
            for address in [
                it.address.clone(),
                format!("localhost:{port}"),
                format!("127.0.0.1:{port}"),
            ] {
                if is_whole(value, &address) {
                    let text = leading.unwrap_or_else(|| template(value));
                    leading = Some(text.replace(&address, &format!("{{{}.address}}", it.name)));
                }
            }
        }
        leading
    };
    let variables = std::env::vars_os();
    let texts = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts
        .filter_map(|(name, value)| Some((name, leading(&value)?)))
        .collect()
}

/// Whether an address stands in a text, and not as a part of a longer port.
fn is_whole(text: &str, address: &str) -> bool {
    text.find(address).is_some_and(|at| {
        let after = text[at + address.len()..].chars().next();
        !after.is_some_and(|c| c.is_ascii_digit())
    })
}

fn template(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// What makes the services as new, as steps.
fn reset(
    typed: &TypedSuite,
    emulators: &[Emulator],
    upstreams: &[Upstream],
) -> Result<Option<Value>, Usage> {
    let mut steps: Vec<Value> = emulators
        .iter()
        .filter_map(|it| it.reset.clone().map(Value::from))
        .collect();
    if let Some(text) = &typed.reset {
        steps.push(reset_step(text, upstreams)?);
    }
    Ok((!steps.is_empty()).then_some(Value::Array(steps)))
}

/// `POST /path` of the first upstream, or a command.
fn reset_step(text: &str, upstreams: &[Upstream]) -> Result<Value, Usage> {
    let is_request = ["POST ", "PUT ", "DELETE ", "GET "]
        .iter()
        .any(|method| text.starts_with(method));
    if !is_request {
        return Ok(text.into());
    }
    let Some(first) = upstreams.first() else {
        return Err(Usage::new(format!("`{text}` is a request to no service"))
            .at("--reset", text, text, "there is no `--upstream`")
            .hint("emulators that Murphy starts are reset by themselves"));
    };
    let mut step = Table::new();
    step.insert("request".into(), text.into());
    step.insert("service".into(), first.name.as_str().into());
    Ok(step.into())
}
