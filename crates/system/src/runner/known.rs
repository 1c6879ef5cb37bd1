//! Runners whose tests are run one by one, a process for each.
//!
//! Owns how each of them is asked for its tests and for one of them. Where a
//! runner cannot list without running, it is run once, and what it reports is
//! read.

use std::path::Path;

use serde_json::Value;

/// A runner that is asked by commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownRunner {
    /// `python -m unittest`.
    Unittest,
    /// `jest`.
    Jest,
    /// `node --test`.
    Node,
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
}

/// A list of tests that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ListError(String);

/// Prints the ids of the tests that `python -m unittest` with the same
/// arguments would run.
const LIST_UNITTEST: &str = "\
import sys, unittest
class Lister:
    def run(self, tests):
        for test in tests:
            if isinstance(test, unittest.TestSuite):
                self.run(test)
            else:
                print(test.id())
        return unittest.TestResult()
unittest.main(module=None, testRunner=Lister(), exit=False)
";

impl KnownRunner {
    /// All, by their names.
    pub const NAMES: [(&'static str, KnownRunner); 5] = [
        ("unittest", KnownRunner::Unittest),
        ("jest", KnownRunner::Jest),
        ("node", KnownRunner::Node),
        ("cargo", KnownRunner::Cargo),
        ("nextest", KnownRunner::Nextest),
    ];

    /// The runner that a command starts, if it is one of these.
    pub fn of(command: &[String]) -> Option<Self> {
        let name = |word: &String| Path::new(word).file_name()?.to_str().map(str::to_owned);
        let names: Vec<String> = command.iter().filter_map(name).collect();
        let has = |wanted: &str| names.iter().any(|it| it == wanted);
        let first = names.first().map(String::as_str);
        match first {
            Some("cargo") if has("nextest") => Some(KnownRunner::Nextest),
            Some("cargo") if has("test") || has("t") => Some(KnownRunner::Cargo),
            Some("node") if has("--test") => Some(KnownRunner::Node),
            _ if has("jest") || has("jest.js") => Some(KnownRunner::Jest),
            _ if has("unittest") && has("-m") => Some(KnownRunner::Unittest),
            _ => None,
        }
    }

    /// The command that tells the tests of this one.
    pub fn list_command(self, command: &[String]) -> Vec<String> {
        let mut words = command.to_vec();
        let add = |words: &mut Vec<String>, more: &[&str]| {
            words.extend(more.iter().map(|it| (*it).to_owned()));
        };
        match self {
            KnownRunner::Unittest => {
                let at = words.iter().position(|it| it == "-m").unwrap_or(0);
                let more = words.split_off((at + 2).min(words.len()));
                words.truncate(at);
                add(&mut words, &["-c", LIST_UNITTEST]);
                words.extend(more);
            }
            KnownRunner::Jest => add(&mut words, &["--json"]),
            KnownRunner::Node => words.insert(1, "--test-reporter=tap".to_owned()),
            KnownRunner::Cargo => {
                let more: &[&str] = match words.iter().any(|it| it == "--") {
                    true => &["--list", "--format", "terse"],
                    false => &["--", "--list", "--format", "terse"],
                };
                add(&mut words, more);
            }
            KnownRunner::Nextest => {
                for word in words.iter_mut().filter(|it| *it == "run" || *it == "r") {
                    *word = "list".to_owned();
                }
                add(&mut words, &["--message-format", "json"]);
            }
        }
        words
    }

    /// The ids of the tests in what that printed in a directory.
    pub fn tests(self, printed: &str, directory: &Path) -> Result<Vec<String>, ListError> {
        match self {
            KnownRunner::Unittest => unittests(printed),
            KnownRunner::Jest => jest(printed, directory),
            KnownRunner::Node => Ok(tap(printed)),
            KnownRunner::Cargo => Ok(terse(printed)),
            KnownRunner::Nextest => nextest(printed),
        }
    }

    /// The command that runs one of them.
    pub fn one_command(self, command: &[String], id: &str) -> Vec<String> {
        let mut words = command.to_vec();
        let add = |words: &mut Vec<String>, more: &[&str]| {
            words.extend(more.iter().map(|it| (*it).to_owned()));
        };
        match self {
            KnownRunner::Unittest => {
                let at = words.iter().position(|it| it == "-m").unwrap_or(0);
                words.truncate((at + 2).min(words.len()));
                add(&mut words, &[id]);
            }
            KnownRunner::Jest => {
                let (file, name) = id.split_once(" > ").unwrap_or(("", id));
                let name = format!("^{}$", escaped(name));
                add(&mut words, &["--runTestsByPath", file, "-t", &name]);
            }
            KnownRunner::Node => {
                let pattern = format!("--test-name-pattern=^{}$", escaped(id));
                words.insert(1, pattern);
            }
            KnownRunner::Cargo => {
                let more: &[&str] = match words.iter().any(|it| it == "--") {
                    true => &["--exact", id],
                    false => &["--", "--exact", id],
                };
                add(&mut words, more);
            }
            KnownRunner::Nextest => {
                let (binary, name) = id.split_once(' ').unwrap_or(("", id));
                let filter = format!("binary_id(={binary}) and test(={name})");
                add(&mut words, &["-E", &filter]);
            }
        }
        words
    }
}

fn unittests(printed: &str) -> Result<Vec<String>, ListError> {
    let lines: Vec<String> = lines(printed).collect();
    let broken = lines
        .iter()
        .find(|it| it.starts_with("unittest.loader._FailedTest"));
    match broken {
        Some(test) => Err(ListError(format!(
            "a test module cannot be imported: {test}"
        ))),
        None => Ok(lines.into_iter().filter(|it| !it.contains(' ')).collect()),
    }
}

fn lines(printed: &str) -> impl Iterator<Item = String> {
    let lines = printed.lines().map(str::trim);
    lines.filter(|it| !it.is_empty()).map(str::to_owned)
}

/// `name: test`, a line each.
fn terse(printed: &str) -> Vec<String> {
    let names = printed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    names.map(str::to_owned).collect()
}

fn json(printed: &str) -> Result<Value, ListError> {
    // On a line of its own; others are for people.
    let line = printed.lines().find(|line| line.starts_with('{'));
    let line = line.ok_or_else(|| ListError("it printed no list of tests".to_owned()))?;
    serde_json::from_str(line)
        .map_err(|error| ListError(format!("its list of tests is no JSON: {error}")))
}

/// By the paths of their files from the directory: the same on every machine.
fn jest(printed: &str, directory: &Path) -> Result<Vec<String>, ListError> {
    let report = json(printed)?;
    let mut tests = Vec::new();
    let directory = directory.canonicalize().unwrap_or_default();
    for file in report["testResults"].as_array().into_iter().flatten() {
        let path = file["name"].as_str().unwrap_or_default();
        let below = Path::new(path).strip_prefix(&directory);
        let path = below.ok().and_then(Path::to_str).unwrap_or(path);
        for test in file["assertionResults"].as_array().into_iter().flatten() {
            if let Some(name) = test["fullName"].as_str() {
                tests.push(format!("{path} > {name}"));
            }
        }
    }
    Ok(tests)
}

fn nextest(printed: &str) -> Result<Vec<String>, ListError> {
    let report = json(printed)?;
    let mut tests = Vec::new();
    for (binary, suite) in report["rust-suites"].as_object().into_iter().flatten() {
        for (name, _) in suite["testcases"].as_object().into_iter().flatten() {
            tests.push(format!("{binary} {name}"));
        }
    }
    Ok(tests)
}

/// The innermost tests of a TAP report, by their names.
fn tap(printed: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut deeper = 0;
    for line in printed.lines() {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim_start();
        let line = line.strip_prefix("not ").unwrap_or(line);
        let Some(rest) = line.strip_prefix("ok ") else {
            continue;
        };
        // What stands further in came before: this one only holds it.
        if indent >= deeper
            && let Some((_, name)) = rest.split_once(" - ")
        {
            let name = name.split(" # ").next().unwrap_or(name);
            tests.push(name.trim().to_owned());
        }
        deeper = indent;
    }
    tests
}

/// As a regular expression that matches nothing else.
fn escaped(text: &str) -> String {
    let special = |c: char| "\\^$.|?*+()[]{}/".contains(c);
    let escape = |c: char| match special(c) {
        true => format!("\\{c}"),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_known_runner_is_known_by_its_command() {
        let cases = [
            (
                "python3 -m unittest discover -s tests",
                Some(KnownRunner::Unittest),
            ),
            ("npx jest --ci", Some(KnownRunner::Jest)),
            ("node --test tests/", Some(KnownRunner::Node)),
            ("cargo test -p shop", Some(KnownRunner::Cargo)),
            ("cargo nextest run", Some(KnownRunner::Nextest)),
            ("go test ./...", None),
        ];
        for (command, expected) in cases {
            assert_eq!(KnownRunner::of(&words(command)), expected, "{command}");
        }
    }

    #[test]
    fn one_test_is_run_by_its_exact_name() {
        let one = |known: KnownRunner, command: &str, id: &str| {
            known.one_command(&words(command), id).join(" ")
        };
        assert_eq!(
            one(KnownRunner::Cargo, "cargo test -p shop", "a::b"),
            "cargo test -p shop -- --exact a::b"
        );
        assert_eq!(
            one(
                KnownRunner::Unittest,
                "python -m unittest discover -s tests",
                "x.T.test_a"
            ),
            "python -m unittest x.T.test_a"
        );
        assert_eq!(
            one(KnownRunner::Node, "node --test tests", "adds 1+1"),
            "node --test-name-pattern=^adds 1\\+1$ --test tests"
        );
    }

    #[test]
    fn tests_of_jest_are_named_by_their_files_from_where_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let report = serde_json::json!({"testResults": [
            {"name": root.join("spec/cart.test.js"), "assertionResults": [{"fullName": "cart adds"}]},
            {"name": "/elsewhere/pay.test.js", "assertionResults": [{"fullName": "pays"}]},
        ]});
        let tests = KnownRunner::Jest.tests(&report.to_string(), folder.path());
        let expected = [
            "spec/cart.test.js > cart adds",
            "/elsewhere/pay.test.js > pays",
        ];
        assert_eq!(tests.unwrap(), expected);
    }

    #[test]
    fn the_innermost_tests_of_tap_are_the_tests() {
        let printed = "TAP version 13\n# Subtest: cart\n    # Subtest: adds\n    ok 1 - adds\n    not ok 2 - takes out # time=1ms\n    1..2\nnot ok 1 - cart\nok 2 - alone\n1..2\n";
        assert_eq!(tap(printed), ["adds", "takes out", "alone"]);
    }
}
