//! `murphy watch`: the tests of a command, again whenever a file is saved.
//!
//! Owns the loop: what was saved, which tests that may affect, and that system
//! and runners stay up in between. One pass is `run`'s business.

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
    let each = RunArgs {
        each: true,
        ..args.clone()
    };
    args.each = args.each || Run::open(&each, context).is_ok();
    let directory = Run::open(&args, context)?.directory();
    runtime::block_on(watch(&args, &directory, context))?
}

async fn watch(args: &RunArgs, directory: &Path, context: &Context) -> Result<u8, Error> {
    let mut shared = SharedSystem::default();
    let mut args = args.clone();
    let typed_filter = args.filter.clone();
    loop {
        let before = Sources::of(directory);
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
        output::say(format_args!(
            "watching {}; Ctrl-C ends",
            directory.display()
        ));
        let saved = next_save(directory, &before).await;
        output::say(format_args!("saved: {}", named(&saved, directory)));
        args.filter = affected(&saved, directory, &typed_filter);
        args.since_last = true;
        if let Err(error) = shared.begin_anew().await {
            error::report(&error);
            shared.give_up().await;
        }
    }
}

async fn pass(args: &RunArgs, context: &Context, shared: &mut SharedSystem) -> Result<Pass, Error> {
    Run::open(args, context)?.pass(shared).await
}

/// The files that were saved since.
async fn next_save(directory: &Path, before: &Sources) -> Vec<PathBuf> {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let saved = Sources::of(directory).changed_since(before);
        if !saved.is_empty() {
            return saved;
        }
    }
}

/// What the names of affected tests hold: where only files of tests were saved,
/// these; anything else may affect all.
fn affected(saved: &[PathBuf], directory: &Path, typed: &[String]) -> Vec<String> {
    let is_test = |file: &PathBuf| {
        let name = file
            .file_name()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        stem.starts_with("test_")
            || stem.ends_with("_test")
            || name.contains(".test.")
            || name.contains(".spec.")
    };
    if !typed.is_empty() || !saved.iter().all(is_test) {
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
