//! When to use colors.

use std::ffi::OsString;

use anstream::ColorChoice;
use clap::ValueEnum;

use crate::grammar::values_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colors {
    /// On a terminal, unless a variable such as `NO_COLOR` forbids them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colors {
    /// Returns the value of `--color` in arguments that may ask for help or be unusable otherwise.
    pub(crate) fn asked_for(args: &[OsString]) -> Self {
        let values = values_of("--color", args.iter().take_while(|word| *word != "--"));
        let value = values.first().and_then(|value| Self::from_str(value.to_str()?, false).ok());
        value.unwrap_or(Self::Auto)
    }

    pub(crate) fn choose(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
