//! A compose file: services that run in containers, and what they are told of
//! each other.
//!
//! Owns what is read of such a file: names, published ports, commands, variables.
//! What is no HTTP service is distinguished by its image and port. Only the file
//! itself is read: `include`, `extends` and override files are left alone.

use std::path::Path;

use serde_json::{Map, Value};

use crate::command_line;

/// The names of the file, in the order in which compose looks for them.
const NAMES: [&str; 4] = [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];

/// Images that serve no calls of the system over HTTP or gRPC.
const FOREIGN_IMAGES: [&str; 22] = [
    "postgres",
    "postgis",
    "mysql",
    "mariadb",
    "redis",
    "valkey",
    "memcached",
    "mongo",
    "cassandra",
    "rabbitmq",
    "kafka",
    "zookeeper",
    "nats",
    "mssql",
    "jaeger",
    "zipkin",
    "prometheus",
    "grafana",
    "otel",
    "opentelemetry-collector",
    "adminer",
    "pgadmin",
];

/// Ports of containers at which such images listen.
const FOREIGN_PORTS: [u16; 11] = [
    5432, 3306, 6379, 11211, 27017, 9042, 5672, 9092, 2181, 4222, 1433,
];

/// What a compose file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Compose {
    /// Its name.
    pub file: String,
    /// The services, in the order of the file.
    pub services: Vec<Container>,
}

/// A service of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// The image that it is made from.
    pub image: Option<String>,
    /// The ports of this machine and of the container.
    pub published: Vec<(u16, u16)>,
    /// The port of the container, where it is not published.
    pub exposed: Option<u16>,
    /// What it runs, where the file says so.
    pub command: Option<String>,
    /// Its variables, in their order.
    pub environment: Vec<(String, String)>,
}

impl Container {
    /// Why it is nothing for Murphy; `None` if it may be.
    pub fn why_left_out(&self) -> Option<String> {
        let image = self.image.as_deref().unwrap_or_default();
        let name = image.rsplit('/').next().unwrap_or_default();
        let name = name.split([':', '@']).next().unwrap_or_default();
        let is_foreign = |known: &&&str| name == **known || name.starts_with(&format!("{known}-"));
        if FOREIGN_IMAGES.iter().find(is_foreign).is_some() {
            return Some(format!("its image is {image}"));
        }
        let ports = self.published.iter().map(|(_, port)| port);
        let mut ports = ports.chain(&self.exposed);
        let port = ports.find(|port| FOREIGN_PORTS.contains(port));
        port.map(|port| format!("it listens on {port}, which is not HTTP"))
    }
}

impl Compose {
    /// The port at which a container listens that publishes none: as it says, or
    /// as the others call it.
    pub fn port_of(&self, container: &Container) -> Option<u16> {
        let values = self.services.iter().flat_map(|it| &it.environment);
        let called = values.filter_map(|(_, value)| {
            let (before, behind) = value.split_once(&format!("{}:", container.name))?;
            let is_whole = before.is_empty() || before.ends_with('/') || before.ends_with('@');
            let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok().filter(|_| is_whole)
        });
        let command = container.command.as_deref();
        let said = container.exposed;
        said.or_else(|| command_line::port(command?))
            .or_else(|| called.into_iter().next())
    }
}

/// Why a compose file cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub file: String,
    /// What is the matter, in one line.
    pub why: String,
}

/// The compose file of a folder, if there is one; `variables` are those that
/// it may name.
pub fn find(
    folder: &Path,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Compose>, Unreadable> {
    let Some(file) = NAMES.iter().find(|it| folder.join(it).is_file()) else {
        return Ok(None);
    };
    let unreadable = |why: String| Unreadable {
        file: (*file).to_owned(),
        why,
    };
    let text = std::fs::read_to_string(folder.join(file));
    let text = text.map_err(|error| unreadable(error.to_string()))?;
    let services = read(&text, variables).map_err(unreadable)?;
    Ok(Some(Compose {
        file: (*file).to_owned(),
        services,
    }))
}

fn read(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Container>, String> {
    let root: Value = serde_saphyr::from_str(text).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_owned()
    })?;
    let empty = Map::new();
    let services = root.get("services").and_then(Value::as_object);
    let services = services.unwrap_or(&empty).iter();
    let container = |(name, it): (&String, &Value)| container(name, it, variables);
    Ok(services.map(container).collect())
}

fn container(name: &str, value: &Value, variables: &dyn Fn(&str) -> Option<String>) -> Container {
    let text = |value: &Value| plain(value).map(|it| filled(&it, variables));
    let list = |key: &str| {
        let list = value.get(key).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let ports = list("ports");
    let ports: Vec<_> = ports.iter().filter_map(|it| port(it, &text)).collect();
    let exposed = list("expose");
    let exposed = exposed
        .iter()
        .filter_map(|it| text(it)?.parse().ok())
        .next();
    let unpublished = ports.iter().find_map(|(host, target)| match host {
        None => Some(*target),
        Some(_) => None,
    });
    let published = ports
        .iter()
        .filter_map(|(host, port)| Some(((*host)?, *port)));
    Container {
        name: name.to_owned(),
        image: value.get("image").and_then(text),
        published: published.collect(),
        exposed: exposed.or(unpublished),
        command: value.get("command").and_then(|it| command(it, &text)),
        environment: environment(value.get("environment"), &text),
    }
}

/// A port of this machine, if one is published, and of the container:
/// `8080:80`, `127.0.0.1:8080:80/tcp`, `80`, or a table.
fn port(value: &Value, text: &dyn Fn(&Value) -> Option<String>) -> Option<(Option<u16>, u16)> {
    if value.is_object() {
        let number = |key: &str| text(value.get(key)?)?.parse().ok();
        return Some((number("published"), number("target")?));
    }
    let written = text(value)?;
    let (ports, protocol) = written.split_once('/').unwrap_or((&written, "tcp"));
    let mut parts = ports.rsplit(':');
    let target = parts.next()?.parse().ok()?;
    let published = parts.next().and_then(|it| it.parse().ok());
    (protocol == "tcp").then_some((published, target))
}

/// A text, or a list of words.
fn command(value: &Value, text: &dyn Fn(&Value) -> Option<String>) -> Option<String> {
    match value {
        Value::Array(words) => {
            let words: Vec<String> = words.iter().filter_map(text).collect();
            Some(murphy_report::redact::command(&words))
        }
        // One line of a block of several would mislead.
        _ => text(value).filter(|it| !it.trim().contains('\n')),
    }
}

/// A table, or a list of `NAME=value`; names alone are set elsewhere.
fn environment(
    value: Option<&Value>,
    text: &dyn Fn(&Value) -> Option<String>,
) -> Vec<(String, String)> {
    match value {
        Some(Value::Object(table)) => {
            let pair = |(name, value): (&String, &Value)| Some((name.clone(), text(value)?));
            table.iter().filter_map(pair).collect()
        }
        Some(Value::Array(list)) => {
            let pair = |it: &Value| {
                let written = text(it)?;
                let (name, value) = written.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            };
            list.iter().filter_map(pair).collect()
        }
        _ => Vec::new(),
    }
}

/// A scalar as it was written.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// A text with `${NAME}` and `${NAME:-default}` filled in; what is unknown is
/// left empty, as compose does.
fn filled(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        done.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else {
            break;
        };
        let inside = &rest[at + 2..at + end];
        let (name, default) = match inside.find([':', '-', '?', '+']) {
            Some(at) => (&inside[..at], inside[at..].trim_start_matches(':')),
            None => (inside, ""),
        };
        let default = default.strip_prefix('-').unwrap_or_default();
        let value = variables(name).filter(|it| !it.is_empty());
        done.push_str(&value.unwrap_or_else(|| default.to_owned()));
        rest = &rest[at + end + 1..];
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Container> {
        read(text, &|name| (name == "PORT").then(|| "8081".to_owned())).unwrap()
    }

    #[test]
    fn a_port_that_is_not_published_is_known_from_itself_or_from_callers() {
        let compose = Compose {
            file: "compose.yaml".to_owned(),
            services: of(
                "services:\n  shop:\n    environment: [CART_URL=http://cart:5001/v1, \
                          OTHER=http://oldcart:5009, STOCK=stock]\n  cart: {}\n  stock:\n    \
                          command: flask run -p 5002\n  mail:\n    expose: [\"80\"]\n",
            ),
        };
        let ports = compose.services.iter().map(|it| compose.port_of(it));
        let ports: Vec<Option<u16>> = ports.collect();
        assert_eq!(ports, [None, Some(5001), Some(5002), Some(80)]);
    }

    #[test]
    fn ports_are_read_in_all_their_forms() {
        let cases = [
            ("\"8080:80\"", vec![(8080, 80)], None),
            ("\"127.0.0.1:8080:80/tcp\"", vec![(8080, 80)], None),
            ("\"${PORT}:80\"", vec![(8081, 80)], None),
            ("\"${OTHER:-8082}:80\"", vec![(8082, 80)], None),
            (
                "{ target: 80, published: \"8080\" }",
                vec![(8080, 80)],
                None,
            ),
            ("\"80\"", vec![], Some(80)),
            ("80", vec![], Some(80)),
            ("\"53:53/udp\"", vec![], None),
        ];
        for (written, published, exposed) in cases {
            let found = of(&format!("services:\n  a:\n    ports: [{written}]\n"));
            assert_eq!(found[0].published, published, "{written}");
            assert_eq!(found[0].exposed, exposed, "{written}");
        }
    }

    #[test]
    fn variables_are_read_from_tables_and_lists_and_merged_tables() {
        let text = "x-all: &all\n  LOG: warn\n\
            services:\n  a:\n    environment:\n      <<: *all\n      CART_URL: http://cart:80\n      N: 1\n  \
            b:\n    environment:\n      - CART_URL=http://cart:${PORT}\n      - ELSEWHERE\n";
        let found = of(text);
        let has = |at: usize, name: &str, value: &str| {
            let pair = (name.to_owned(), value.to_owned());
            found[at].environment.contains(&pair)
        };
        assert!(has(0, "LOG", "warn") && has(0, "CART_URL", "http://cart:80") && has(0, "N", "1"));
        assert!(has(1, "CART_URL", "http://cart:8081"));
        assert_eq!(found[1].environment.len(), 1);
    }

    #[test]
    fn databases_and_the_like_are_left_out() {
        let text = "services:\n  db: { image: \"docker.io/library/postgres:16\" }\n  \
            q: { build: ., ports: [\"9092:9092\"] }\n  pg: { image: postgres-exporter }\n  shop: { image: shop }\n";
        let why: Vec<bool> = of(text)
            .iter()
            .map(|it| it.why_left_out().is_some())
            .collect();
        assert_eq!(why, [true, true, true, false]);
    }

    #[test]
    fn a_file_that_is_no_yaml_is_told_in_one_line() {
        let why = read("services: [\n", &|_| None).unwrap_err();
        assert!(!why.is_empty() && !why.contains('\n'), "{why}");
        assert_eq!(of("services:\n"), []);
    }
}
