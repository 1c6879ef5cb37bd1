//! This binary, started again as something to measure.
//!
//! Owns how such a process says where it listens, is spoken to and ends: its
//! first line on standard output is its doors; each further line on standard
//! input is answered by one on standard output; it ends when standard input
//! does, so that none outlives the bench, however that ends.

use std::fmt::Display;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::Stdio;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::process::Process;
use super::protocol::Doors;

/// A running role.
#[derive(Debug)]
pub struct Role<D = Doors> {
    /// The process it runs in.
    pub process: Process,
    /// Where it listens.
    pub doors: D,
    ask: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl<D: FromStr<Err: Into<anyhow::Error>>> Role<D> {
    /// Starts this binary with the arguments and waits until it listens.
    pub async fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        Self::start_of(&std::env::current_exe()?, name, arguments).await
    }

    /// The same of another build of it.
    pub async fn start_of(binary: &Path, name: &str, arguments: &[&str]) -> Result<Self> {
        let (process, ask, mut answers) = spawn(binary, name, arguments)?;
        let Some(line) = answers.next_line().await? else {
            bail!("{name} ended before it listened; what it said is above");
        };
        let doors = line.parse().map_err(Into::into);
        Ok(Self {
            process,
            doors: doors.with_context(|| format!("{name}: {line}"))?,
            ask,
            answers,
        })
    }

    /// Sends a line and waits for the answer.
    pub async fn ask(&mut self, line: &str) -> Result<String> {
        self.ask.write_all(format!("{line}\n").as_bytes()).await?;
        let answer = self.answers.next_line().await?;
        let answer = answer.with_context(|| format!("no answer to `{line}`"))?;
        match answer.strip_prefix("error: ") {
            Some(error) => bail!("`{line}`: {error}"),
            None => Ok(answer),
        }
    }
}

/// Runs this binary with the arguments to its end and hands over what it
/// printed, line by line as it comes.
pub async fn run(name: &str, arguments: &[&str], mut print: impl FnMut(&str)) -> Result<()> {
    let binary = std::env::current_exe()?;
    let (mut process, _ask, mut answers) = spawn(&binary, name, arguments)?;
    while let Some(line) = answers.next_line().await? {
        print(&line);
    }
    process.ended_well().await
}

type Spawned = (Process, ChildStdin, Lines<BufReader<ChildStdout>>);

fn spawn(binary: &Path, name: &str, arguments: &[&str]) -> Result<Spawned> {
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut process = Process::start(name, command)?;
    let (ask, answers) = process.pipes().context("standard input and output")?;
    Ok((process, ask, BufReader::new(answers).lines()))
}

/// Says where this process listens; for the process itself.
pub fn announce(doors: &Doors) {
    say(doors);
    // A thread of its own, because the runtime may have only this one.
    std::thread::spawn(|| serve_lines(|_| "error: nothing can be asked".to_owned()));
}

/// Says where this process listens and answers what it is asked.
pub fn announce_and_answer(
    doors: &impl Display,
    answer: impl FnMut(&str) -> String + Send + 'static,
) {
    say(doors);
    std::thread::spawn(|| serve_lines(answer));
}

fn serve_lines(mut answer: impl FnMut(&str) -> String) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        say(answer(&line));
    }
    std::process::exit(0);
}

fn say(line: impl Display) {
    let mut out = std::io::stdout().lock();
    // If nobody reads, the bench is gone and standard input ends as well.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Runs the future on that many threads: this one if one is enough.
pub fn block_on<T>(threads: usize, future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(threads);
    }
    builder.enable_all().build()?.block_on(future)
}
