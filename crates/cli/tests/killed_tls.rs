//! `kill -9` at a random moment of a run that speaks TLS: with a door, a
//! forward proxy and an authority of its own. What is outside Murphy's own
//! directory is as it was, at once; the next run takes the authority over, and
//! leaves nothing behind.
//!
//! The client is Python's, which goes by HTTPS_PROXY and SSL_CERT_FILE, so that
//! a run in which these are not set finds no reference that passes.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, UNIX_EPOCH};

use libtest_mimic::{Arguments, Trial};
use support::{Done, Project, runs};

const ROUNDS: u32 = 8;

const RUN: [&str; 4] = ["run", "--max-faults=1", "--modes=503,reset", "--verbose"];

/// Where machines keep whom they trust, and what everybody's environment is.
const OF_THE_MACHINE: [&str; 7] = [
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/etc/environment",
    "/etc/profile.d",
];

/// Asks by the proxy and by the door; the bundle that was named before is used.
const ASK: &str = r#"
import os, sys, urllib.request
assert open("own.pem").read() in open(os.environ["SSL_CERT_FILE"]).read()
for url in "https://prices.test/tea", sys.argv[1] + "/tea":
    try:
        urllib.request.urlopen(url, timeout=10).read()
    except OSError as error:
        sys.exit(f"no price: {error}")
"#;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    let trial = Trial::test("a killed run over TLS leaves nothing changed", || {
        killed_over_tls();
        Ok(())
    });
    let trial = trial.with_ignored_flag(!is_there);
    if !is_there {
        eprintln!("SKIPPED, python3 is not installed: a killed run over TLS");
    }
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

fn killed_over_tls() {
    let ports = support::free_ports();
    let machine = machine();
    let full = {
        let system = System::on(&ports);
        let began = Instant::now();
        system.run_to_its_end();
        began.elapsed()
    };
    let mut reused = 0;
    for round in 0..ROUNDS {
        let system = System::on(&ports);
        let before = system.outside();
        // From the first moments, in which the authority is made, to the last.
        let wait = full.mul_f64(f64::from(round) / f64::from(ROUNDS) + fastrand::f64() / 10.0);
        system.kill_after(wait);
        assert_eq!(system.outside(), before, "round {round}");
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, system.door()));
        assert!(door.is_ok(), "round {round}: {door:?}");
        drop(door);
        let authority = system.authority();
        system.run_to_its_end();
        if authority.is_some() {
            reused += 1;
            assert_eq!(system.authority(), authority, "round {round}");
        }
        assert_eq!(system.outside(), before, "round {round}, after the next");
        system.project.check_nothing_is_left();
        system.check_authority();
    }
    assert_eq!(self::machine(), machine);
    println!("{ROUNDS} rounds of {full:.1?}; the authority was there already in {reused}");
    assert!(reused >= ROUNDS / 2, "too few kills hit a run at work");
}

struct System {
    project: Project,
    /// Where programs keep what is theirs.
    home: PathBuf,
}

impl System {
    fn on(ports: &[u16]) -> Self {
        let project = Project::on(ports);
        let home = project.directory.join("home");
        fs::create_dir_all(home.join("tmp")).unwrap();
        let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/systems/https");
        project.write("service.py", &read(&system.join("service.py")));
        for name in [
            "ca.pem",
            "prices.pem",
            "prices.key",
            "client.pem",
            "client.key",
        ] {
            fs::create_dir_all(project.directory.join("certs")).unwrap();
            let text = read(&system.join("certs").join(name));
            project.write(&format!("certs/{name}"), &text);
        }
        project.write("ask.py", ASK);
        project.write("own.pem", &read(&system.join("certs/client.pem")));
        let (port, door) = (ports[0], ports[1]);
        let tls = "ca = \"certs/ca.pem\"\nserver_name = \"prices.test\"\n\
                   client_cert = \"certs/client.pem\"\nclient_key = \"certs/client.key\"\n";
        project.write(
            "murphy.toml",
            &format!(
                "[services.prices]\ncommand = \"python3 service.py prices {{port}} prices\"\nport = {port}\nunused = true\n\
                 [services.prices.tls]\n{tls}\
                 [services.door]\nprocess = \"prices\"\nupstream = \"https://127.0.0.1:{port}\"\nlisten = \"https://127.0.0.1:{door}\"\n\
                 [services.door.tls]\n{tls}\
                 [services.partner]\nprocess = \"prices\"\nupstream = \"https://127.0.0.1:{port}\"\nhosts = [\"prices.test\"]\n\
                 [services.partner.tls]\n{tls}\
                 [egress]\nallow = \"named\"\n\
                 [scenario.price]\ncommand = \"python3 -B ask.py {{door.url}}\"\nentry = \"inject\"\n"
            ),
        );
        System { project, home }
    }

    fn door(&self) -> u16 {
        self.project.ports[1]
    }

    fn murphy(&self) -> Command {
        let mut command = self.project.murphy(&RUN);
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
            command.env(name, &self.home);
        }
        command.env("TMPDIR", self.home.join("tmp"));
        command.env("SSL_CERT_FILE", self.project.directory.join("own.pem"));
        command
    }

    /// The calls fail and the test does not handle it: findings.
    fn run_to_its_end(&self) {
        let done = Done::of(self.murphy().output().unwrap()).exited(1);
        for call in ["partner GET /tea", "door GET /tea"] {
            assert!(done.stdout.contains(call), "{}", done.stdout);
        }
        self.check_keys_are_nowhere_else(&done);
    }

    /// No key is in what is printed, nor in Murphy's directory but in its file.
    fn check_keys_are_nowhere_else(&self, done: &Done) {
        let (_, own) = self.authority().expect("it has come to its end");
        let client = read(&self.project.directory.join("certs/client.key"));
        // The line of each in which its secret begins.
        let secrets = [&own, &client].map(|key| {
            let mut lines = key.lines();
            lines.find(|it| !it.starts_with(['-', '#'])).unwrap()
        });
        let hold = |text: &[u8]| {
            let text = String::from_utf8_lossy(text);
            secrets.iter().any(|secret| text.contains(secret))
        };
        assert!(!hold(done.stdout.as_bytes()) && !hold(done.stderr.as_bytes()));
        each(&self.project.state(), &mut |path| {
            let content = fs::read(path).unwrap_or_default();
            let is_key = path.ends_with("ca/ca.key");
            assert_eq!(hold(&content), is_key, "{}", path.display());
        });
    }

    fn kill_after(&self, wait: Duration) {
        let mut child = self.murphy().spawn().unwrap();
        std::thread::sleep(wait);
        if !runs(&mut child) {
            println!("one had ended after {wait:.1?}");
        }
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Everything of the project and of the user but Murphy's own directory.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let state = self.project.state();
        each(&self.project.directory, &mut |path| {
            if !path.starts_with(&state) {
                let content = fs::read(path).unwrap_or_default();
                all.insert(path.to_owned(), content);
            }
        });
        all
    }

    /// What it consists of, once it is there.
    fn authority(&self) -> Option<(String, String)> {
        let folder = self.project.state().join("ca");
        let file = |name: &str| fs::read_to_string(folder.join(name)).ok();
        Some((file("ca.pem")?, file("ca.key")?))
    }

    fn check_authority(&self) {
        let folder = self.project.state().join("ca");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.join("ca.key")), 0o600);
        assert_eq!(mode(&folder), 0o700);
        let names = fs::read_dir(&folder).unwrap().flatten();
        let names = names.map(|it| it.file_name().to_string_lossy().into_owned());
        let drafts: Vec<String> = names.filter(|it| it.ends_with("draft")).collect();
        assert!(drafts.is_empty(), "{drafts:?}");
    }
}

/// What this machine trusts and tells everybody: each file, how long it is and
/// when it was written.
fn machine() -> BTreeMap<PathBuf, (u64, u128)> {
    let mut all = BTreeMap::new();
    for root in OF_THE_MACHINE {
        each(Path::new(root), &mut |path| {
            if let Ok(data) = fs::metadata(path) {
                let written = data.modified().unwrap().duration_since(UNIX_EPOCH);
                let written = written.unwrap_or_default().as_nanos();
                all.insert(path.to_owned(), (data.len(), written));
            }
        });
    }
    all
}

/// Every file and folder below a path, and itself.
fn each(path: &Path, see: &mut impl FnMut(&Path)) {
    see(path);
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            each(&entry.path(), see);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
