//! From what came of a campaign to what is shown of it.
//!
//! Owns the summary that every format is made from, the files it is written
//! to, and the exit code.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use murphy::replays::write_files;
use murphy_campaign::SetupError;
use murphy_model::{Certificate, Flag, nearest};
use murphy_report::terminal::Detail;
use murphy_report::{Summary, json, junit, markdown, terminal};

pub(crate) use murphy_project::replay_files::{Replays, replay_command};

use crate::args::Format;
use crate::error::{Error, complain};
use crate::{error, exit, output};
use murphy_config::ReportRule;
use murphy_config::Usage;

/// How it went, for scripts. What a baseline excuses does not fail the build.
pub(crate) fn exit_code(summary: &Summary, require_complete: bool) -> u8 {
    let complete = summary.certificate.is_complete();
    match () {
        () if summary.fails() => exit::FINDINGS,
        () if !summary.injected => exit::NOTHING_INJECTED,
        () if require_complete && !complete => exit::INCOMPLETE,
        () => exit::OK,
    }
}

/// The same for a search that may have been interrupted, which is said after
/// what was found until then.
pub(crate) fn with_broken(code: u8, broken: Option<SetupError>) -> u8 {
    match broken {
        Some(broken) => exit::worst(&[code, error::report(&Error::Broken(broken))]),
        None => code,
    }
}

/// An exit code that is neither good nor a finding wants a word.
pub(crate) fn say_what_is_missing(code: u8, summary: &Summary, max_time: Option<Duration>) {
    let explored = summary.certificate.explored;
    let is_late = max_time.is_some_and(|most| summary.timing.total >= most);
    match code {
        exit::NOTHING_INJECTED if summary.certificate.points == 0 => complain(format_args!(
            "nothing was tested: no call can be injected\nhint: {}",
            why_no_points(&summary.certificate)
        )),
        exit::NOTHING_INJECTED if no_handshake_failed(summary) => complain(
            "nothing was tested: no caller broke a TLS handshake off. It takes any certificate, speaks no TLS with Murphy, or makes several calls at once\nhint: docs/guide/https.md says when `tls:` modes are injected",
        ),
        exit::NOTHING_INJECTED if summary.certificate.is_complete() => complain(
            "nothing was tested: these modes show callers only what they are shown anyway\nhint: choose `--modes` that are failures, such as 503 or reset",
        ),
        exit::NOTHING_INJECTED if is_late && explored <= 1 => complain(
            "nothing was tested: the executions without faults, which come first, took all the time allowed\nhint: allow more with `--max-time`",
        ),
        exit::NOTHING_INJECTED => complain(format_args!(
            "nothing was tested: no fault was injected (executions: {explored})\nhint: allow more with `--max-cases` or `--max-time`"
        )),
        exit::INCOMPLETE => {
            complain("the search is not complete, which `--require-complete` asks for");
        }
        _ => {}
    }
}

/// Whether faults of TLS were planned, and not one was injected.
fn no_handshake_failed(summary: &Summary) -> bool {
    let is_tls = |mode: &String| mode.starts_with("tls:");
    summary.certificate.not_exercised > 0 && summary.modes.iter().any(is_tls)
}

/// Why there is nothing to inject, as far as can be told.
fn why_no_points(certificate: &Certificate) -> String {
    let services = certificate.flags.iter().filter_map(|flag| match flag {
        Flag::Uncalled { service } => Some(format!("`{service}`")),
        _ => None,
    });
    let services: Vec<String> = services.collect();
    let unknown = |flag: &Flag| matches!(flag, Flag::Unattributed { .. } | Flag::Orphan { .. });
    match services.is_empty() {
        false => format!(
            "no call to {} was seen: do its callers use the proxy's address (`{{NAME.url}}` or `listen`)? `murphy doctor` shows what was seen",
            services.join(", ")
        ),
        true if certificate.flags.iter().any(unknown) => "it is not known who made the calls between services; `murphy doctor` shows what was seen".to_owned(),
        true => "no call between services was seen, or `--only` and `--except` leave none".to_owned(),
    }
}

/// Formats that go to files.
const FORMATS: [&str; 4] = ["json", "junit", "markdown", "events"];

/// Files to be written.
#[derive(Clone, Default)]
pub(crate) struct Reports(Vec<(&'static str, PathBuf)>);

impl Reports {
    /// What was typed, and what is written in the file for other formats.
    pub(crate) fn of(typed: &[String], written: &[ReportRule]) -> Result<Self, Usage> {
        let mut all = Vec::new();
        for word in typed {
            all.push(report(word)?);
        }
        let given: BTreeSet<&str> = all.iter().map(|(format, _)| *format).collect();
        let others = written.iter().filter(|rule| !given.contains(rule.format));
        let others: Vec<_> = others
            .map(|rule| (rule.format, rule.path.clone()))
            .collect();
        all.extend(others);
        Ok(Reports(all))
    }

    /// The files of one scenario: among several, each has its own.
    pub(crate) fn of_scenario(&self, name: &str, among_several: bool) -> Self {
        // Tests have names like paths.
        let plain = |c: char| {
            if c.is_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = name.chars().map(plain).collect();
        let own = |(format, path): &(&'static str, PathBuf)| match among_several {
            false => (*format, path.clone()),
            true => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let file = match path.extension() {
                    Some(end) => format!("{stem}-{name}.{}", end.to_string_lossy()),
                    None => format!("{stem}-{name}"),
                };
                (*format, path.with_file_name(file))
            }
        };
        Reports(self.0.iter().map(own).collect())
    }

    /// Makes sure that all can be written, before there is anything to lose.
    pub(crate) fn check(&self) -> Result<(), Usage> {
        self.paths()
            .try_for_each(|path| try_out(path).map_err(|error| cannot_write(path, &error)))
    }

    /// Where events go while the campaign runs.
    pub(crate) fn events(&self) -> Result<Option<BufWriter<File>>, Usage> {
        let wanted = self.0.iter().find(|(format, _)| *format == "events");
        let created =
            wanted.map(|(_, path)| create(path).map_err(|error| cannot_write(path, &error)));
        created.transpose()
    }

    /// All files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(_, path)| path.as_path())
    }

    /// Writes those that are made at the end. One that cannot be written keeps
    /// no other from it, and changes nothing about the result.
    fn write(&self, summary: &Summary) {
        for (format, path) in &self.0 {
            let write: fn(&Summary, &mut dyn Write) -> io::Result<()> = match *format {
                "json" => json::write,
                "junit" => junit::write,
                "markdown" => markdown::write,
                _ => continue,
            };
            let written = create(path).and_then(|mut file| {
                write(summary, &mut file)?;
                file.flush()
            });
            if let Err(error) = written {
                complain(format_args!(
                    "cannot write the report {}: {error}\nhint: the result stands, and so does its exit code",
                    path.display()
                ));
            }
        }
    }
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    make_folder(path);
    Ok(BufWriter::new(File::create(path)?))
}

/// If it cannot be made, that shows when the file is.
fn make_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
}

/// Opens a file for writing and leaves things as they were: an old report
/// stands until there is a new one. Who reads from a pipe would take its end
/// for the report's; devices and the like are not touched.
fn try_out(path: &Path) -> io::Result<()> {
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return Ok(());
    }
    make_folder(path);
    OpenOptions::new().append(true).create(true).open(path)?;
    match there {
        Ok(_) => Ok(()),
        Err(_) => fs::remove_file(path),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Usage {
    Usage::new(format!("cannot write the report {}: {error}", path.display())).hint(
        "name a file that can be written, with `--report FORMAT=PATH` or under `[report]` in murphy.toml",
    )
}

fn report(word: &str) -> Result<(&'static str, PathBuf), Usage> {
    let Some((format, path)) = word.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err(Usage::new(format!("`{word}` names no file"))
            .at("--report", word, word, "a format and a path are expected")
            .hint("write for example `--report junit=murphy.xml`"));
    };
    let known = FORMATS.into_iter().find(|known| *known == format);
    let known = known.ok_or_else(|| {
        let hint = match nearest(format, FORMATS) {
            Some(meant) => format!("did you mean `{meant}`? there are {}", FORMATS.join(", ")),
            None => format!("there are {}", FORMATS.join(", ")),
        };
        Usage::new(format!("there is no format `{format}`"))
            .at("--report", word, format, "not a format")
            .hint(hint)
    })?;
    Ok((known, PathBuf::from(path)))
}

/// How a result is shown on stdout.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) format: Format,
    pub(crate) detail: Detail,
    /// Whether its JSON is a part of what is shown at the end of the run.
    pub(crate) is_shown_later: bool,
}

/// Writes the result of a scenario to stdout, if all of it was asked for, and to
/// the files, whatever comes of stdout. What fits on a screen comes at the end
/// of the run.
pub(crate) fn write(
    summary: &Summary,
    replays: &[PathBuf],
    output: Output,
    reports: &Reports,
) -> Result<(), Error> {
    let shown = output::write(|out| match (output.format, output.detail) {
        (Format::Json, _) if output.is_shown_later => Ok(()),
        (Format::Json, _) => json::write(summary, out),
        (Format::Human, Detail::Full) => {
            terminal::write(summary, out)?;
            write_files(replays, out)
        }
        (Format::Human, Detail::Usual | Detail::Quiet) => Ok(()),
    });
    reports.write(summary);
    shown
}
