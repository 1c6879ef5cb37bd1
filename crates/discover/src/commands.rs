//! Commands that start services, as the project itself writes them down.
//!
//! Owns where they are looked for (a Procfile, `start` of package.json files,
//! lines with `uvicorn`, `gunicorn`, `hypercorn` or `flask run` in scripts and
//! the README), what the service is called, and where in the command its port
//! stands.

use std::path::Path;

use crate::plan::Service;
use crate::{code, command_line};

/// Programs that serve HTTP, and what stands before an application's name.
const SERVERS: [&str; 4] = ["uvicorn", "gunicorn", "hypercorn", "flask"];

/// Programs that run a service of JavaScript or TypeScript.
const RUNTIMES: [&str; 6] = ["node", "nodemon", "tsx", "ts-node", "nest", "bun"];

/// Names of modules that say nothing about the service.
const PLAIN: [&str; 7] = ["app", "main", "server", "api", "src", "wsgi", "asgi"];

/// Looks for services; each with where it was learnt.
pub fn find(root: &Path) -> Vec<(Service, String)> {
    let mut found: Vec<(Service, String)> = Vec::new();
    let mut add = |service: Option<Service>, learnt: String| {
        let Some(service) = service else { return };
        if !found.iter().any(|(known, _)| known.name == service.name) {
            found.push((service, learnt));
        }
    };
    let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    for file in ["Procfile", "Procfile.dev"] {
        for (at, line) in text(file).lines().enumerate() {
            add(of_procfile(line), format!("{file}:{}", at + 1));
        }
    }
    let mut files: Vec<String> = code::files(root)
        .filter_map(|path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned()))
        .collect();
    files.retain(|it| it.ends_with(".sh") || it.ends_with("package.json"));
    files.extend(["Makefile", "justfile", "README.md"].map(str::to_owned));
    for file in files {
        let text = text(&file);
        if let Some(folder) = file.strip_suffix("package.json") {
            add(
                of_package(folder.trim_end_matches('/'), &text),
                file.clone(),
            );
        }
        for (at, line) in text.lines().enumerate() {
            for service in of_line(line) {
                add(Some(service), format!("{file}:{}", at + 1));
            }
        }
    }
    found
}

/// `shop: flask run -p $PORT`. What names no port serves nobody.
fn of_procfile(line: &str) -> Option<Service> {
    let (name, command) = line.split_once(':')?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let command = with_port(command.trim());
    let is_plain = !name.is_empty() && name.chars().all(is_name);
    (is_plain && command.contains("{port}")).then(|| command_line::started(name, &command))
}

/// A folder with a `start` script of its own; it is told its port as most are.
fn of_package(folder: &str, text: &str) -> Option<Service> {
    let package: serde_json::Value = serde_json::from_str(text).ok()?;
    let start = package.get("scripts")?.get("start")?.as_str()?;
    // Not the servers of pages that run in browsers.
    start.split_whitespace().find(|it| RUNTIMES.contains(it))?;
    let name = folder.rsplit('/').next().filter(|it| !it.is_empty())?;
    let mut service = command_line::started(name, &format!("npm --prefix {folder} start"));
    service.assigned = vec![("PORT".to_owned(), "{port}".to_owned())];
    Some(service)
}

/// The servers that a line starts.
fn of_line(line: &str) -> Vec<Service> {
    // Murphy would start it in another folder.
    let between = |c: char| c.is_whitespace() || "(){};&|".contains(c);
    let moves = ["cd", "pushd"];
    if line.split(between).any(|it| moves.contains(&it)) {
        return Vec::new();
    }
    let separators = ['&', ';', '|', '>', '#', '`', '"', '\''];
    line.split(separators).filter_map(of_command).collect()
}

fn of_command(text: &str) -> Option<Service> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let program = |it: &&str| it.rsplit('/').next().unwrap_or(it).to_owned();
    let at = words
        .iter()
        .position(|it| SERVERS.contains(&&*program(it)))?;
    let server = program(&words[at]);
    let arguments = &words[at + 1..];
    let application = match server.as_str() {
        "flask" => {
            arguments.contains(&"run").then_some(())?;
            let option = arguments.iter().position(|it| ["--app", "-A"].contains(it));
            option.and_then(|at| arguments.get(at + 1).copied())
        }
        _ => arguments.iter().find(|it| is_module(it)).copied(),
    }?;
    // `python -m uvicorn`, `env A=b`, a path to a program: words of a sentence are none.
    let is_before = |it: &&&str| it.contains('=') || it.starts_with('-') || it.contains("python");
    let from = at - words[..at].iter().rev().take_while(is_before).count();
    let written = words[from..].join(" ");
    let command = with_port(&written);
    let name = name_of(application)?;
    let command = match command.contains("{port}") {
        true => command,
        false if server == "gunicorn" => format!("{command} -b 127.0.0.1:{{port}}"),
        false if server == "hypercorn" => format!("{command} -b 127.0.0.1:{{port}}"),
        false => format!("{command} --port {{port}}"),
    };
    Some(Service {
        usual_port: command_line::port(&written),
        ..command_line::started(&name, &command)
    })
}

fn is_module(word: &str) -> bool {
    let Some((module, name)) = word.split_once(':') else {
        return false;
    };
    let is_name = |it: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !it.is_empty() && it.chars().all(plain) && !it.starts_with(|c: char| c.is_ascii_digit())
    };
    module.split('.').all(is_name) && is_name(name.trim_end_matches("()"))
}

/// `services.cart:app`, `cart/app.py`, `cart`: the last part that says something.
fn name_of(application: &str) -> Option<String> {
    let module = application.split(':').next()?;
    let module = module.strip_suffix(".py").unwrap_or(module);
    let parts = module.split(['.', '/']).filter(|it| !it.is_empty());
    let parts: Vec<&str> = parts.collect();
    let telling = parts.iter().rev().find(|it| !PLAIN.contains(it));
    telling.or(parts.last()).map(|it| (*it).to_owned())
}

/// The command with `{port}` where its port stands.
fn with_port(command: &str) -> String {
    let mut command = command.to_owned();
    for variable in [
        "${PORT:-5000}",
        "${PORT:-8000}",
        "${PORT:-3000}",
        "${PORT}",
        "$PORT",
    ] {
        command = command.replace(variable, "{port}");
    }
    if command.contains("{port}") {
        return command;
    }
    match command_line::port(&command) {
        Some(port) => command.replacen(&port.to_string(), "{port}", 1),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Origin;

    fn shown(service: &Service) -> String {
        match &service.origin {
            Origin::Started { command, .. } => format!("{}: {command}", service.name),
            Origin::Running(at) => panic!("{at}"),
        }
    }

    #[test]
    fn commands_are_found_where_projects_write_them() {
        let cases = [
            (
                "uvicorn services.cart.main:app --port 8001 &",
                vec!["cart: uvicorn services.cart.main:app --port {port}"],
            ),
            (
                "FLASK_DEBUG=1 flask --app shop.py run -p 5000 & flask --app cart run --port 5001",
                vec![
                    "shop: flask --app shop.py run -p {port}",
                    "cart: flask --app cart run --port {port}",
                ],
            ),
            (
                "python -m gunicorn -b 0.0.0.0:8000 stock:app",
                vec!["stock: python -m gunicorn -b 0.0.0.0:{port} stock:app"],
            ),
            (
                "hypercorn pay:app",
                vec!["pay: hypercorn pay:app -b 127.0.0.1:{port}"],
            ),
            ("It runs under uvicorn and flask.", vec![]),
            ("pip install flask uvicorn", vec![]),
            ("cd cart && uvicorn cart:app --port 8001", vec![]),
            ("(cd cart && uvicorn main:app --port 8001) &", vec![]),
            ("{ cd cart; uvicorn main:app --port 8001; }", vec![]),
        ];
        for (line, expected) in cases {
            let found: Vec<String> = of_line(line).iter().map(shown).collect();
            assert_eq!(found, expected, "{line}");
        }
        let web = of_procfile("web: node shop.js --port=$PORT").unwrap();
        assert_eq!(shown(&web), "web: node shop.js --port={port}");
        assert!(of_procfile("worker: python worker.py").is_none());
        let scripts = r#"{"scripts": {"start": "node index.js"}}"#;
        let cart = of_package("services/cart", scripts).unwrap();
        assert_eq!(shown(&cart), "cart: npm --prefix services/cart start");
        assert_eq!(cart.assigned[0].1, "{port}");
        assert!(of_package("", scripts).is_none(), "the project itself");
        let pages = r#"{"scripts": {"start": "react-scripts start"}}"#;
        assert!(of_package("web", pages).is_none(), "a page");
    }
}
