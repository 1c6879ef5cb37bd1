//! A process that ends with the bench.
//!
//! Owns starting it in a group of its own (nginx is several processes), waiting
//! until it listens, and killing the whole group when it is no longer needed,
//! whether the bench succeeds, fails or is interrupted.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::tools;

/// A running process and what it starts.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    group: u32,
}

/// Envoy takes a second or two on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

impl Process {
    /// Starts the command.
    pub fn start(name: &str, mut command: Command) -> Result<Self> {
        let child = command
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{name} could not be started"))?;
        let group = child.id().context("a process just started has an id")?;
        Ok(Self {
            name: name.to_owned(),
            child,
            group,
        })
    }

    /// Starts a program of others and waits until it listens at the
    /// addresses. What it says goes to a log in the directory, which is shown
    /// if it does not.
    pub async fn start_foreign(
        name: &str,
        program: &Path,
        arguments: &[&str],
        directory: &Path,
        listens: &[SocketAddr],
    ) -> Result<Self> {
        let log_path = directory.join(format!("{name}.log"));
        let log = File::create(&log_path)?;
        let mut command = tools::ended_with_parent(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut process = Self::start(name, command)?;
        match process.until_listening(listens).await {
            Ok(()) => Ok(process),
            Err(error) => {
                let log = std::fs::read_to_string(&log_path).unwrap_or_default();
                Err(error.context(format!(
                    "{name} did not start; it said:\n{}",
                    log.trim_end()
                )))
            }
        }
    }

    /// The process group: its id is that of the first process.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Its standard input and output, once, if they were asked for.
    pub fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        Some((self.child.stdin.take()?, self.child.stdout.take()?))
    }

    /// Waits for its end, which must be a success.
    pub async fn ended_well(&mut self) -> Result<()> {
        let status = self.child.wait().await?;
        if !status.success() {
            bail!("{} ended with {status}", self.name);
        }
        Ok(())
    }

    /// Once it has, its group may belong to somebody else.
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it listens at the addresses.
    pub async fn until_listening(&mut self, addresses: &[SocketAddr]) -> Result<()> {
        let started = Instant::now();
        for address in addresses {
            while TcpStream::connect(address).await.is_err() {
                if let Some(status) = self.child.try_wait()? {
                    bail!("it ended with {status}");
                }
                if started.elapsed() > PATIENCE {
                    bail!("it does not listen at {address} after {PATIENCE:?}");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Asked first, so that nginx can see its workers off.
        for signal in ["-TERM", "-KILL"] {
            if self.has_ended() {
                return;
            }
            send(signal, self.group);
            for _ in 0..LAST_WORDS_MS / 10 {
                if self.has_ended() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// How long a process may take to end when asked to, in milliseconds.
const LAST_WORDS_MS: u64 = 2000;

fn send(signal: &str, group: u32) {
    let _ = std::process::Command::new("kill")
        .args([signal, "--", &format!("-{group}")])
        .stderr(Stdio::null())
        .status();
}

/// That many addresses on which nobody listens.
pub async fn free_addresses<const N: usize>() -> Result<[SocketAddr; N]> {
    let mut held = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..N {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        addresses.push(listener.local_addr()?);
        held.push(listener);
    }
    Ok(addresses.try_into().expect("N addresses"))
}
