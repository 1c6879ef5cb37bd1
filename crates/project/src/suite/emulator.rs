//! Emulators of clouds that Murphy knows how to start, to make as new and to
//! lead tests to.
//!
//! Owns what each needs to be told, as keys of `murphy.toml`. They are found
//! where the project has them: beside its test runner, in its `node_modules`,
//! else on the path.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use murphy_config::Usage;
use toml::{Table, Value};

/// What an emulator adds to a description.
#[derive(Default)]
pub(super) struct Emulator {
    /// `[services.NAME]`
    pub(super) services: Vec<(String, Table)>,
    /// Variables of the tests; those that are set by the user stay.
    pub(super) variables: Vec<(&'static str, String)>,
    /// A step that makes it as new.
    pub(super) reset: Option<Table>,
    /// Whether it is started anew for that.
    pub(super) restart: bool,
}

/// The account that azurite has from the start, with its well-known key.
const AZURITE_ACCOUNT: &str = "devstoreaccount1";
const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The one that was typed: by its name, or `NAME=COMMAND`.
pub(super) fn named(text: &str, found: &Finder<'_>) -> Result<Emulator, Usage> {
    match text {
        "moto" => moto(found),
        "azurite" => azurite(found),
        _ => match text.split_once('=') {
            Some((name, command)) if !name.contains(char::is_whitespace) => {
                Ok(other(name, command))
            }
            _ => Err(Usage::new(format!("`{text}` is no emulator"))
                .at("--emulator", text, text, "not known")
                .hint("`moto`, `azurite`, or a name and a command, as in `--emulator \"stow=./stow --port {port}\"`")),
        },
    }
}

fn moto(found: &Finder<'_>) -> Result<Emulator, Usage> {
    let program = found.program("moto_server", "pip install \"moto[server]\"")?;
    let mut service = Table::new();
    service.insert(
        "command".into(),
        words([&program, "-H", "127.0.0.1", "-p", "{port}"]),
    );
    service.insert("health".into(), "/moto-api/".into());
    service.insert("start_within".into(), "120s".into());
    let mut reset = Table::new();
    reset.insert("request".into(), "POST /moto-api/reset".into());
    reset.insert("service".into(), "aws".into());
    Ok(Emulator {
        services: vec![("aws".to_owned(), service)],
        variables: vec![
            ("AWS_ENDPOINT_URL", "{aws.url}".to_owned()),
            ("AWS_ACCESS_KEY_ID", "testing".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "testing".to_owned()),
            ("AWS_DEFAULT_REGION", "us-east-1".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            // Tests with moto's own decorators call the server, too.
            ("TEST_SERVER_MODE", "true".to_owned()),
            ("TEST_SERVER_MODE_ENDPOINT", "{aws.url}".to_owned()),
        ],
        reset: Some(reset),
        restart: false,
    })
}

fn azurite(found: &Finder<'_>) -> Result<Emulator, Usage> {
    let program = found.program("azurite", "npm install azurite")?;
    let (queue, table) = (free_port()?, free_port()?);
    let (queue_port, table_port) = (queue.to_string(), table.to_string());
    let here = "127.0.0.1";
    let mut blob = Table::new();
    let command = [
        &program[..],
        "--blobHost",
        here,
        "--blobPort",
        "{port}",
        "--queueHost",
        here,
        "--queuePort",
        &queue_port,
        "--tableHost",
        here,
        "--tablePort",
        &table_port,
        "--inMemoryPersistence",
        "--skipApiVersionCheck",
        "--loose",
        "--disableTelemetry",
        "--silent",
    ];
    blob.insert("command".into(), words(command));
    blob.insert("start_within".into(), "120s".into());
    let beside = |port: u16| {
        let mut service = Table::new();
        service.insert("process".into(), "blob".into());
        service.insert("port".into(), i64::from(port).into());
        service
    };
    let at = |service: &str| format!("{{{service}.url}}/{AZURITE_ACCOUNT}");
    let connection = format!(
        "DefaultEndpointsProtocol=http;AccountName={AZURITE_ACCOUNT};AccountKey={AZURITE_KEY};BlobEndpoint={};QueueEndpoint={};TableEndpoint={};",
        at("blob"),
        at("queue"),
        at("table"),
    );
    Ok(Emulator {
        services: vec![
            ("blob".to_owned(), blob),
            ("queue".to_owned(), beside(queue)),
            ("table".to_owned(), beside(table)),
        ],
        variables: vec![
            ("AZURE_STORAGE_CONNECTION_STRING", connection),
            ("AZURE_STORAGE_ACCOUNT", AZURITE_ACCOUNT.to_owned()),
            ("AZURE_STORAGE_KEY", AZURITE_KEY.to_owned()),
        ],
        reset: None,
        restart: true,
    })
}

/// Any other program: it is told its port, and started anew to be as new.
fn other(name: &str, command: &str) -> Emulator {
    let mut service = Table::new();
    service.insert("command".into(), command.into());
    Emulator {
        services: vec![(name.to_owned(), service)],
        restart: true,
        ..Emulator::default()
    }
}

fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Value {
    Value::Array(words.into_iter().map(Value::from).collect())
}

fn free_port() -> Result<u16, Usage> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let port = listener.and_then(|it| it.local_addr()).map(|it| it.port());
    port.map_err(|error| Usage::new(format!("no port is free on 127.0.0.1: {error}")))
}

/// Finds the programs of a project.
pub(super) struct Finder<'f> {
    /// Where the tests are run.
    pub(super) directory: &'f Path,
    /// The command that runs them.
    pub(super) command: &'f [String],
    /// The environment.
    pub(super) variable: &'f dyn Fn(&str) -> Option<String>,
}

impl Finder<'_> {
    /// A program by its name, or how it is installed.
    fn program(&self, name: &str, install: &str) -> Result<String, Usage> {
        let mut programs = self.folders().map(|folder| folder.join(name));
        let found = programs.find(|path| path.is_file());
        found.map(|path| path.display().to_string()).ok_or_else(|| {
            Usage::new(format!(
                "`{name}` is neither in the project's environment nor on the path"
            ))
            .hint(format!("install it: {install}"))
        })
    }

    /// The command, with the project's own program where the path has none of
    /// that name: its environment need not be active.
    pub(super) fn runner(&self, command: &[String]) -> Vec<String> {
        let mut command = command.to_vec();
        if let Some(first) = command.first_mut().filter(|it| !it.contains('/')) {
            let is_on_path = self
                .path()
                .iter()
                .any(|folder| folder.join(&*first).is_file());
            if !is_on_path && let Ok(own) = self.program(first, "") {
                *first = own;
            }
        }
        command
    }

    fn path(&self) -> Vec<PathBuf> {
        let path = (self.variable)("PATH").unwrap_or_default();
        std::env::split_paths(&path).collect()
    }

    /// Where programs are looked for, the project's own first.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let of_runner = self.command.iter().filter(|word| word.contains('/'));
        let of_runner = of_runner.filter_map(|word| {
            let folder = Path::new(word).parent()?;
            Some(self.directory.join(folder))
        });
        let virtual_env = (self.variable)("VIRTUAL_ENV").map(|at| PathBuf::from(at).join("bin"));
        let own = [".venv/bin", "venv/bin"].map(|folder| self.directory.join(folder));
        let above = self.directory.ancestors();
        let node = above.map(|folder| folder.join("node_modules/.bin"));
        let path = self.path();
        let first: Vec<PathBuf> = of_runner
            .chain(virtual_env)
            .chain(own)
            .chain(node)
            .collect();
        first.into_iter().chain(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_s_own_program_comes_before_that_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (venv, path) = (folder.path().join(".venv/bin"), folder.path().join("bin"));
        for folder in [&venv, &path] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("moto_server"), "").unwrap();
        }
        let on_path = path.display().to_string();
        let variable = |name: &str| (name == "PATH").then(|| on_path.clone());
        let finder = |command: &'static str| {
            let command: Vec<String> = vec![command.to_owned()];
            let finder = Finder {
                directory: folder.path(),
                command: &command,
                variable: &variable,
            };
            finder.program("moto_server", "").unwrap()
        };
        assert_eq!(
            finder("pytest"),
            venv.join("moto_server").display().to_string()
        );
        std::fs::remove_dir_all(&venv).unwrap();
        assert_eq!(
            finder("pytest"),
            path.join("moto_server").display().to_string()
        );
    }

    #[test]
    fn what_is_not_installed_is_told_with_the_way_to_install_it() {
        let variable = |_: &str| None;
        let finder = Finder {
            directory: Path::new("/nowhere"),
            command: &[],
            variable: &variable,
        };
        let error = named("azurite", &finder).err().unwrap().to_string();
        assert!(error.contains("npm install azurite"), "{error}");
    }
}
