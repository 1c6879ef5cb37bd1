//! `murphy watch`: the tests of a command, again whenever a file is saved.
//!
//! Owns the loop: what was saved, and which tests and services that may affect;
//! the others stay up in between. One pass is `run`'s business.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use murphy_system::versions::Sources;

use super::run::{Pass, Run, SharedSystem};
use crate::args::{RunArgs, WatchArgs};
use crate::context::Context;
use crate::error::{self, Error};
use crate::{output, runtime};

/// The time between two looks at the files.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Unless it is said: what finds most, and is over soonest.
const MAX_FAULTS: usize = 1;

pub(crate) fn run(args: &WatchArgs, context: &Context) -> Result<u8, Error> {
    let mut args = args.run.clone();
    args.search.max_faults = args.search.max_faults.or(Some(MAX_FAULTS));
    // A command whose tests are not known one by one is one scenario.
    let mut each = args.clone();
    each.tests.each = true;
    args.tests.each = args.tests.each || Run::open(&each, context).is_ok();
    let project = Run::open(&args, context)?.watched();
    runtime::block_on(watch(&args, &project, context))?
}

async fn watch(args: &RunArgs, project: &Watched, context: &Context) -> Result<u8, Error> {
    let mut shared = SharedSystem::default();
    let mut args = args.clone();
    let typed_filter = args.tests.filter.clone();
    let mut files = Files::of(&project.directory);
    loop {
        match pass(&args, context, &mut shared).await {
            Ok(pass) if pass.is_interrupted() => {
                let code = pass.code();
                shared.stop().await?;
                return Ok(code);
            }
            Ok(pass) => pass.tell(),
            Err(error @ Error::Interrupted) => return Err(error),
            // The next save may mend it.
            Err(error) => {
                error::report(&error);
                shared.give_up().await;
            }
        }
        files.look_after_pass();
        output::say(format_args!(
            "watching {}; Ctrl-C ends",
            project.directory.display()
        ));
        let saved = files.next_save().await;
        output::say(format_args!("saved: {}", named(&saved, &project.directory)));
        args.tests.filter = affected(&saved, &project.directory, &typed_filter);
        args.since_last = true;
        let reloaded = match saved.contains(&project.file) {
            // Everything may be meant otherwise now.
            true => {
                shared.give_up().await;
                Ok(())
            }
            false => shared.reload(&read_by_services(saved)).await,
        };
        if let Err(error) = reloaded {
            error::report(&error);
            shared.give_up().await;
        }
    }
}

async fn pass(args: &RunArgs, context: &Context, shared: &mut SharedSystem) -> Result<Pass, Error> {
    Run::open(args, context)?.pass(shared).await
}

/// What is watched.
pub(super) struct Watched {
    /// The project's directory.
    pub(super) directory: PathBuf,
    /// Its murphy.toml.
    pub(super) file: PathBuf,
}

/// The files below a directory, as they were when they were looked at last.
struct Files<'d> {
    directory: &'d Path,
    seen: Sources,
    /// Written during the last pass.
    in_pass: BTreeSet<PathBuf>,
    /// What a pass itself writes, such as a log: saved by nobody.
    own: BTreeSet<PathBuf>,
}

impl<'d> Files<'d> {
    fn of(directory: &'d Path) -> Self {
        Files {
            directory,
            seen: Sources::of(directory),
            in_pass: BTreeSet::new(),
            own: BTreeSet::new(),
        }
    }

    /// A pass is over. What was written in the pass before, too, is its own
    /// doing, and so is what is new since it began, until it changes; other files
    /// somebody may have saved.
    fn look_after_pass(&mut self) {
        let now = Sources::of(self.directory);
        let changed: BTreeSet<PathBuf> = now.changed_since(&self.seen).into_iter().collect();
        self.own
            .extend(changed.intersection(&self.in_pass).cloned());
        for file in &changed {
            if !self.seen.contains(file) {
                self.seen.take_over(file, &now);
            }
        }
        self.in_pass = changed;
    }

    /// The files that were saved since they were looked at last, as soon as
    /// there are any.
    async fn next_save(&mut self) -> Vec<PathBuf> {
        loop {
            let now = Sources::of(self.directory);
            let saved = self.saved(&now);
            if !saved.is_empty() {
                self.seen = now;
                return saved;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn saved(&self, now: &Sources) -> Vec<PathBuf> {
        let changed = now.changed_since(&self.seen).into_iter();
        changed.filter(|file| !self.own.contains(file)).collect()
    }
}

/// The files among these that services may have read.
fn read_by_services(mut saved: Vec<PathBuf>) -> Vec<PathBuf> {
    saved.retain(|file| !is_test(file));
    saved
}

fn is_test(file: &Path) -> bool {
    let name = file
        .file_name()
        .and_then(|it| it.to_str())
        .unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// What the names of affected tests hold: where only files of tests were saved,
/// these; anything else may affect all.
fn affected(saved: &[PathBuf], directory: &Path, typed: &[String]) -> Vec<String> {
    if !typed.is_empty() || !saved.iter().all(|file| is_test(file)) {
        return typed.to_vec();
    }
    let relative = |file: &PathBuf| {
        let file = file.strip_prefix(directory).unwrap_or(file);
        file.display().to_string()
    };
    saved.iter().map(relative).collect()
}

fn named(saved: &[PathBuf], directory: &Path) -> String {
    let relative = |file: &PathBuf| {
        let file = file.strip_prefix(directory).unwrap_or(file);
        file.display().to_string()
    };
    let names: Vec<String> = saved.iter().take(3).map(relative).collect();
    match saved.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pass_writes_itself_is_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        write("cart.py", "1");
        write("run.log", "");
        let mut files = Files::of(folder.path());
        // A pass that writes a report and a log that was there.
        write("report.xml", "1");
        write("run.log", "one");
        files.look_after_pass();
        let now = |files: &Files| files.saved(&Sources::of(folder.path()));
        assert_eq!(now(&files), [path("run.log")], "it may have been saved");
        files.seen = Sources::of(folder.path());
        // The next one does the same, and somebody saves a file meanwhile.
        write("report.xml", "22");
        write("run.log", "one two");
        write("cart.py", "22");
        files.look_after_pass();
        assert_eq!(now(&files), [path("cart.py")]);
        files.seen = Sources::of(folder.path());
        // A new test that somebody wrote during a pass counts when it is saved.
        write("run.log", "one two three");
        write("test_cart.py", "1");
        files.look_after_pass();
        assert!(now(&files).is_empty());
        write("test_cart.py", "22");
        assert_eq!(now(&files), [path("test_cart.py")]);
    }

    #[test]
    fn a_saved_test_affects_itself_and_anything_else_all() {
        let directory = Path::new("/shop");
        let saved = |names: &[&str]| -> Vec<PathBuf> {
            names.iter().map(|name| directory.join(name)).collect()
        };
        let affected = |names: &[&str]| affected(&saved(names), directory, &[]);
        assert_eq!(affected(&["tests/test_cart.py"]), ["tests/test_cart.py"]);
        assert_eq!(affected(&["cart.test.ts"]), ["cart.test.ts"]);
        assert!(affected(&["tests/test_cart.py", "cart.py"]).is_empty());
        assert!(affected(&["tests/conftest.py"]).is_empty());
    }
}
