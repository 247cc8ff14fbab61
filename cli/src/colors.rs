//! When to use colors.

use std::ffi::{OsStr, OsString};

use anstream::ColorChoice;
use clap::ValueEnum;

/// When to use colors.
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
        let words: Vec<_> = args.iter().take_while(|word| *word != "--").collect();
        let after = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| **word == "--color");
        let joined = words.iter().filter_map(|word| word.to_str()?.strip_prefix("--color="));
        let value = after.map(|(_, value)| value.as_os_str()).chain(joined.map(OsStr::new)).next();
        value.and_then(|value| Self::from_str(value.to_str()?, false).ok()).unwrap_or(Self::Auto)
    }

    /// Sets the use of colors for all further output.
    pub(crate) fn choose(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
