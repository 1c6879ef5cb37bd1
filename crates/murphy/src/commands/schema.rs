//! `murphy schema`: the JSON Schema of `murphy.toml`.

use crate::config::schema;
use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run() -> Result<u8, Error> {
    output::write(|out| writeln!(out, "{:#}", schema::schema()))?;
    Ok(exit::OK)
}
