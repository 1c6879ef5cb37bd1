//! The commands, one module each: from what was typed to an exit code.

mod demo;
mod explain;
mod list;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::error::Error;

/// Does what was asked for and says how it went.
pub(crate) fn run(cli: Cli, context: &Context) -> Result<u8, Error> {
    match cli.command {
        Command::Demo(args) if args.list => list::run(),
        Command::Demo(args) => demo::run(&args, context),
        Command::Explain(args) => explain::run(&args),
    }
}
