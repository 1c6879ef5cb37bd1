//! The text of a first `murphy.toml`: short, and commented where the next
//! question comes up.

use super::{Origin, Plan};

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

/// The file for a plan.
pub(super) fn of(plan: &Plan) -> String {
    let mut text = HEAD.to_owned();
    for (name, origin) in &plan.services {
        text += &service(name, origin, plan);
    }
    if plan.services.is_empty() {
        text +=
            "\n# Change this: a name, and where the service runs. One table for each service.\n";
        text += &format!("[services.{EXAMPLE_SERVICE}]\nupstream = \"127.0.0.1:5000\"\n");
        text += "# or, to have it started:  command = \"flask --app shop run -p {port}\"\n";
    }
    text + &scenario(plan) + MODES
}

fn service(name: &str, origin: &Origin, plan: &Plan) -> String {
    let head = format!("\n[services.{}]\n", key(name));
    let other = plan.services.iter().find(|(other, _)| other != name);
    let rest = match origin {
        Origin::Running(upstream) => format!(
            "upstream = {}\n# Its callers must go through Murphy's proxy. Where they cannot be told so with\n# {{{name}.url}}, choose an address and point them at it:\n# listen = \"127.0.0.1:15001\"\n",
            quoted(upstream)
        ),
        Origin::Started(command) => {
            let (variable, other) = match other {
                Some((other, _)) => (variable(other), other.as_str()),
                None => ("OTHER_URL".to_owned(), "other"),
            };
            format!(
                "command = {}\n# Tell it where the others are, so that its calls go through Murphy's proxies:\n# env = {{ {variable} = \"{{{other}.url}}\" }}\n# health = \"/health\"\n",
                quoted(command)
            )
        }
    };
    head + &rest
}

fn scenario(plan: &Plan) -> String {
    let first = plan.services.first().map(|(name, _)| name.as_str());
    let entry = plan.entry.as_deref().or(first).unwrap_or(EXAMPLE_SERVICE);
    let env = format!("env = {{ {} = \"{{{entry}.url}}\" }}\n", variable(entry));
    let about_env =
        "# Your test must call the system at this address, which leads through Murphy:\n";
    match &plan.test {
        Some(test) => format!(
            "\n[scenario.test]\ncommand = {}\n{about_env}{env}",
            quoted(test)
        ),
        None => format!(
            "\n# The test: any command that exits with 0 if it passes. Without one here,\n# `murphy run -- COMMAND` runs what you type.\n# [scenario.test]\n# command = \"pytest -q\"\n{about_env}# {env}"
        ),
    }
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
    use murphy_config::Config;

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

    #[test]
    fn what_is_written_can_be_read_with_and_without_what_is_commented_out() {
        let running = |at: &str| Origin::Running(at.to_owned());
        let started = Origin::Started(r#"sh -c "echo \"{port}\"; sleep 9""#.to_owned());
        let plans = [
            Plan::default(),
            Plan {
                services: vec![("cart".to_owned(), running("127.0.0.1:5001"))],
                ..Plan::default()
            },
            Plan {
                services: vec![
                    ("a-shop".to_owned(), started),
                    ("cart".to_owned(), running("c:1")),
                ],
                test: Some("pytest -q 'a b'".to_owned()),
                entry: Some("cart".to_owned()),
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
}
