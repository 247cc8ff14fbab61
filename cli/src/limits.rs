//! Limits of input. Input beyond them is refused, so that it cannot fill the memory.
//!
//! `docs/guide/limits.md` lists these limits. Rulesets limit the values of setups, and the store limits names and
//! stored records.

use turnfold_history::input::Limits;

/// The longest regular expression, in bytes.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 12;

/// The most distinct states that `game perft` holds at one depth.
pub(crate) const PERFT_STATES_MAX: usize = 1_000_000;

/// Scripts. All commands are played before the first is recorded.
pub(crate) const SCRIPT: Limits = Limits {
    what: "script",
    bytes_max: 1 << 26,
    lines_max: 1_000_000,
    line_bytes_max: Limits::COMMAND_BYTES_MAX,
};

pub(crate) const TOKEN: Limits =
    Limits { what: "token file", bytes_max: 256, lines_max: 1, line_bytes_max: 256 };

/// Certificates of authorities; those of a system take about 200 KiB.
pub(crate) const AUTHORITIES: Limits =
    Limits { what: "file of certificates", bytes_max: 4 << 20, lines_max: 1 << 17, line_bytes_max: 1 << 12 };

/// Policies for audits, which have at most 32 logs, witnesses and groups, and comments.
pub(crate) const POLICY: Limits =
    Limits { what: "policy", bytes_max: 1 << 16, lines_max: 1 << 12, line_bytes_max: 1 << 12 };

/// Lists of files that failed when they were last checked. A longer list is discarded.
pub(crate) const FAILED_CHECKS: Limits =
    Limits { what: "list of failed checks", bytes_max: 4 << 20, lines_max: 1 << 16, line_bytes_max: 1 << 12 };

pub(crate) const SETUP: Limits = Limits {
    what: "setup",
    bytes_max: Limits::HEADER_BYTES_MAX,
    lines_max: 1 << 18,
    line_bytes_max: Limits::HEADER_BYTES_MAX,
};

/// Terms of matches by mail (PM-3).
pub(crate) const MAIL_TERMS: Limits = Limits { what: "terms", ..SETUP };
