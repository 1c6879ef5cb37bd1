//! From what was typed to an exit code.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use super::args::{Cli, Options, RoleArgs};
use super::role::block_on;
use super::tls::Certificate;
use super::{compare, memory, murphy, plain_hyper, profile, stop, upstream};

/// A bar is missed.
const MISSED: u8 = 1;
/// The bench itself failed.
const FAILED: u8 = 70;

/// Is the bench, or one of the processes it starts of itself.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.role {
        Some(role) => play(role).map(|()| ExitCode::SUCCESS),
        // One thread, so that the programs of others, which end with the
        // thread that started them, live as long as the bench.
        None => block_on(1, bench(cli.options)),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

fn play(role: RoleArgs) -> Result<()> {
    match role {
        RoleArgs::Upstream { threads, tls } => {
            let tls = tls.map(|folder| Certificate::at(&folder));
            block_on(threads, upstream::serve(tls))
        }
        RoleArgs::PlainHyper { threads, upstream } => {
            block_on(threads, plain_hyper::serve(upstream))
        }
        RoleArgs::Murphy {
            threads,
            upstream,
            duty,
            tls,
        } => {
            let tls = tls.map(|folder| Certificate::at(&folder));
            block_on(1, murphy::serve(threads, upstream, duty, tls))
        }
        RoleArgs::Registry { executions, calls } => {
            block_on(1, memory::executions::in_process(executions, calls))
        }
    }
}

/// Everything that was started ends when this future does, or is dropped.
async fn bench(options: Options) -> Result<ExitCode> {
    tokio::select! {
        met = work(&options) => Ok(match met? {
            true => ExitCode::SUCCESS,
            false if options.report_only => ExitCode::SUCCESS,
            false => ExitCode::from(MISSED),
        }),
        code = stop::requested() => Ok(ExitCode::from(code?)),
    }
}

/// Whether all bars are met.
async fn work(options: &Options) -> Result<bool> {
    if options.memory {
        memory::check(options).await
    } else if options.profile {
        profile::show(options).await.map(|()| true)
    } else {
        compare::run(options).await
    }
}
