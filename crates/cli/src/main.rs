//! Murphy finds out, before production does, what an application does when
//! the things it calls fail.
//!
//! The binary: arguments to exit code. [`args`] holds what was typed,
//! [`murphy_project`] knows what is meant, [`commands`] does it, [`exit`] says
//! how it went.

mod args;
mod commands;
mod each;
mod error;
mod exit;
mod observe;
mod output;
mod patience;
mod progress;
mod reporting;
mod runtime;

use std::process::ExitCode;

use clap::Parser;
use murphy_project::{
    baseline_filter, campaign_record, context, entrance, own_project, past_execution, project,
    replay_system, settings, stored, unseen, worlds,
};

/// A call of interest allocates dozens of small things, and a proxy does little
/// else. Built with and without it, `bench/proxy` showed up to a quarter less
/// processor time per call over HTTP/2 and gRPC, and nowhere more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let context = context::Context::from_env();
    // A panic is our bug and has its own exit code; the message is printed by
    // the panic hook.
    let result = std::panic::catch_unwind(|| commands::run(cli, &context));
    ExitCode::from(match result {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => error::report(&error),
        Err(_) => exit::INTERNAL,
    })
}
