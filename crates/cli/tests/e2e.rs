//! End-to-end cases as data: one folder, one test.
//!
//! A case is a folder `e2e/cases/GROUP/NAME/` with
//! - `cmd`: the arguments after `murphy`, one line, quoted as in a shell;
//! - `before`: commands to be run before it in the same place, one a line;
//!   each must end with a result, findings or none;
//! - `env`: variables for it, `NAME=VALUE` on each line;
//! - `exit`: the exit code;
//! - `stdout`, `stderr`: the expected texts; missing means "not looked at";
//! - `stdout-has`, `stderr-has`: instead, lines that they must contain, where the
//!   rest differs between equal runs;
//! - `stdout-of`: instead of `stdout`, another case (`GROUP/NAME`) whose
//!   expected text this one must print too;
//! - `files`: a folder that is copied to a place of its own, where the command
//!   is run; `[dir]` in the expected texts is that place;
//! - `system`: a folder of `e2e/systems` that is copied there before `files`;
//! - `written`: a folder of files that must be there afterwards, as they are;
//! - `requires`: a program that must be installed; where it is not, the case
//!   is ignored, and that is said;
//! - `taken`: a port of this machine that somebody listens on meanwhile.
//!
//! What differs between equal runs is masked on both sides, see [`masked`].
//! `UPDATE_EXPECTED=1 cargo test -p murphy-cli --test e2e` writes the expectations
//! anew; a text that is not wanted is removed by hand, and an update does not
//! bring it back once the case has an `exit`.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/cases");
    let trials = cases(&root).into_iter().map(|case| {
        let name = case.strip_prefix(&root).unwrap_or(&case);
        let (name, root) = (name.display().to_string(), root.clone());
        let missing = missing_program(&case);
        if let Some(program) = &missing {
            eprintln!("ignored: {name} needs `{program}`, which is not installed");
        }
        Trial::test(name, move || run(&root, &case)).with_ignored_flag(missing.is_some())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The program that a case requires, if it cannot be run.
fn missing_program(case: &Path) -> Option<String> {
    let program = fs::read_to_string(case.join("requires")).ok()?;
    let program = program.trim().to_owned();
    let tried = Command::new(&program).arg("--version").output();
    tried.is_err().then_some(program)
}

/// Listens on the port that a case wants to be taken, if it wants one.
fn take_port(case: &Path) -> Result<Option<TcpListener>, Failed> {
    let Ok(port) = fs::read_to_string(case.join("taken")) else {
        return Ok(None);
    };
    let port: u16 = port.trim().parse().map_err(|_| "`taken` is no port")?;
    Ok(Some(TcpListener::bind(("127.0.0.1", port))?))
}

/// The folders two levels down, sorted.
fn cases(root: &Path) -> Vec<PathBuf> {
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(of).expect("a folder of cases").flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).collect()
    };
    let mut cases: Vec<PathBuf> = folders(root)
        .iter()
        .flat_map(|group| folders(group))
        .collect();
    cases.sort();
    cases
}

fn run(root: &Path, case: &Path) -> Result<(), Failed> {
    let line = fs::read_to_string(case.join("cmd"))?;
    let stage = Stage::of(root, case)?;
    let _taken = take_port(case)?;
    for line in fs::read_to_string(case.join("before"))
        .unwrap_or_default()
        .lines()
    {
        let output = stage.murphy(line)?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{line}` came before and failed:\n{said}").into());
        }
    }
    let mut output = stage.murphy(&line)?;
    for bytes in [&mut output.stdout, &mut output.stderr] {
        *bytes = stage.masked(bytes);
    }
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        update(case, &output)?;
    } else {
        compare(root, case, &output)?;
    }
    stage.compare_written(&case.join("written"))
}

/// Where a case is run; removed in the end.
struct Stage {
    folder: TempDir,
    env: Vec<(String, String)>,
}

impl Stage {
    /// A folder of its own with what is in `files`, if anything.
    fn of(root: &Path, case: &Path) -> std::io::Result<Self> {
        let here = std::env::temp_dir().canonicalize()?;
        let folder = tempfile::Builder::new()
            .prefix("murphy-e2e-")
            .tempdir_in(here)?;
        if let Ok(system) = fs::read_to_string(case.join("system")) {
            copy(&root.join("../systems").join(system.trim()), folder.path())?;
        }
        match case.join("files") {
            files if files.is_dir() => copy(&files, folder.path())?,
            _ => {}
        }
        let env = fs::read_to_string(case.join("env")).unwrap_or_default();
        let pair = |line: &str| {
            line.split_once('=')
                .map(|(n, v)| (n.to_owned(), v.to_owned()))
        };
        Ok(Stage {
            folder,
            env: env.lines().filter_map(pair).collect(),
        })
    }

    fn masked(&self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        text.replace(&*self.folder.path().to_string_lossy(), "[dir]")
            .into()
    }
}

impl Stage {
    /// Murphy with the arguments of this line, from its start to its end.
    fn murphy(&self, line: &str) -> Result<Output, Failed> {
        let output = Command::new(env!("CARGO_BIN_EXE_murphy"))
            .args(words(line.trim_end())?)
            .current_dir(&self.folder)
            .env_remove("CLICOLOR_FORCE")
            .env("NO_COLOR", "1")
            .envs(self.env.iter().cloned())
            .output()?;
        Ok(output)
    }

    /// Every file of the folder, if there is one, must have been written.
    fn compare_written(&self, expected: &Path) -> Result<(), Failed> {
        for entry in fs::read_dir(expected).into_iter().flatten() {
            let path = entry?.path();
            let written = self.folder.path().join(path.file_name().expect("a name"));
            if std::env::var_os("UPDATE_EXPECTED").is_some() {
                fs::copy(&written, &path)?;
            }
            let (expected, got) = (fs::read_to_string(&path)?, fs::read_to_string(&written)?);
            if expected != got {
                return Err(difference(&path, &expected, &got).into());
            }
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target)?,
            false => fs::copy(&path, &target).map(drop)?,
        }
    }
    Ok(())
}

fn exit_text(output: &Output) -> String {
    output
        .status
        .code()
        .map_or("signal".to_owned(), |code| code.to_string())
}

fn text(bytes: &[u8]) -> String {
    masked(&String::from_utf8_lossy(bytes))
}

fn update(case: &Path, output: &Output) -> Result<(), Failed> {
    let is_new = !case.join("exit").exists();
    fs::write(case.join("exit"), exit_text(output) + "\n")?;
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let path = case.join(name);
        let wanted = is_new && !bytes.is_empty() && !case.join(format!("{name}-of")).exists();
        if path.exists() || wanted {
            fs::write(path, text(bytes))?;
        }
    }
    Ok(())
}

fn compare(root: &Path, case: &Path, output: &Output) -> Result<(), Failed> {
    let shown = |name: &str| format!("\n--- {name} ---\n");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let expected_exit = fs::read_to_string(case.join("exit"))?;
    if expected_exit.trim() != exit_text(output) {
        let (expected, got) = (expected_exit.trim(), exit_text(output));
        let texts = shown("stdout") + &stdout + &shown("stderr") + &stderr;
        return Err(format!("exit code {got}, expected {expected}{texts}").into());
    }
    let parts = fs::read_to_string(case.join("stdout-has")).unwrap_or_default();
    if let Some(missing) = parts.lines().find(|part| !stdout.contains(part.trim())) {
        return Err(format!("stdout has no `{missing}`{}{stdout}", shown("stdout")).into());
    }
    let parts = fs::read_to_string(case.join("stderr-has")).unwrap_or_default();
    if let Some(missing) = parts.lines().find(|part| !stderr.contains(part.trim())) {
        return Err(format!("stderr has no `{missing}`{}{stderr}", shown("stderr")).into());
    }
    let same_as = fs::read_to_string(case.join("stdout-of")).ok();
    let stdout_of = same_as.map_or(case.to_owned(), |other| root.join(other.trim()));
    for (path, got) in [
        (stdout_of.join("stdout"), stdout),
        (case.join("stderr"), stderr),
    ] {
        if !path.exists() {
            continue;
        }
        let expected = masked(&fs::read_to_string(&path)?);
        if expected != got {
            return Err(difference(&path, &expected, &got).into());
        }
    }
    Ok(())
}

fn difference(path: &Path, expected: &str, got: &str) -> String {
    let line = expected
        .lines()
        .zip(got.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
    format!(
        "{} differs at line {}\nexpected: {}\ngot:      {}\n--- all that was printed ---\n{got}",
        path.display(),
        line + 1,
        at(expected),
        at(got)
    )
}

/// What equal runs may print differently, replaced: the lines about time; ports
/// that the system chose; the PATH of whoever runs the tests; in JSON the values under `timing`, and `speculative`, the one number that
/// depends on how many executions are under way.
fn masked(text: &str) -> String {
    const NUMBERS: [&str; 4] = [
        "total_ms",
        "reference_ms",
        "executions_per_s",
        "speculative",
    ];
    let mask = |line: &str| {
        let key = line
            .trim_start()
            .strip_prefix('"')
            .and_then(|rest| rest.split('"').next());
        match key {
            Some(key) if NUMBERS.contains(&key) => {
                let (before, after) = line.split_once(": ").unwrap_or((line, ""));
                let comma = if after.ends_with(',') { "," } else { "" };
                format!("{before}: 0{comma}\n")
            }
            _ if line.starts_with("Took ") => "Took [time]\n".to_owned(),
            _ if line.starts_with("  took ") => "  took [time]\n".to_owned(),
            _ if line.starts_with("warning: `") => without_times(line) + "\n",
            _ => without_path(&without_ports(line)) + "\n",
        }
    };
    text.lines().map(mask).collect()
}

/// Ports that the system gives to whoever asks for any are never the same.
fn without_ports(line: &str) -> String {
    const LOOPBACK: &str = "127.0.0.1:";
    let mut parts = line.split(LOOPBACK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let (port, rest) = part.split_at(end.unwrap_or(part.len()));
        let chosen = port.parse::<u16>().is_ok_and(|port| port >= 32_768);
        text += LOOPBACK;
        text += if chosen { "[port]" } else { port };
        text += rest;
    }
    text
}

/// How often a service calls before the first execution depends on time.
fn without_times(line: &str) -> String {
    let times = line.split_once(" (").and_then(|(before, rest)| {
        let (count, after) = rest.split_once(" times)")?;
        count.parse::<usize>().ok()?;
        Some(format!("{before} ([n] times){after}"))
    });
    times.unwrap_or_else(|| without_path(&without_ports(line)))
}

fn without_path(line: &str) -> String {
    match line.split_once("PATH, which is ") {
        Some((before, _)) => format!("{before}PATH, which is [path]"),
        None => line.to_owned(),
    }
}

/// Splits a line as a shell would: blanks separate, quotes of either kind hold
/// together. Nothing is expanded.
fn words(line: &str) -> Result<Vec<String>, Failed> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                let inside = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some(other) => inside.push(other),
                        None => return Err(format!("a quote is not closed in: {line}").into()),
                    }
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}
