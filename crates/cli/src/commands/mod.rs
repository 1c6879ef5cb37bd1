//! The commands, one module each: from what was typed to an exit code.

mod baseline;
mod ca;
mod calls;
mod check;
mod completions;
mod demo;
mod doctor;
mod explain;
mod harden;
mod init;
mod list;
mod modes;
mod plan;
mod replay;
mod report;
pub(crate) mod run;
mod schema;
mod suite;
mod try_faultload;
mod watch;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::error::Error;

/// Does what was asked for and says how it went.
pub(crate) fn run(cli: Cli, context: &Context) -> Result<u8, Error> {
    match cli.command {
        Command::Run(args) => run::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Suite(args) => suite::run(&args, context),
        Command::Try(args) => try_faultload::run(&args, context),
        Command::List(args) => calls::run(&args, context),
        Command::Plan(args) => plan::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::Report(args) => report::run(&args, context),
        Command::Harden(args) => harden::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Baseline(args) => baseline::run(&args, context),
        Command::Demo(args) if args.list => list::run(),
        Command::Demo(args) => demo::run(&args, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Init(args) => init::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Modes(args) => modes::run(&args),
        Command::Ca(args) => ca::run(&args, context),
        Command::Schema { of } => schema::run(of),
        Command::Completions(args) => completions::run(&args),
    }
}
