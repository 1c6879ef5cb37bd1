//! `murphy schema`: the JSON Schema of `murphy.toml`, and the OpenAPI description
//! of the control API.

use crate::args::Described;
use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run(of: Described) -> Result<u8, Error> {
    let text = match of {
        Described::Config => murphy_config::schema(),
        Described::Control => murphy_system::control_openapi(),
    };
    output::write(|out| writeln!(out, "{text:#}"))?;
    Ok(exit::OK)
}
