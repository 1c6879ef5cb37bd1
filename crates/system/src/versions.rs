//! Which version of a service or a test it is: a digest of what it is made of.
//!
//! Owns the choice of files. Services that Murphy starts, and tests that are
//! commands, are made of what is in their directory; what tools put there
//! beside it does not count, nor what is hidden or ignored by Git. A change
//! that touches no other file (an installed package, a database) is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder};
use murphy_campaign::since::Versions;

use crate::spec::{
    CommandSpec, ManagedSpec, ScenarioKind, ScenarioSpec, ServiceSpec, Source, StepSpec, SystemSpec,
};

/// Directories that are made from others, or by us.
const LEFT_OUT: [&str; 8] = [
    "node_modules",
    "target",
    "__pycache__",
    "venv",
    "dist",
    "build",
    "vendor",
    "coverage",
];

/// Files larger than this are data, most likely; their size has to do.
const LARGEST: u64 = 1 << 20;

/// More files than this are not one service's source.
const MOST: usize = 20_000;

/// The versions of all services, as far as they can be told: as they are `told`
/// to be, or by their files. One that runs elsewhere is another one. Files that
/// Murphy itself writes (`own`) are none of a service's, wherever they are.
pub fn of_services(
    system: &SystemSpec,
    told: &BTreeMap<String, String>,
    own: &[PathBuf],
) -> Versions {
    let version = |service: &ServiceSpec| {
        let told = told.get(&service.name).map(String::as_str);
        let version = match &service.source {
            Source::Managed(managed) => of(managed, told, own),
            Source::Hosts => service.callers.hosts.join(" "),
            // Its files are the test's.
            Source::Test => String::new(),
            Source::Running { upstream } => format!("{upstream} {}", told.unwrap_or_default()),
        };
        (service.name.clone(), version)
    };
    system.services.iter().map(version).collect()
}

/// The version of a service that Murphy starts: how it is started, and what it
/// is `told` to be or else its files.
fn of(service: &ManagedSpec, told: Option<&str>, own: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    for word in &service.command {
        take(&mut hasher, word.as_bytes());
    }
    for (name, value) in &service.environment {
        take(&mut hasher, name.as_bytes());
        take(&mut hasher, value.as_bytes());
    }
    let is_own = Within::new(own);
    match told {
        Some(version) => take(&mut hasher, version.as_bytes()),
        None => take_files(&mut hasher, &service.directory, &|file| !is_own.has(file)),
    }
    short(&hasher)
}

/// The version of a test, with the steps around it: what is written of it, and
/// for commands the files where they are run. Files of services that have a
/// directory of their own are not the test's.
pub fn of_test(scenario: &ScenarioSpec, system: &SystemSpec, own: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut directories = BTreeSet::new();
    for (written, directory) in parts_of_test(scenario, system) {
        take(&mut hasher, written.as_bytes());
        directories.extend(directory);
    }
    let is_own = Within::new(own);
    let services = service_directories(system);
    for directory in directories {
        let here = absolute(directory);
        let below = services.iter().filter(|it| !here.starts_with(it));
        let of_services = Within(below.cloned().collect());
        take_files(&mut hasher, directory, &|file| {
            !is_own.has(file) && !of_services.has(file)
        });
    }
    short(&hasher)
}

/// What is written of a test and of each step, and where commands are run.
fn parts_of_test<'s>(
    scenario: &'s ScenarioSpec,
    system: &'s SystemSpec,
) -> Vec<(String, Option<&'s Path>)> {
    let command = |kind: &str, it: &'s CommandSpec| {
        let written = format!("{kind} {it:?}");
        (written, Some(it.directory.as_path()))
    };
    let test = match &scenario.kind {
        ScenarioKind::Command(it) => command("test", it),
        ScenarioKind::Each(it) => command("tests", &it.runner.command),
        ScenarioKind::Test(it) => command(&format!("test {}", it.id), &it.runner.command),
        ScenarioKind::Requests(requests) => (format!("test {requests:?}"), None),
        ScenarioKind::Function(_) => ("test".to_owned(), None),
    };
    let mut parts = vec![(format!("{:?}", scenario.timeout), None), test];
    for (kind, steps) in [
        ("setup", &system.setup),
        ("reset", &system.reset),
        ("teardown", &system.teardown),
    ] {
        parts.extend(steps.iter().map(|step| match step {
            StepSpec::Command(it) => command(kind, it),
            StepSpec::Request(request) => (format!("{kind} {request:?}"), None),
            StepSpec::Function(_) => (kind.to_owned(), None),
        }));
    }
    parts
}

fn service_directories(system: &SystemSpec) -> Vec<PathBuf> {
    let services = system.services.iter();
    let directory = |service: &ServiceSpec| match &service.source {
        Source::Managed(managed) => Some(absolute(&managed.directory)),
        Source::Running { .. } | Source::Hosts | Source::Test => None,
    };
    services.filter_map(directory).collect()
}

/// Files and directories that do not count.
struct Within(Vec<PathBuf>);

impl Within {
    fn new(paths: &[PathBuf]) -> Self {
        Within(paths.iter().map(|path| absolute(path)).collect())
    }

    fn has(&self, file: &Path) -> bool {
        let file = absolute(file);
        self.0.iter().any(|path| file.starts_with(path))
    }
}

/// The same path from the root on, so that two ways to write it are one.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The source files of a directory, and when each was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Sources {
    /// As they are now.
    pub fn of(directory: &Path) -> Self {
        let files = source_files(directory).filter_map(|file| {
            let about = fs::metadata(&file).ok()?;
            Some((file, (about.modified().ok(), about.len())))
        });
        Sources(files.collect())
    }

    /// Whether a file is one of them.
    pub fn contains(&self, file: &Path) -> bool {
        self.0.contains_key(file)
    }

    /// Takes a file as it is there.
    pub fn take_over(&mut self, file: &Path, now: &Sources) {
        if let Some(about) = now.0.get(file) {
            self.0.insert(file.to_owned(), *about);
        }
    }

    /// The files that are new, gone or written since.
    pub fn changed_since(&self, before: &Sources) -> Vec<PathBuf> {
        let all: BTreeSet<&PathBuf> = self.0.keys().chain(before.0.keys()).collect();
        let is_changed = |file: &&PathBuf| self.0.get(*file) != before.0.get(*file);
        all.into_iter().filter(is_changed).cloned().collect()
    }
}

fn take_files(hasher: &mut blake3::Hasher, directory: &Path, counts: &dyn Fn(&Path) -> bool) {
    for file in source_files(directory).filter(|file| counts(file)) {
        let name = file.strip_prefix(directory).unwrap_or(&file);
        take(hasher, name.as_os_str().as_encoded_bytes());
        take(hasher, &content(&file));
    }
}

fn source_files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let is_source = |entry: &DirEntry| {
        entry.depth() == 0 || !LEFT_OUT.iter().any(|name| entry.file_name() == *name)
    };
    WalkBuilder::new(directory)
        .require_git(false)
        .sort_by_file_name(OsStr::cmp)
        .filter_entry(is_source)
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .take(MOST)
        .map(DirEntry::into_path)
}

fn short(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The length keeps neighbouring parts from running into each other.
fn take(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn content(file: &Path) -> Vec<u8> {
    match fs::metadata(file) {
        Ok(about) if about.len() > LARGEST => about.len().to_le_bytes().to_vec(),
        // A file that cannot be read is the same unreadable file next time.
        _ => fs::read(file).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Health;
    use std::time::Duration;

    #[test]
    fn files_that_are_written_new_or_gone_have_changed() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        for name in ["a.py", "b.py", "c.py"] {
            fs::write(file(name), "1").unwrap();
        }
        let before = Sources::of(directory.path());
        assert_eq!(before.changed_since(&before), Vec::<PathBuf>::new());
        fs::write(file("a.py"), "11").unwrap();
        fs::remove_file(file("b.py")).unwrap();
        fs::write(file("d.py"), "1").unwrap();
        let now = Sources::of(directory.path());
        let expected = ["a.py", "b.py", "d.py"].map(file);
        assert_eq!(now.changed_since(&before), expected);
    }

    #[test]
    fn a_version_changes_with_the_files_but_not_with_what_we_write() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let service = ManagedSpec {
            command: vec!["serve".to_owned()],
            directory: directory.to_owned(),
            environment: BTreeMap::new(),
            port: None,
            stop_within: Duration::ZERO,
        };
        let own = [directory.join("events.ndjson")];
        let empty = of(&service, None, &own);
        fs::write(&own[0], "{}").unwrap();
        fs::create_dir_all(directory.join(".murphy")).unwrap();
        fs::write(directory.join(".murphy/store.db"), "rows").unwrap();
        fs::create_dir_all(directory.join("build")).unwrap();
        fs::write(directory.join("build/app"), "made").unwrap();
        fs::write(directory.join(".gitignore"), "*.log\n").unwrap();
        fs::write(directory.join("requests.log"), "GET /").unwrap();
        assert_eq!(of(&service, None, &own), empty);
        fs::write(directory.join("app.py"), "print()").unwrap();
        let one = of(&service, None, &own);
        assert_ne!(one, empty);
        fs::write(directory.join("app.py"), "print(1)").unwrap();
        assert_ne!(of(&service, None, &own), one);
        let told = of(&service, Some("v1"), &own);
        fs::write(directory.join("app.py"), "print(2)").unwrap();
        assert_eq!(of(&service, Some("v1"), &own), told);
        assert_ne!(of(&service, Some("v2"), &own), told);
    }

    /// A test in a directory, beside a service in one below it.
    fn test_in(directory: &Path, words: &[&str]) -> (ScenarioSpec, SystemSpec) {
        let command = CommandSpec {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            directory: directory.to_owned(),
            environment: BTreeMap::new(),
        };
        let scenario = ScenarioSpec {
            name: "command".to_owned(),
            kind: ScenarioKind::Command(command),
            timeout: Duration::from_secs(1),
            entries: false,
            under_fault: Default::default(),
        };
        let cart = ServiceSpec {
            name: "cart".to_owned(),
            source: Source::Managed(ManagedSpec {
                directory: directory.join("./cart"),
                ..ManagedSpec::default()
            }),
            listen: None,
            proxied: true,
            calls: None,
            unused: Default::default(),
            health: Health::default(),
            place: None,
            process: None,
            tls: None,
            callers: Default::default(),
        };
        let system = SystemSpec {
            services: vec![cart],
            ..SystemSpec::default()
        };
        (scenario, system)
    }

    #[test]
    fn a_test_changes_with_its_words_and_files_but_not_with_services() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        fs::create_dir_all(directory.join("cart")).unwrap();
        let of = |words: &[&str]| {
            let (scenario, system) = test_in(directory, words);
            of_test(&scenario, &system, &[directory.join("own.xml")])
        };
        let first = of(&["pytest"]);
        assert_ne!(of(&["pytest", "-q"]), first);
        fs::write(directory.join("own.xml"), "").unwrap();
        fs::write(directory.join("cart/app.py"), "print()").unwrap();
        assert_eq!(of(&["pytest"]), first);
        fs::write(directory.join("test_shop.py"), "assert True").unwrap();
        assert_ne!(of(&["pytest"]), first);

        let (scenario, mut system) = test_in(directory, &["pytest"]);
        let before = of_test(&scenario, &system, &[]);
        system.reset.push(StepSpec::Command(CommandSpec::default()));
        assert_ne!(of_test(&scenario, &system, &[]), before);
    }
}
