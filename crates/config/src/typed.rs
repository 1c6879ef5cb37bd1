//! What is typed after `--`: a test in place of the file's, or more arguments
//! for one of them.
//!
//! Owns which of the two it is, and what of the file's scenario stays. Words
//! that begin with `-` cannot be a program, so they are arguments: they are
//! added to the command of the scenario that is named, or of the only one.
//! Anything else is a whole command, which is run where it was typed. It stands
//! in for the command of the scenario that is named, or of the only one, if that
//! is a command: its variables, time limit and what is right under faults stay.

use std::path::PathBuf;

use murphy_model::nearest;
use murphy_system::spec::{CommandSpec, ScenarioKind, ScenarioSpec};
use murphy_system::template;

use crate::{Config, SCENARIO_TIMEOUT, TYPED, Usage};

/// A scenario whose command was given more arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Extended {
    /// Its name.
    pub scenario: String,
    /// The whole command; templates.
    pub command: Vec<String>,
}

/// What was typed about the tests of a command one by one.
#[derive(Clone, Debug, Default)]
pub struct TypedEach {
    /// Whether each is a scenario.
    pub each: bool,
    /// Whether every execution has a process of its own.
    pub fresh: bool,
    /// Whether fixtures of wider scope are torn down after every execution.
    pub fresh_fixtures: bool,
    /// The phases in which calls may fail; empty for the usual ones.
    pub phases: Vec<String>,
}

impl Config {
    /// The same system with one scenario only: what was typed in `directory`,
    /// for the scenario in `named` if there is one. Tells what became of a
    /// command that was given more arguments.
    pub fn with_typed(
        mut self,
        words: &[String],
        directory: PathBuf,
        named: &[String],
    ) -> Result<(Self, Option<Extended>), Usage> {
        let (named, tests) = match self.tests_named(named) {
            Some(of) => (Vec::from_iter(of), named),
            None => (named.to_vec(), &[][..]),
        };
        let named = &named[..];
        let chosen = self.chosen(named, words)?.cloned();
        let (scenario, extended) = match words.first() {
            Some(first) if first.starts_with('-') => {
                let (scenario, extended) = self.extended(chosen, words)?;
                (scenario, Some(extended))
            }
            _ => (self.replaced(chosen, words, directory, named)?, None),
        };
        self.scenarios = match tests.is_empty() {
            true => vec![scenario],
            false => {
                let each = each_of(&scenario)?;
                let test = |name: &String| each.test_named(name);
                tests.iter().filter_map(test).collect()
            }
        };
        Ok((self, extended))
    }

    /// Where names are those of tests, the scenario that they are of, if that is
    /// in the file. Tests that were typed have the names that their runner gives
    /// them; what is nearly the name of a scenario is rather a slip.
    fn tests_named(&self, named: &[String]) -> Option<Option<String>> {
        let first = named.first()?;
        let names = || self.scenarios.iter().map(|it| it.name.as_str());
        if names().any(|it| it == first) {
            return None;
        }
        let of = names().find(|it| {
            let rest = first.strip_prefix(it);
            rest.is_some_and(|rest| rest.starts_with('/'))
        });
        match of {
            Some(of) => Some(Some(of.to_owned())),
            None if nearest(first, names()).is_some() => None,
            None => Some(None),
        }
    }

    /// The same with every test of these scenarios as a scenario of its own, for
    /// scenarios that are commands.
    pub fn with_each(mut self, typed: &TypedEach) -> Result<Self, Usage> {
        for scenario in &mut self.scenarios {
            if typed.each && matches!(scenario.kind, ScenarioKind::Command(_)) {
                *scenario = each_of(scenario)?;
            }
            if let ScenarioKind::Each(each) = &mut scenario.kind {
                let runner = &mut each.runner;
                runner.fresh |= typed.fresh;
                runner.fresh_fixtures |= typed.fresh_fixtures;
                if !typed.phases.is_empty() {
                    runner.phases.clone_from(&typed.phases);
                }
            }
        }
        Ok(self)
    }

    /// The scenario with this name, or the test of one whose tests are
    /// scenarios.
    pub fn scenario_or_test(&self, name: &str) -> Result<ScenarioSpec, Usage> {
        self.scenario(name).cloned().or_else(|unknown| {
            let is_of = |it: &&ScenarioSpec| {
                let rest = name.strip_prefix(&it.name);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let of = self.scenarios.iter().find(is_of).ok_or(unknown)?;
            let test = each_of(of)?.test_named(name);
            Ok(test.expect("it begins with the scenario's name"))
        })
    }

    /// The scenario with this name.
    pub fn scenario(&self, name: &str) -> Result<&ScenarioSpec, Usage> {
        let found = self.scenarios.iter().find(|it| it.name == name);
        found.ok_or_else(|| {
            let known = || self.scenarios.iter().map(|it| it.name.as_str());
            let hint = match nearest(name, known()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => self.names(),
            };
            Usage::new(format!("there is no scenario `{name}`"))
                .at("--scenario", name, name, "not in the file")
                .hint(hint)
        })
    }

    /// The scenario that is named, or the only one.
    fn chosen(&self, named: &[String], words: &[String]) -> Result<Option<&ScenarioSpec>, Usage> {
        match (named, &self.scenarios[..]) {
            ([], [only]) => Ok(Some(only)),
            ([], _) => Ok(None),
            ([name], _) => self.scenario(name).map(Some),
            ([_, second, ..], _) => {
                let message = "what follows `--` is for one scenario, and several are named";
                let label = "another one";
                Err(Usage::new(message)
                    .at("--scenario", second, second, label)
                    .hint(format!(
                        "name one: `murphy run {} -- {}`",
                        named[0],
                        words.join(" ")
                    )))
            }
        }
    }

    /// A scenario, with these arguments after those of its command.
    fn extended(
        &self,
        chosen: Option<ScenarioSpec>,
        words: &[String],
    ) -> Result<(ScenarioSpec, Extended), Usage> {
        let refusal = |message: String, hint: String| {
            let (line, first) = (words.join(" "), &words[0]);
            let label = "an argument, not a program";
            Err(Usage::new(message).at("--", &line, first, label).hint(hint))
        };
        let file = self.file.shown();
        let Some(mut scenario) = chosen else {
            return match self.scenarios.is_empty() {
                true => refusal(
                    format!("{file} has no scenario to whose command this could be added"),
                    "give the whole test after `--`, as in `murphy run -- pytest -q`".to_owned(),
                ),
                false => refusal(
                    "it is not known to which scenario's command this is to be added".to_owned(),
                    format!("name it, as in `murphy run NAME -- …`; {}", self.names()),
                ),
            };
        };
        let name = scenario.name.clone();
        let Some(command) = scenario.kind.command_mut() else {
            return refusal(
                format!("scenario `{name}` has no command to which this could be added: it declares requests"),
                "leave out what follows `--`, or give a whole test there, as in `murphy run -- pytest -q`"
                    .to_owned(),
            );
        };
        command.command.extend(self.templates(words));
        let extended = Extended {
            scenario: name,
            command: command.command.clone(),
        };
        Ok((scenario, extended))
    }

    /// A scenario with this command in place of its own.
    fn replaced(
        &self,
        chosen: Option<ScenarioSpec>,
        words: &[String],
        directory: PathBuf,
        named: &[String],
    ) -> Result<ScenarioSpec, Usage> {
        let mut typed = CommandSpec {
            command: self.templates(words),
            directory,
            environment: self.environment.clone(),
        };
        let mut scenario = ScenarioSpec {
            name: TYPED.to_owned(),
            kind: ScenarioKind::Command(CommandSpec::default()),
            timeout: SCENARIO_TIMEOUT,
            entries: false,
            under_fault: Default::default(),
        };
        if let Some(written) = chosen {
            match written.kind.command() {
                Some(command) => {
                    typed.environment = command.environment.clone();
                    scenario = ScenarioSpec {
                        name: match named.is_empty() {
                            true => TYPED.to_owned(),
                            false => written.name,
                        },
                        kind: scenario.kind,
                        timeout: written.timeout,
                        entries: written.entries,
                        under_fault: written.under_fault,
                    };
                }
                _ if named.is_empty() => {}
                _ => return Err(stands_in_for_requests(&written.name, words)),
            }
        }
        scenario.kind = ScenarioKind::Command(typed);
        Ok(scenario)
    }

    /// Typed words, in which only what names a service is a placeholder.
    fn templates(&self, words: &[String]) -> Vec<String> {
        let services = &self.system.services;
        let is_service = |name: &str| services.iter().any(|service| service.name == name);
        let words = words.iter();
        words
            .map(|word| template::of_typed(word, is_service))
            .collect()
    }

    /// Which scenarios there are, as a hint.
    fn names(&self) -> String {
        let names: Vec<&str> = self.scenarios.iter().map(|it| it.name.as_str()).collect();
        match names.as_slice() {
            [only] => format!("there is only {only}"),
            names => format!("there are {}", names.join(", ")),
        }
    }
}

/// A command whose tests are scenarios.
fn each_of(scenario: &ScenarioSpec) -> Result<ScenarioSpec, Usage> {
    let Some(command) = scenario.kind.command() else {
        let name = &scenario.name;
        return Err(Usage::new(format!(
            "scenario `{name}` has no tests: it declares requests"
        )));
    };
    if matches!(scenario.kind, ScenarioKind::Each(_)) {
        return Ok(scenario.clone());
    }
    let each = crate::resolve::each::of_typed(&scenario.name, command);
    let each = each.map_err(|(message, hint)| {
        let line = command.command.join(" ");
        let label = "its tests are not known one by one";
        Usage::new(message)
            .at("--each", &line, &line, label)
            .hint(hint)
    })?;
    Ok(ScenarioSpec {
        kind: ScenarioKind::Each(Box::new(each)),
        ..scenario.clone()
    })
}

fn stands_in_for_requests(name: &str, words: &[String]) -> Usage {
    Usage::new(format!(
        "scenario `{name}` declares requests: no command can stand in for them"
    ))
    .at("--scenario", name, name, "has no command")
    .hint(format!(
        "run the command by itself, `murphy run -- {}`, or the scenario without one",
        words.join(" ")
    ))
}
