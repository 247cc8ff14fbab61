//! A verb that this build leaves out: it accepts any arguments and names the missing feature.

use std::ffi::OsString;

use crate::address::left_out;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Not a part of this build
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(crate) fn run(_: &Args, _: &mut Context) -> Result<ExitStatus, Failure> {
    Err(Failure::usage(left_out("serve")))
}
