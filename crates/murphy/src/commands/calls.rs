//! `murphy list`: the calls a test leads to, without faults.

use std::io::{self, Write};

use murphy_campaign::{Campaigned, Chosen};
use murphy_model::Observed;
use murphy_report::{calls_of, json};

use crate::args::{Format, ListArgs};
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::{exit, output, runtime};

pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<u8, Error> {
    let _ = (args, context);
    todo!()
}
