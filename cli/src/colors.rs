//! When to use colors.

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
    /// Decides on colors for everything that is printed from now on.
    pub(crate) fn choose(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
