//! The load: h2load, the same for every subject.
//!
//! Owns its command line and the reading of its log, from which every request
//! counts: how many, which statuses, how long each took.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::Command;

use super::process::Process;
use super::protocol::{GRPC_MESSAGE, Protocol, Shape};
use super::scratch::Scratch;
use super::statistics::percentile;
use super::tools::{Tool, ended_with_parent};

/// The load generator.
#[derive(Debug)]
pub struct Generator {
    program: PathBuf,
    message: PathBuf,
    log: PathBuf,
}

/// What one run of load came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Answers per status; -1 is a request that broke.
    pub statuses: BTreeMap<i32, u64>,
    /// Requests answered per second.
    pub per_second: f64,
    /// Half of all answers took at most this long, in microseconds.
    pub p50_us: f64,
    /// 99 of 100 answers took at most this long, in microseconds.
    pub p99_us: f64,
}

impl Tally {
    /// All answers.
    pub fn requests(&self) -> u64 {
        self.statuses.values().sum()
    }
}

impl Generator {
    /// Finds h2load, or installs it.
    pub fn new(scratch: &Scratch) -> Result<Self> {
        Ok(Self {
            program: Tool::H2load.find_or_install()?,
            message: scratch.write("message.grpc", GRPC_MESSAGE)?,
            log: scratch.path().join("h2load.log"),
        })
    }

    /// What it calls its version.
    pub fn version(&self) -> String {
        Tool::H2load.version(&self.program)
    }

    /// Puts load of that shape on a server, named as `scheme://host:port`, for that long.
    pub async fn run(
        &self,
        shape: Shape,
        url: &str,
        headers: &[String],
        time: Duration,
    ) -> Result<Tally> {
        // h2load appends.
        let _ = std::fs::remove_file(&self.log);
        let mut process = Process::start("h2load", self.command(shape, url, headers, time))?;
        process.ended_well().await?;
        let log = std::fs::read_to_string(&self.log).context("h2load wrote no log")?;
        tally(&log, time)
    }

    fn command(&self, shape: Shape, url: &str, headers: &[String], time: Duration) -> Command {
        let mut command = ended_with_parent(&self.program);
        command
            .args(["--threads", "1"])
            .args(["--clients", &shape.connections.to_string()])
            .args(["--max-concurrent-streams", &shape.streams().to_string()])
            .arg(format!("--duration={}ms", time.as_millis()))
            .arg(format!("--log-file={}", self.log.display()));
        match shape.protocol {
            Protocol::Http1 => {
                command.arg("--h1");
            }
            Protocol::Http2 => {}
            Protocol::Grpc => {
                command.arg("--data").arg(&self.message);
            }
        }
        for header in grpc_headers(shape.protocol).iter().copied() {
            command.args(["--header", header]);
        }
        for header in headers {
            command.args(["--header", header]);
        }
        command
            .arg(format!("{url}{}", shape.protocol.path()))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }
}

fn grpc_headers(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::Grpc => &["content-type: application/grpc", "te: trailers"],
        Protocol::Http1 | Protocol::Http2 => &[],
    }
}

/// Reads lines of start, status and duration, both times in microseconds.
fn tally(log: &str, time: Duration) -> Result<Tally> {
    let mut statuses = BTreeMap::new();
    let mut durations = Vec::new();
    for line in log.lines() {
        let (status, duration) = parse(line).with_context(|| format!("h2load logged `{line}`"))?;
        *statuses.entry(status).or_insert(0) += 1;
        durations.push(duration);
    }
    durations.sort_unstable();
    Ok(Tally {
        statuses,
        per_second: durations.len() as f64 / time.as_secs_f64(),
        p50_us: percentile(&durations, 0.50) as f64,
        p99_us: percentile(&durations, 0.99) as f64,
    })
}

fn parse(line: &str) -> Option<(i32, u64)> {
    let mut fields = line.split('\t').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_log_counts() {
        let log = "1000\t200\t30\n1001\t200\t10\n1002\t503\t20\n1003\t-1\t40\n";
        let tally = tally(log, Duration::from_secs(2)).unwrap();
        assert_eq!(
            tally.statuses,
            BTreeMap::from([(-1, 1), (200, 2), (503, 1)])
        );
        assert_eq!((tally.requests(), tally.per_second), (4, 2.0));
        assert_eq!((tally.p50_us, tally.p99_us), (20.0, 40.0));
    }

    #[test]
    fn no_answer_is_no_error() {
        let tally = tally("", Duration::from_secs(1)).unwrap();
        assert_eq!(tally.requests(), 0);
    }

    #[test]
    fn a_log_in_another_form_is_an_error() {
        assert!(tally("GET / 200\n", Duration::from_secs(1)).is_err());
    }
}
