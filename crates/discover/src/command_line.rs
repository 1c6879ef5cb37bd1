//! Command lines that start services and tests.
//!
//! Owns how those are taken apart that were written for a shell:
//! variables before the command, and the port that it names.

use crate::plan::{Origin, Service, Test};

/// A service that this command line starts.
pub fn started(name: &str, line: &str) -> Service {
    let (mut assigned, command) = assignments(line);
    let of_variable = assigned.iter().position(|(name, _)| name == "PORT");
    let of_variable = of_variable.map(|at| assigned.remove(at).1);
    let port = match command.contains("{port}") {
        true => None,
        false => port(&command).or(of_variable.and_then(|it| it.parse().ok())),
    };
    Service {
        assigned,
        ..Service::of(name, Origin::Started { command, port })
    }
}

/// A test that this command line runs.
pub fn test(line: &str) -> Test {
    let (assigned, command) = assignments(line);
    Test { command, assigned }
}

/// The variables before a command, and the command: no shell would take them
/// off later.
fn assignments(line: &str) -> (Vec<(String, String)>, String) {
    let mut rest = line.trim();
    rest = rest.strip_prefix("env ").map_or(rest, str::trim_start);
    let mut assigned = Vec::new();
    while let Some((name, value, behind)) = assignment(rest) {
        assigned.push((name.to_owned(), value.to_owned()));
        rest = behind.trim_start();
    }
    (assigned, rest.to_owned())
}

fn assignment(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (value, behind) = rest.split_once(quote)?;
            return Some((name, value, behind));
        }
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some((name, &rest[..end], &rest[end..]))
}

/// What a port or an address with one follows.
const BEFORE_PORTS: [&str; 7] = [
    "-p",
    "--port",
    "-P",
    "-b",
    "--bind",
    "runserver",
    "http.server",
];

/// The port that a command names, if it says that it is one.
pub(crate) fn port(command: &str) -> Option<u16> {
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some((option, value)) if BEFORE_PORTS.contains(&option) => Some(value),
            _ if BEFORE_PORTS.contains(&word) => words.peek().copied(),
            _ => None,
        };
        let port = value.and_then(|it| it.rsplit(':').next()?.parse().ok());
        if port.is_some() {
            return port;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_command_is_taken_off() {
        let cases = [
            ("pytest -q", 0, "pytest -q"),
            ("A=b C='d e' pytest A=b", 2, "pytest A=b"),
            ("env A=\"b c\" x", 1, "x"),
            ("x --a=b", 0, "x --a=b"),
        ];
        for (line, count, command) in cases {
            let test = test(line);
            assert_eq!((test.assigned.len(), &*test.command), (count, command));
        }
        assert_eq!(test("A='b c' x").assigned[0].1, "b c");
    }

    #[test]
    fn a_fixed_port_is_found_in_the_command() {
        let cases = [
            ("flask run -p 5001", Some(5001)),
            ("flask run -p {port}", None),
            ("uvicorn shop:app --port=5001", Some(5001)),
            ("gunicorn -b 0.0.0.0:5001 shop:app", Some(5001)),
            ("python manage.py runserver 8000", Some(8000)),
            ("PORT=5001 node shop.js", Some(5001)),
            ("node shop.js 5001", None),
        ];
        for (line, expected) in cases {
            let Origin::Started { port, .. } = started("shop", line).origin else {
                panic!("started");
            };
            assert_eq!(port, expected, "{line}");
        }
        assert_eq!(started("shop", "PORT=5001 node shop.js").assigned, []);
    }
}
