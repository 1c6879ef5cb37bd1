//! Which runner a command starts.
//!
//! Owns how each is made to speak the worker protocol: without an edit of the
//! project, by its own way of loading plugins.

use std::path::Path;

use super::plugins::Plugins;
use crate::spec::CommandSpec;

/// A runner that can stay alive and run its tests one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerKind {
    /// `pytest`.
    Pytest,
    /// `mocha`.
    Mocha,
    /// `vitest`.
    Vitest,
    /// A program that speaks the worker protocol by itself.
    Worker,
}

impl RunnerKind {
    /// All, by their names.
    pub const NAMES: [(&'static str, RunnerKind); 4] = [
        ("pytest", RunnerKind::Pytest),
        ("mocha", RunnerKind::Mocha),
        ("vitest", RunnerKind::Vitest),
        ("worker", RunnerKind::Worker),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = RunnerKind::NAMES.iter().find(|(_, kind)| *kind == self);
        named.expect("all are named").0
    }

    /// The runner that a command starts, if it is one of these.
    pub fn of(command: &[String]) -> Option<Self> {
        command.iter().find_map(|word| RunnerKind::of_word(word))
    }

    fn of_word(word: &str) -> Option<Self> {
        let name = Path::new(word).file_name()?.to_str()?;
        let name = name.trim_end_matches(".js").trim_end_matches(".mjs");
        match name {
            "pytest" | "py.test" => Some(RunnerKind::Pytest),
            "mocha" | "_mocha" => Some(RunnerKind::Mocha),
            "vitest" => Some(RunnerKind::Vitest),
            _ => None,
        }
    }

    /// The command, so that the runner asks Murphy what to do.
    pub(super) fn launch(self, command: &CommandSpec, plugins: &Plugins) -> CommandSpec {
        let mut launch = command.clone();
        match self {
            RunnerKind::Worker => {}
            RunnerKind::Pytest => {
                let path = plugins.folder().display().to_string();
                add(&mut launch, "PYTHONPATH", &path, ":", Side::Before);
                add(
                    &mut launch,
                    "PYTEST_ADDOPTS",
                    "-p murphy_worker",
                    " ",
                    Side::After,
                );
            }
            RunnerKind::Mocha | RunnerKind::Vitest => {
                let is_runner = |word: &String| RunnerKind::of_word(word) == Some(self);
                let at = command.command.iter().position(is_runner);
                let file = escaped(&plugins.node().display().to_string());
                let mut words = vec!["node".to_owned(), file, self.name().to_owned()];
                words.extend(at.map_or(&[][..], |at| &command.command[at + 1..]).to_vec());
                launch.command = words;
            }
        }
        launch
    }
}

pub(super) enum Side {
    Before,
    After,
}

/// Adds to a variable that may be set already, in the file or around us.
pub(super) fn add(command: &mut CommandSpec, name: &str, value: &str, between: &str, side: Side) {
    let around = || std::env::var(name).ok().map(|text| escaped(&text));
    let old = command.environment.get(name).cloned().or_else(around);
    let old = old.filter(|old| !old.is_empty());
    let value = escaped(value);
    let new = match (old, side) {
        (None, _) => value,
        (Some(old), Side::Before) => format!("{value}{between}{old}"),
        (Some(old), Side::After) => format!("{old}{between}{value}"),
    };
    command.environment.insert(name.to_owned(), new);
}

/// As a template that stands for this text.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(command: &str) -> Option<RunnerKind> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        RunnerKind::of(&words)
    }

    #[test]
    fn a_runner_is_known_by_its_name_wherever_it_stands_in_the_command() {
        let cases = [
            ("pytest -q tests", Some(RunnerKind::Pytest)),
            ("python -m pytest tests", Some(RunnerKind::Pytest)),
            ("poetry run pytest", Some(RunnerKind::Pytest)),
            (".venv/bin/pytest", Some(RunnerKind::Pytest)),
            ("npx mocha test", Some(RunnerKind::Mocha)),
            ("node_modules/.bin/vitest run", Some(RunnerKind::Vitest)),
            (
                "node node_modules/mocha/bin/mocha.js",
                Some(RunnerKind::Mocha),
            ),
            ("npm test", None),
            ("cargo test", None),
        ];
        for (command, expected) in cases {
            assert_eq!(kind(command), expected, "{command}");
        }
    }
}
