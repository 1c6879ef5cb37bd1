//! `each` and the keys beside it: every test of a command as a scenario.
//!
//! Owns which runner it is and which keys go with it; listing and running the
//! tests is the system's business.

use std::time::Duration;

use murphy_system::spec::{CommandSpec, EachSpec, OneByOne, RunnerSpec};
use murphy_system::{KnownRunner, RunnerKind};

use super::checker::{Checker, Filler};
use crate::raw::{At, Each, OneOrMany, Scenario, Text, Words};
use crate::{Span, TYPED};

/// How long a runner may take to collect its tests.
const START_WITHIN: Duration = Duration::from_secs(60);

/// The phases of a test, and those in which calls may fail unless it is said.
const PHASES: [&str; 3] = ["setup", "call", "teardown"];
const USUAL: &str = "call";

/// The keys of a scenario that are about its tests one by one.
pub(super) struct Keys {
    each: Option<At<Each>>,
    list: Option<Words>,
    one: Option<Words>,
    fresh: Option<At<bool>>,
    fresh_fixtures: Option<At<bool>>,
    phases: Option<At<Vec<Text>>>,
}

impl Keys {
    /// Takes them out of a scenario.
    pub(super) fn take(raw: &mut Scenario) -> Self {
        Keys {
            each: raw.each.take(),
            list: raw.list_command.take(),
            one: raw.one_command.take(),
            fresh: raw.fresh.take(),
            fresh_fixtures: raw.fresh_fixtures.take(),
            phases: raw.phases.take(),
        }
    }

    /// Those that are there.
    pub(super) fn present(&self) -> [(&'static str, Option<Span>); 6] {
        fn span<T>(key: &Option<At<T>>) -> Option<Span> {
            key.as_ref().map(|it| it.span.clone())
        }
        [
            ("each", span(&self.each)),
            ("list_command", span(&self.list)),
            ("one_command", span(&self.one)),
            ("fresh", span(&self.fresh)),
            ("fresh_fixtures", span(&self.fresh_fixtures)),
            ("phases", span(&self.phases)),
        ]
    }

    /// The tests of a command, where each is a scenario; `None` where the
    /// command is one, and where something is wrong.
    pub(super) fn resolve(
        self,
        checker: &mut Checker<'_>,
        name: &str,
        command: &CommandSpec,
    ) -> Option<Option<EachSpec>> {
        let one_by_one = self.one_by_one(checker)?;
        let Some(each) = self
            .each
            .as_ref()
            .filter(|it| !matches!(it.value, Each::Guess(false)))
        else {
            return match one_by_one {
                None => self.alone(checker),
                Some((list, one)) => {
                    let spec = spec(name, command, RunnerKind::Worker);
                    let one_by_one = Some(OneByOne::Commands { list, one });
                    Some(Some(EachSpec {
                        prefix: prefix(name),
                        runner: self.with_rest(checker, spec)?,
                        one_by_one,
                    }))
                }
            };
        };
        let mut found = each_of(name, command, &each.value).map_err(|(message, hint)| {
            checker.refuse(&each.span, message, "which runner?", hint);
        });
        if let (Ok(each), Some((list, one))) = (&mut found, one_by_one) {
            each.one_by_one = Some(OneByOne::Commands { list, one });
        }
        let found = found.ok()?;
        Some(Some(EachSpec {
            prefix: found.prefix,
            runner: self.with_rest(checker, found.runner)?,
            one_by_one: found.one_by_one,
        }))
    }

    /// Keys that say nothing without `each`.
    fn alone(&self, checker: &mut Checker<'_>) -> Option<Option<EachSpec>> {
        let present = self.present();
        let idle = present
            .iter()
            .skip(1)
            .find_map(|(key, span)| Some((key, span.clone()?)));
        let Some((key, span)) = idle else {
            return Some(None);
        };
        let message = format!("`{key}` says nothing without `each`");
        let hint = "write `each = true`: every test of the command is then a scenario of its own";
        checker.refuse(&span, message, "without `each`", hint);
        None
    }

    fn one_by_one(&self, checker: &mut Checker<'_>) -> Option<Option<(Vec<String>, Vec<String>)>> {
        match (&self.list, &self.one) {
            (None, None) => Some(None),
            (Some(list), Some(one)) => {
                let list = checker.command(list.clone(), Filler::Scenario);
                let one = checker.command(with_id(one), Filler::Scenario);
                Some(Some((list?, one?)))
            }
            (Some(At { span, .. }), None) | (None, Some(At { span, .. })) => {
                let message = "`list_command` and `one_command` go together";
                let hint = "write both: `list_command` prints an id a line, `one_command` runs the test that stands for `{id}`";
                checker.refuse(span, message, "without the other", hint);
                None
            }
        }
    }

    fn with_rest(&self, checker: &mut Checker<'_>, mut spec: RunnerSpec) -> Option<RunnerSpec> {
        let is_set = |key: &Option<At<bool>>| key.as_ref().is_some_and(|it| it.value);
        spec.fresh = is_set(&self.fresh);
        spec.fresh_fixtures = is_set(&self.fresh_fixtures);
        if let Some(phases) = &self.phases {
            let named = PHASES.map(|name| (name, name));
            let known = |text: &Text| Some(checker.named("phase", text, &named)?.to_owned());
            spec.phases = phases.value.iter().map(known).collect::<Option<_>>()?;
        }
        Some(spec)
    }
}

/// `{id}` stands for itself until a test is run.
fn with_id(words: &Words) -> Words {
    let keep = |text: &String| text.replace("{id}", "{{id}}");
    At {
        value: match &words.value {
            OneOrMany::One(text) => OneOrMany::One(keep(text)),
            OneOrMany::Many(texts) => {
                let kept = texts.iter().map(|At { value, span }| At {
                    value: keep(value),
                    span: span.clone(),
                });
                OneOrMany::Many(kept.collect())
            }
        },
        span: words.span.clone(),
    }
}

/// Whether the tests of this command line can be scenarios one by one.
pub fn lists_tests(command: &str) -> bool {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    RunnerKind::of(&words).is_some() || KnownRunner::of(&words).is_some()
}

/// The tests of a typed command, or why they cannot be listed, with a way out.
pub(crate) fn of_typed(name: &str, command: &CommandSpec) -> Result<EachSpec, (String, String)> {
    each_of(name, command, &Each::Guess(true))
}

fn each_of(name: &str, command: &CommandSpec, each: &Each) -> Result<EachSpec, (String, String)> {
    let words = &command.command;
    let (warm, known) = match each {
        Each::Guess(_) => (RunnerKind::of(words), KnownRunner::of(words)),
        Each::Runner(name) => {
            let warm = RunnerKind::NAMES.iter().find(|(it, _)| it == name);
            let known = KnownRunner::NAMES.iter().find(|(it, _)| it == name);
            (warm.map(|(_, it)| *it), known.map(|(_, it)| *it))
        }
    };
    match (warm, known) {
        (Some(kind), _) => Ok(EachSpec {
            prefix: prefix(name),
            runner: spec(name, command, kind),
            one_by_one: None,
        }),
        (None, Some(known)) => Ok(EachSpec {
            prefix: prefix(name),
            runner: spec(name, command, RunnerKind::Worker),
            one_by_one: Some(OneByOne::Known(known)),
        }),
        (None, None) => {
            let message = match each {
                Each::Guess(_) => format!(
                    "`{}` names no test runner whose tests can be listed",
                    words.join(" ")
                ),
                Each::Runner(name) => format!("`{name}` is no test runner that is known"),
            };
            Err((message, "known are pytest, mocha, vitest, unittest, jest, node, cargo, nextest and worker; for any other write `list_command` and `one_command`".to_owned()))
        }
    }
}

/// A test that was typed has the name that its runner gives it.
fn prefix(name: &str) -> String {
    match name {
        TYPED => String::new(),
        name => format!("{name}/"),
    }
}

fn spec(name: &str, command: &CommandSpec, kind: RunnerKind) -> RunnerSpec {
    RunnerSpec {
        name: name.to_owned(),
        kind,
        command: command.clone(),
        start_within: START_WITHIN,
        fresh: false,
        fresh_fixtures: false,
        phases: vec![USUAL.to_owned()],
    }
}
