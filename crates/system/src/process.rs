//! A program that is started, listened to and stopped, with all it started
//! itself.
//!
//! Owns process groups: a signal goes to the whole group, so that a shell's or
//! a supervisor's children end with it. What is started, and why, is for
//! others to know; what survives a killed Murphy is the ledger's concern.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::log::Log;

/// How long to read on after a process has ended. Its group is killed by
/// then; only what left the group can still hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What becomes of what a process started itself, once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Children {
    /// It is killed.
    EndWithIt,
    /// It may go on: a step can start something for the executions after it.
    /// It ends with the world, by its mark.
    MayStay,
}

/// What is to be started.
pub(super) struct Start<'s> {
    /// Program and arguments.
    pub(super) command: &'s [String],
    /// Where.
    pub(super) directory: &'s Path,
    /// Added to our own environment.
    pub(super) environment: &'s BTreeMap<String, String>,
    /// What becomes of what it starts itself.
    pub(super) children: Children,
}

/// A program that could not be started.
#[derive(Debug)]
pub(super) struct StartError {
    program: String,
    directory: String,
    what: What,
}

#[derive(Debug)]
enum What {
    NoCommand,
    NoDirectory,
    NotFound,
    NotExecutable,
    Other(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StartError {
            program, directory, ..
        } = self;
        match &self.what {
            What::NoCommand => f.write_str("the command is empty"),
            What::NoDirectory => write!(f, "there is no directory `{directory}`"),
            What::NotFound => write!(f, "command not found: `{program}` (in `{directory}`)"),
            What::NotExecutable => {
                write!(f, "`{program}` (in `{directory}`) may not be executed")
            }
            What::Other(error) => {
                write!(
                    f,
                    "`{program}` (in `{directory}`) cannot be started: {error}"
                )
            }
        }
    }
}

impl StartError {
    /// The way out.
    pub(super) fn hint(&self) -> String {
        match &self.what {
            What::NoCommand => "write a program and its arguments".to_owned(),
            What::NoDirectory => "create it, or correct `directory`".to_owned(),
            What::NotFound if self.program.contains('/') => {
                "paths are looked up from that directory; is it there, and the interpreter it names?".to_owned()
            }
            What::NotFound => {
                let path = std::env::var("PATH").unwrap_or_default();
                format!("install it, give its path, or add its directory to PATH, which is {path}")
            }
            What::NotExecutable => format!("try `chmod +x {}`", self.program),
            What::Other(_) => "try it by hand in that directory".to_owned(),
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit(ExitStatus);

impl Exit {
    pub(super) fn is_success(self) -> bool {
        self.0.success()
    }
}

/// As in `exit code 1`, `killed by SIGSEGV`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            (None, None) => f.write_str("no exit code"),
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    let named = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
    ];
    let known = named.iter().find(|(known, _)| known.as_raw() == number);
    known.map(|(_, name)| *name)
}

/// A running program and its process group; killed when dropped.
pub(super) struct Process {
    group: Pid,
    /// `None` while it runs.
    exit: watch::Receiver<Option<Exit>>,
    watching: JoinHandle<()>,
}

impl Process {
    /// Starts a program in a group of its own. What it prints, on either
    /// channel, goes to `log` in the order in which it was printed.
    pub(super) fn start(start: &Start<'_>, log: Arc<Log>) -> Result<Self, StartError> {
        let mut command = command(start)?;
        let started = attach(&mut command).and_then(|pipe| Ok((command.spawn()?, pipe)));
        // Our copies of the pipe's end go with the command; with them it
        // would never end.
        drop(command);
        let (child, pipe) = started.map_err(|error| start.failed(error))?;
        let group = child.id().and_then(|id| Pid::from_raw(id as i32));
        let group = group.expect("nobody has waited for it yet");
        let (ended, exit) = watch::channel(None);
        Ok(Process {
            group,
            exit,
            watching: tokio::spawn(watch_over(
                child,
                group,
                start.children,
                tokio::spawn(read(pipe, log)),
                ended,
            )),
        })
    }

    /// The id of its group, which is that of its leader.
    pub(super) fn group(&self) -> Pid {
        self.group
    }

    /// How it ended, if it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Whether it runs, which the kernel knows before we are told.
    pub(super) fn runs(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.exit().is_none() && matches!(waitid(WaitId::Pid(self.group), look), Ok(None))
    }

    /// Waits for its end, and for the end of what it printed.
    pub(super) async fn ended(&self) -> Exit {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        ended
            .expect("its end is told before watching ends")
            .expect("it has ended")
    }

    /// Asks it to end, and kills what is left of its group after `within`.
    pub(super) async fn stop(self, within: Duration) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(within, self.ended()).await.is_err() {
            self.kill().await;
        }
    }

    /// Kills the group and waits for its end.
    pub(super) async fn kill(&self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    fn signal(&self, signal: Signal) {
        // Once it has ended, its id may be another's.
        if self.exit().is_none() {
            let _ = kill_process_group(self.group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Where the runtime lives on it still reaps the process, which is
        // dead by now; the log is of no use to anybody.
        if self.exit().is_some() {
            self.watching.abort();
        }
    }
}

fn command(start: &Start<'_>) -> Result<Command, StartError> {
    let [program, arguments @ ..] = start.command else {
        return Err(start.because(What::NoCommand));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(start.environment)
        .current_dir(start.directory)
        .process_group(0)
        .stdin(Stdio::null());
    Ok(command)
}

/// One pipe for both channels, so that their order is kept.
fn attach(command: &mut Command) -> io::Result<pipe::Receiver> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    pipe::Receiver::from_owned_fd(reader.into())
}

impl Start<'_> {
    fn failed(&self, error: io::Error) -> StartError {
        self.because(match error.kind() {
            _ if !self.directory.is_dir() => What::NoDirectory,
            io::ErrorKind::NotFound => What::NotFound,
            io::ErrorKind::PermissionDenied => What::NotExecutable,
            _ => What::Other(error),
        })
    }

    fn because(&self, what: What) -> StartError {
        StartError {
            program: self.command.first().cloned().unwrap_or_default(),
            directory: AsRef::<OsStr>::as_ref(self.directory)
                .to_string_lossy()
                .into_owned(),
            what,
        }
    }
}

/// Waits for its end, and for the end of what it prints.
async fn watch_over(
    mut child: Child,
    group: Pid,
    children: Children,
    mut reading: JoinHandle<()>,
    ended: watch::Sender<Option<Exit>>,
) {
    let status = child.wait().await;
    if children == Children::EndWithIt {
        // What it started and left behind. Nobody else can have the id yet:
        // it was free for no longer than this.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let all_read = tokio::time::timeout(LAST_WORDS, &mut reading).await.is_ok();
    // Who may stay may also go on printing; without a reader it would die.
    if !all_read && children == Children::EndWithIt {
        reading.abort();
    }
    // A child of ours can always be waited for; should it fail, it is gone.
    let status = status.unwrap_or_else(|_| ExitStatus::from_raw(-1));
    let _ = ended.send(Some(Exit(status)));
}

async fn read(mut pipe: pipe::Receiver, log: Arc<Log>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        log.write(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).into()
    }

    fn start(command: &[String], log: &Arc<Log>) -> Result<Process, StartError> {
        Process::start(
            &Start {
                command,
                directory: Path::new("/"),
                environment: &BTreeMap::new(),
                children: Children::EndWithIt,
            },
            log.clone(),
        )
    }

    async fn outcome(script: &str) -> (String, String) {
        let log = Arc::new(Log::new(1000));
        let process = start(&shell(script), &log).unwrap();
        let exit = process.ended().await;
        (exit.to_string(), log.text())
    }

    #[tokio::test]
    async fn both_channels_are_read_in_order_and_ends_are_named() {
        let (exit, text) = outcome("echo a; echo b >&2; echo c; exit 3").await;
        assert_eq!((exit.as_str(), text.as_str()), ("exit code 3", "a\nb\nc\n"));
        assert_eq!(outcome("kill -SEGV $$").await.0, "killed by SIGSEGV");
    }

    #[tokio::test]
    async fn a_process_takes_its_children_with_it() {
        let (exit, child) = outcome("sleep 1000 & echo $!").await;
        assert_eq!(exit, "exit code 0");
        let gone = format!("/proc/{}", child.trim());
        for _ in 0..200 {
            if !Path::new(&gone).exists() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{gone} is still there");
    }

    #[tokio::test]
    async fn who_does_not_listen_is_killed() {
        let log = Arc::new(Log::new(1000));
        let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
        let process = start(&shell(script), &log).unwrap();
        while log.text().is_empty() {
            tokio::task::yield_now().await;
        }
        let exit = process.exit.clone();
        process.stop(Duration::from_millis(50)).await;
        assert_eq!(exit.borrow().unwrap().to_string(), "killed by SIGKILL");
    }

    #[tokio::test]
    async fn what_cannot_be_started_says_why() {
        let log = Arc::new(Log::new(1000));
        let says = |program: &str| {
            let error = start(&[program.to_owned()], &log).err().unwrap();
            format!("{error} / {}", error.hint())
        };
        assert!(says("no-such-program").contains("command not found: `no-such-program` (in `/`)"));
        assert!(says("no-such-program").contains("PATH, which is /"));
        assert!(says("./no/such").contains("looked up from that directory"));
        let text_file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(says(text_file).contains("chmod +x"));
        let nowhere = Start {
            command: &shell("true"),
            directory: Path::new("/no/where"),
            environment: &BTreeMap::new(),
            children: Children::EndWithIt,
        };
        let error = Process::start(&nowhere, log.clone()).err().unwrap();
        assert_eq!(error.to_string(), "there is no directory `/no/where`");
    }
}
