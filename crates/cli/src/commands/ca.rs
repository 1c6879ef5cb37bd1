//! `murphy ca`: the certificate that callers over HTTPS must trust.

use murphy_config::Config;
use murphy_system::{open_authority, rotate_authority, trusted_with};

use crate::args::{CaArgs, CaCommand};
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run(args: &CaArgs, context: &Context) -> Result<u8, Error> {
    let (CaCommand::Path(file) | CaCommand::Export(file) | CaCommand::Rotate(file)) = &args.command;
    let variables = |name: &str| context.variable(name);
    let config = Config::load(file.config.as_deref(), &context.directory(), &variables);
    let config = config.map_err(Error::Config)?;
    let state = &config.store.directory;
    let shown = match &args.command {
        CaCommand::Path(_) => open_authority(state)?.1.certificate,
        CaCommand::Export(_) => trusted_with(&open_authority(state)?.1)?,
        CaCommand::Rotate(_) => rotate_authority(state)?.1.certificate,
    };
    // Whoever uses it may be somewhere else.
    let shown = shown.canonicalize().unwrap_or(shown);
    output::write(|out| writeln!(out, "{}", shown.display()))?;
    Ok(exit::OK)
}
