//! The example shops: their tests run bare, and by Murphy.
//!
//! Owns starting a shop's services without Murphy, as its `murphy.toml`
//! describes them, and what a campaign of the binary says that it took. A shop
//! whose packages are not installed cannot be measured, and says so.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use tokio::process::Command;

use crate::proxy::process::Process;

/// One of the example shops.
pub struct Shop {
    /// Its folder in `examples`.
    pub name: &'static str,
    /// What its `setup` writes last.
    installed: &'static str,
}

/// All of them.
pub static SHOPS: [Shop; 2] = [
    Shop {
        name: "flask-shop",
        installed: ".venv/installed-requirements.txt",
    },
    Shop {
        name: "express-shop",
        installed: "node_modules/installed-package-lock.json",
    },
];

/// What a campaign took.
pub struct Campaign {
    /// How often the test was run, whatever for.
    pub executions: u64,
    /// From the first execution to the last.
    pub took: Duration,
}

impl Shop {
    fn directory(&self) -> PathBuf {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        examples.join(self.name)
    }

    /// Whether the packages that it needs are installed.
    pub fn is_set_up(&self) -> bool {
        self.directory().join(self.installed).exists()
    }

    /// Starts its services without Murphy.
    pub async fn start(&self) -> Result<Bare> {
        let directory = self.directory();
        let config = std::fs::read_to_string(directory.join("murphy.toml"))?;
        let config: Config = toml::from_str(&config)?;
        let addresses = config.free_addresses()?;
        let mut services = Vec::new();
        for (name, service) in &config.services {
            let command = service.command(&directory, &addresses, addresses.get(name));
            services.push(Process::start(name, command)?);
        }
        for (service, address) in services.iter_mut().zip(addresses.values()) {
            service.until_listening(&[*address]).await?;
        }
        Ok(Bare {
            _services: services,
            config,
            addresses,
            directory,
        })
    }

    /// Runs `murphy run checkout` as it was built together with this program.
    pub async fn campaign(&self) -> Result<Campaign> {
        let murphy = std::env::current_exe()?.with_file_name("murphy");
        let output = Command::new(&murphy)
            .args(["run", "checkout", "--format", "json"])
            .current_dir(self.directory())
            .stdin(Stdio::null())
            .output()
            .await
            .with_context(|| format!("{} cannot be run", murphy.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        // The shops have bugs, which is what they are for.
        ensure!(output.status.code() == Some(1), "{}: {said}", self.name);
        Campaign::read(&serde_json::from_slice(&output.stdout)?)
    }
}

impl Campaign {
    fn read(result: &Value) -> Result<Self> {
        const COUNTS: [&str; 4] = [
            "/explored",
            "/besides/references",
            "/besides/checks",
            "/besides/repeated",
        ];
        let number = |at: &str| result.pointer(at).and_then(Value::as_u64);
        // There may be no audit.
        let mut executions = number("/audit/sampled").unwrap_or(0);
        for at in COUNTS {
            executions += number(at).with_context(|| format!("a count at {at}"))?;
        }
        let took = result.pointer("/timing/total_ms").and_then(Value::as_f64);
        Ok(Campaign {
            executions,
            took: Duration::from_secs_f64(took.context("a time")? / 1e3),
        })
    }
}

/// A shop that runs without Murphy; its services end with it.
pub struct Bare {
    _services: Vec<Process>,
    config: Config,
    addresses: BTreeMap<String, SocketAddr>,
    directory: PathBuf,
}

impl Bare {
    /// Runs the test so many times, one after the other; how long one takes.
    pub async fn test(&self, times: u32) -> Result<Duration> {
        let scenario = self.config.scenario.values().next();
        let scenario = scenario.context("a scenario")?;
        let began = Instant::now();
        for _ in 0..times {
            let mut command = scenario.command(&self.directory, &self.addresses, None);
            let ended = command.status().await?;
            ensure!(ended.success(), "the test passes without faults");
        }
        Ok(began.elapsed() / times)
    }
}

/// As much of a `murphy.toml` as the shops need.
#[derive(Deserialize)]
struct Config {
    services: BTreeMap<String, Program>,
    scenario: BTreeMap<String, Program>,
}

/// What is started for a service or a scenario.
#[derive(Deserialize)]
struct Program {
    command: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Config {
    /// An address for each service on which nobody listens.
    fn free_addresses(&self) -> Result<BTreeMap<String, SocketAddr>> {
        // All are taken before any is given back, so that they differ.
        let take = |name: &String| Ok((name.clone(), TcpListener::bind("127.0.0.1:0")?));
        let taken: Vec<(String, TcpListener)> =
            self.services.keys().map(take).collect::<Result<_>>()?;
        let taken = taken.iter();
        taken
            .map(|(name, at)| Ok((name.clone(), at.local_addr()?)))
            .collect()
    }
}

impl Program {
    /// The command with its templates filled in; `own` is where it listens.
    fn command(
        &self,
        directory: &Path,
        addresses: &BTreeMap<String, SocketAddr>,
        own: Option<&SocketAddr>,
    ) -> Command {
        let port = own.map(|own| own.port().to_string()).unwrap_or_default();
        let filled = |text: &String| {
            let mut text = text.replace("{port}", &port);
            for (name, address) in addresses {
                text = text.replace(&format!("{{{name}.url}}"), &format!("http://{address}"));
            }
            text
        };
        let text = filled(&self.command);
        let mut words = text.split_whitespace();
        // A path with a slash is meant from the directory of the shop.
        let program = words.next().unwrap_or_default();
        let program = match program.contains('/') {
            true => directory.join(program),
            false => program.into(),
        };
        let mut command = Command::new(program);
        command
            .args(words)
            .envs(self.env.iter().map(|(name, text)| (name, filled(text))))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}
