//! A system of a user, for tests of whole campaigns: five services that the
//! test program serves itself, a `murphy.toml` about them, and Murphy as a
//! process.
//!
//! The services are as fast as a program can be started, so that a campaign
//! takes about a second; they have the faults in the making that real ones
//! have (see [`shop`]).

// Each test program uses its own part of this.
#![allow(dead_code)]

pub(crate) mod shop;

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Every service, in the order in which they can be started.
pub(crate) const SERVICES: [&str; 5] = ["price", "cart", "top", "recs", "stock"];

/// A directory with a `murphy.toml`; removed in the end.
pub(crate) struct Project {
    pub(crate) directory: PathBuf,
    /// What the services listen on, and the shop's proxy.
    pub(crate) ports: Vec<u16>,
}

impl Project {
    /// One of its own, on ports that are free now.
    pub(crate) fn new() -> Self {
        Project::on(&free_ports())
    }

    /// One of its own, on these ports.
    pub(crate) fn on(ports: &[u16]) -> Self {
        let name = format!("murphy-test-{:016x}", fastrand::u64(..));
        let directory = std::env::temp_dir().join(name);
        let project = Project {
            directory,
            ports: ports.to_owned(),
        };
        for service in ["shop"].iter().chain(&SERVICES) {
            fs::create_dir_all(project.directory.join(service)).unwrap();
        }
        project.write("murphy.toml", &project.config());
        project
    }

    /// Every service is in a directory of its own, which is its version.
    fn config(&self) -> String {
        let program = std::env::current_exe().unwrap();
        let program = program.display();
        // Many executions, and no others beside them, are what is tested here.
        let mut text = "[search]\nexhaustive = true\nreplies = \"status\"\n\
                        [oracles]\nwrong_status = \"off\"\n"
            .to_owned();
        let callees = |service: &str| match service {
            "cart" => "{price.address}",
            _ => "",
        };
        for (service, port) in SERVICES.iter().zip(&self.ports) {
            let callees = callees(service);
            text += &format!(
                "[services.{service}]\ncommand = \"{program} serve {service} {{port}} {callees}\"\n\
                 directory = \"{service}\"\nport = {port}\nstart_within = \"20s\"\n"
            );
        }
        let (port, listen) = (self.ports[5], self.ports[6]);
        text += &format!(
            "[services.shop]\ncommand = \"{program} serve shop {{port}} {{cart.address}} {{recs.address}} {{top.address}} {{stock.address}}\"\n\
             directory = \"shop\"\nport = {port}\nlisten = \"127.0.0.1:{listen}\"\nstart_within = \"20s\"\n\
             [scenario.checkout]\nrequest = \"GET /checkout\"\nservice = \"shop\"\n\
             expect = {{ status = 200, json = {{ total = 42 }}, under_fault = [503] }}\n"
        );
        text
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name), text).unwrap();
    }

    /// Murphy with these arguments, to be started in the project.
    pub(crate) fn murphy(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_murphy"));
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Murphy with these arguments, from its start to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.murphy(arguments).output().unwrap())
    }

    /// Murphy's own directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.directory.join(".murphy")
    }

    /// Nothing of a campaign may be left: no process, no bound port, no note
    /// of anything that is still to be stopped.
    pub(crate) fn check_nothing_is_left(&self) {
        let left = processes_in(&self.directory);
        assert!(left.is_empty(), "still running: {left:?}");
        for port in &self.ports {
            let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, *port));
            assert!(bound.is_ok(), "port {port} is still bound: {bound:?}");
        }
        let run = fs::read_dir(self.state().join("run"));
        let names = run.into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let ledgers: Vec<String> = names.filter(|it| it.starts_with("ledger-")).collect();
        assert!(ledgers.is_empty(), "still noted: {ledgers:?}");
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for pid in processes_in(&self.directory) {
                signal(pid, "KILL");
            }
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// What came of a process.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Done {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Checks the exit code, and shows everything if it is another.
    #[track_caller]
    pub(crate) fn exited(self, code: i32) -> Self {
        let Done { stdout, stderr, .. } = &self;
        assert_eq!(
            self.code,
            Some(code),
            "--- stdout ---\n{stdout}\n--- stderr ---\n{stderr}"
        );
        self
    }

    /// The result in JSON, without what may differ between equal campaigns.
    pub(crate) fn result(&self) -> Value {
        let Done { stdout, stderr, .. } = self;
        let read = serde_json::from_str(stdout);
        let mut result: Value =
            read.unwrap_or_else(|error| panic!("{error}\n{stdout}\n--- stderr ---\n{stderr}"));
        let fields = result.as_object_mut().expect("one object");
        fields.remove("timing").expect("a field");
        fields.remove("speculative").expect("a field");
        // How often a campaign was interrupted shows in it.
        fields.remove("besides").expect("a field");
        // They hold the command, with the name of the file.
        fields.remove("suggestions").expect("a field");
        result
    }

    /// How many executions it did not have to make again.
    pub(crate) fn remembered(&self) -> usize {
        let notes = self.stderr.lines();
        let mut counts = notes.filter_map(|line| {
            let rest = line.strip_prefix("note: reusing ")?;
            rest.split(' ').next()?.parse().ok()
        });
        counts.next().unwrap_or(0)
    }
}

/// Sends a signal by its name, as in `INT`.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    assert!(sent.is_ok(), "there is no `kill`: {sent:?}");
}

/// Waits until something holds; at most half a minute, for slow machines.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(
            Instant::now() < deadline,
            "not within half a minute: {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes whose directory is this one or below it.
pub(crate) fn processes_in(directory: &Path) -> Vec<u32> {
    let directory = directory.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let inside = |pid: &u32| {
        let of = fs::read_link(format!("/proc/{pid}/cwd"));
        of.is_ok_and(|its| its.starts_with(&directory))
    };
    pids.filter(inside).collect()
}

/// Whether a child still runs.
pub(crate) fn runs(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

/// Ports below those that the system gives to whoever asks for any, so that
/// nobody comes by one by chance, and each given out once: tests that run side
/// by side may not listen there yet.
pub(crate) fn free_ports() -> Vec<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap();
    let mut ports = Vec::new();
    while ports.len() < SERVICES.len() + 2 {
        let port = fastrand::u16(15_000..32_000);
        let is_free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        if is_free && given.insert(port) {
            ports.push(port);
        }
    }
    ports
}
