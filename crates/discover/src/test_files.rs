//! The files of a project that hold tests, and what runs one of them.
//!
//! Owns which files count, which runner they are for, and what their scenarios
//! are called. Whether there is one scenario for each file or one for all is
//! decided here too: a whole suite in one scenario has so many calls that its
//! search does not end, and a hundred scenarios help nobody either.

use std::collections::BTreeSet;
use std::path::Path;

use crate::code;
use crate::plan::{Test, TestFile};

/// So many files have a scenario each; of more, all are one.
const MOST_FILES: usize = 20;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// A scenario for each file; empty if there are none, or too many.
    pub files: Vec<TestFile>,
    /// How many files there are, where they are too many, and the command that
    /// runs all of them.
    pub all: Option<(usize, Test)>,
}

/// What runs a file of tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Runner {
    Pytest,
    Unittest,
    Vitest,
    Jest,
    Mocha,
    Node,
}

/// Looks for tests.
pub fn find(root: &Path) -> Tests {
    let files: Vec<(String, Runner)> = code::files(root)
        .filter_map(|path| {
            let file = path.strip_prefix(root).ok()?.to_str()?.to_owned();
            let runner = runner(&file, root)?;
            Some((file, runner))
        })
        .collect();
    // A project with tests of two kinds has one kind that goes through its services.
    let Some(first) = files.iter().map(|(_, runner)| *runner).min() else {
        return Tests::default();
    };
    let of_kind = files.into_iter().filter(|(_, runner)| *runner == first);
    let files: Vec<String> = of_kind.map(|(file, _)| file).collect();
    let prefix = prefix(first, root);
    if files.len() > MOST_FILES {
        let folder = common_folder(&files);
        let command = match (first, folder.as_str()) {
            (Runner::Unittest, "") => format!("{prefix} discover"),
            (Runner::Unittest, folder) => format!("{prefix} discover -s {folder}"),
            (_, "") => prefix,
            (_, folder) => format!("{prefix} {folder}"),
        };
        let all = crate::command_line::test(&command);
        return Tests {
            files: Vec::new(),
            all: Some((files.len(), all)),
        };
    }
    Tests {
        files: named(&files, |file| format!("{prefix} {file}")),
        all: None,
    }
}

/// The command of a whole suite, with a scenario for each of these files. None
/// where it says itself which tests it runs.
pub fn of_suite(command: &str, files: &[TestFile]) -> Vec<TestFile> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some(at) = words.iter().position(|it| it.ends_with("pytest")) else {
        return Vec::new();
    };
    let (flags, paths): (Vec<&str>, Vec<&str>) = words[at + 1..]
        .iter()
        .copied()
        .partition(|it| it.starts_with('-'));
    let takes_value = |it: &&str| ["-k", "-m", "-p", "-c", "-n", "-o", "-W"].contains(it);
    let folder = match paths.as_slice() {
        [] => "",
        [folder] if !folder.contains("::") && !folder.ends_with(".py") => {
            folder.trim_end_matches('/')
        }
        _ => return Vec::new(),
    };
    if flags.iter().any(takes_value) || files.len() < 2 {
        return Vec::new();
    }
    let runner = words[..=at]
        .iter()
        .chain(&flags)
        .copied()
        .collect::<Vec<_>>();
    let inside = |it: &&TestFile| folder.is_empty() || it.file.starts_with(&format!("{folder}/"));
    let own = files
        .iter()
        .filter(inside)
        .filter(|it| it.file.ends_with(".py"));
    own.map(|it| TestFile {
        command: format!("{} {}", runner.join(" "), it.file),
        ..it.clone()
    })
    .collect()
}

/// What a file of tests is run by; `None` if it holds none that are known.
fn runner(file: &str, root: &Path) -> Option<Runner> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let (stem, ending) = name.rsplit_once('.')?;
    let text = || std::fs::read_to_string(root.join(file)).unwrap_or_default();
    match ending {
        "py" if stem.starts_with("test_") || stem.ends_with("_test") => {
            let is_unittest = {
                let text = text();
                text.contains("unittest.TestCase") && !text.contains("import pytest")
            };
            Some(match is_unittest && !has_pytest(root) {
                true => Runner::Unittest,
                false => Runner::Pytest,
            })
        }
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
            let is_named = [".test", ".spec"].iter().any(|it| stem.ends_with(it));
            let in_folder = file.split('/').rev().skip(1);
            let mut in_folder = in_folder.filter(|it| ["test", "tests", "__tests__"].contains(it));
            let text = text();
            let has_tests = ["describe(", "test(", "it("]
                .iter()
                .any(|it| text.contains(it));
            if !has_tests || !(is_named || in_folder.next().is_some()) {
                return None;
            }
            if text.contains("node:test") {
                return Some(Runner::Node);
            }
            let package = std::fs::read_to_string(root.join("package.json")).ok()?;
            let known = [
                ("\"vitest\"", Runner::Vitest),
                ("\"jest\"", Runner::Jest),
                ("\"mocha\"", Runner::Mocha),
            ];
            let mut known = known.into_iter();
            known.find_map(|(name, runner)| package.contains(name).then_some(runner))
        }
        _ => None,
    }
}

/// Whether the project says that it uses pytest.
fn has_pytest(root: &Path) -> bool {
    let names = [
        "pytest.ini",
        "conftest.py",
        "tests/conftest.py",
        "pyproject.toml",
        "requirements.txt",
        "requirements-dev.txt",
        "setup.cfg",
        "tox.ini",
    ];
    names.iter().any(
        |name| match name.ends_with("conftest.py") || *name == "pytest.ini" {
            true => root.join(name).is_file(),
            false => std::fs::read_to_string(root.join(name)).is_ok_and(|it| it.contains("pytest")),
        },
    )
}

/// What stands before the file in the command that runs it.
fn prefix(runner: Runner, root: &Path) -> String {
    let mut environments = [".venv", "venv"].iter();
    let python = environments.find(|it| root.join(it).join("bin/python").exists());
    let python = python.map_or("python3".to_owned(), |it| format!("{it}/bin/python"));
    match runner {
        Runner::Pytest => format!("{python} -m pytest -q"),
        Runner::Unittest => format!("{python} -m unittest"),
        Runner::Vitest => "npx vitest run".to_owned(),
        Runner::Jest => "npx jest".to_owned(),
        Runner::Mocha => "npx mocha".to_owned(),
        Runner::Node => "node --test".to_owned(),
    }
}

/// The folder that all of them are in; empty for the project's own.
fn common_folder(files: &[String]) -> String {
    let folder = |file: &String| file.rsplit_once('/').map_or("", |(it, _)| it).to_owned();
    let mut folders = files.iter().map(folder);
    let first = folders.next().unwrap_or_default();
    let mut common: Vec<&str> = first.split('/').collect();
    for other in folders {
        let same = common
            .iter()
            .zip(other.split('/'))
            .take_while(|(a, b)| **a == *b);
        let same = same.count();
        common.truncate(same);
    }
    common.join("/")
}

fn named(files: &[String], command: impl Fn(&str) -> String) -> Vec<TestFile> {
    let stems: Vec<String> = files.iter().map(|it| stem(it)).collect();
    let mut taken = BTreeSet::new();
    let file = |(file, own): (&String, &String)| {
        let is_twice = stems.iter().filter(|it| *it == own).count() > 1;
        let folder = file.rsplit('/').nth(1).unwrap_or_default();
        let base = match is_twice && !folder.is_empty() {
            true => format!("{}_{own}", plain(folder)),
            false => own.clone(),
        };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        TestFile {
            name: names.find(|it| taken.insert(it.clone())).unwrap_or(base),
            command: command(file),
            file: file.clone(),
        }
    };
    files.iter().zip(&stems).map(file).collect()
}

/// What a file is about, by its name.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    plain(stem.strip_suffix("_test").unwrap_or(stem))
}

fn plain(text: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '-' || c == '_' {
        true => c,
        false => '_',
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn found(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let tests = find(project(files).path());
        let files = tests.files.into_iter();
        files.map(|it| (it.name, it.command)).collect()
    }

    #[test]
    fn every_file_of_tests_is_a_scenario_with_its_runner() {
        let text = "import unittest\nclass A(unittest.TestCase): pass";
        let js = "describe('a', () => {})";
        type Files<'f> = &'f [(&'f str, &'f str)];
        let cases: [(Files<'_>, &str, &str); 6] = [
            (
                &[("tests/test_buy.py", "def test_a(): pass")],
                "buy",
                "python3 -m pytest -q tests/test_buy.py",
            ),
            (
                &[("test_buy.py", text)],
                "buy",
                "python3 -m unittest test_buy.py",
            ),
            (
                &[("test_buy.py", text), ("conftest.py", "")],
                "buy",
                "python3 -m pytest -q test_buy.py",
            ),
            (
                &[("a/buy.spec.ts", js), ("package.json", "{\"vitest\": 1}")],
                "buy",
                "npx vitest run a/buy.spec.ts",
            ),
            (
                &[("test/buy.js", js), ("package.json", "{\"mocha\": 1}")],
                "buy",
                "npx mocha test/buy.js",
            ),
            (
                &[("x.test.js", "require('node:test'); test('a')")],
                "x",
                "node --test x.test.js",
            ),
        ];
        for (files, name, command) in cases {
            let expected = vec![(name.to_owned(), command.to_owned())];
            assert_eq!(found(files), expected);
        }
        assert_eq!(found(&[("tests/helpers.py", ""), ("src/test.js", js)]), []);
    }

    #[test]
    fn names_differ_and_too_many_files_are_one_scenario() {
        let two = [("a/test_buy.py", ""), ("b/test_buy.py", "")];
        let names: Vec<String> = found(&two).into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["a_buy", "b_buy"]);
        let many: Vec<String> = (0..=MOST_FILES)
            .map(|it| format!("tests/{}/test_{it}.py", it % 2))
            .collect();
        let many: Vec<(&str, &str)> = many.iter().map(|it| (it.as_str(), "")).collect();
        let tests = find(project(&many).path());
        let (count, test) = tests.all.unwrap();
        assert_eq!((count, tests.files.len()), (MOST_FILES + 1, 0));
        assert_eq!(test.command, "python3 -m pytest -q tests");
    }

    #[test]
    fn a_suite_is_taken_apart_unless_it_says_what_it_runs() {
        let files = named(
            &["tests/test_a.py".to_owned(), "tests/test_b.py".to_owned()],
            str::to_owned,
        );
        for (command, count, first) in [
            ("pytest -q", 2, "pytest -q tests/test_a.py"),
            (
                "v/bin/python -m pytest tests/",
                2,
                "v/bin/python -m pytest tests/test_a.py",
            ),
            ("pytest tests/test_a.py", 0, ""),
            ("pytest -k buy", 0, ""),
            ("pytest other", 0, ""),
            ("make test", 0, ""),
        ] {
            let of_suite = of_suite(command, &files);
            assert_eq!(of_suite.len(), count, "{command}");
            let command = of_suite.first().map_or("", |it| it.command.as_str());
            assert_eq!(command, first);
        }
    }
}
