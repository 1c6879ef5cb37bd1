//! `murphy schema`: the JSON Schema of `murphy.toml`.

use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run() -> Result<u8, Error> {
    output::write(|out| writeln!(out, "{:#}", murphy_config::schema()))?;
    Ok(exit::OK)
}
