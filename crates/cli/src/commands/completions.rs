//! `murphy completions`: what a shell needs to complete our arguments.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run(args: &CompletionsArgs) -> Result<u8, Error> {
    // Into memory first: the generator panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "murphy", &mut script);
    output::write(|out| out.write_all(&script))?;
    Ok(exit::OK)
}
