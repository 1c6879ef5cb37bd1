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
        let chosen = self.chosen(named, words)?.cloned();
        let (scenario, extended) = match words.first() {
            Some(first) if first.starts_with('-') => {
                let (scenario, extended) = self.extended(chosen, words)?;
                (scenario, Some(extended))
            }
            _ => (self.replaced(chosen, words, directory, named)?, None),
        };
        self.scenarios = vec![scenario];
        Ok((self, extended))
    }

    /// The scenario with this name.
    pub fn scenario(&self, name: &str) -> Result<&ScenarioSpec, Usage> {
        let found = self.scenarios.iter().find(|it| it.name == name);
        found.ok_or_else(|| {
            let known = || self.scenarios.iter().map(|it| it.name.as_str());
            let hint = match nearest(name, known()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", self.names()),
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
                    format!(
                        "name it, as in `murphy run NAME -- …`; there are {}",
                        self.names()
                    ),
                ),
            };
        };
        let name = scenario.name.clone();
        let ScenarioKind::Command(command) = &mut scenario.kind else {
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
            match written.kind {
                ScenarioKind::Command(command) => {
                    typed.environment = command.environment;
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

    fn names(&self) -> String {
        let names: Vec<&str> = self.scenarios.iter().map(|it| it.name.as_str()).collect();
        names.join(", ")
    }
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
