//! The rows of an audit: what each found, worst first.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use turnfold_core::Seat;
use turnfold_core::trust::VerifierKey;
use turnfold_history::Revision;
use turnfold_store::MatchName;

/// The rows, in the order in which they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowName {
    /// The form of the file and of each record (TR-21).
    Bytes,
    /// The numbers and links of entries (TR-22).
    Chain,
    /// Checkpoints signed by a key of the policy (TR-23).
    Signature,
    /// Checkpoints that the auditor kept (TR-24).
    Consistency,
    /// Witnesses (TR-25).
    Cosignatures,
    /// Rolls (TR-26).
    Dice,
    /// The fold (TR-27).
    Rules,
    /// Who gave which command (TR-28).
    Authorship,
}

impl RowName {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Bytes,
        Self::Chain,
        Self::Signature,
        Self::Consistency,
        Self::Cosignatures,
        Self::Dice,
        Self::Rules,
        Self::Authorship,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Chain => "chain",
            Self::Signature => "signature",
            Self::Consistency => "consistency",
            Self::Cosignatures => "cosignatures",
            Self::Dice => "dice",
            Self::Rules => "rules",
            Self::Authorship => "authorship",
        }
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for RowName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|row| row.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("expected a row of an audit ({names}), found `{text}`")
        })
    }
}

/// What a row found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowResult {
    /// Everything was checked and is right.
    #[default]
    Pass,
    /// There is nothing to check.
    NotApplicable,
    /// Something was not checked; nothing is known to be wrong.
    NotChecked,
    /// Something is wrong.
    Fail,
}

impl RowResult {
    /// Returns it as JSON has it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotApplicable => "not_applicable",
            Self::NotChecked => "not_checked",
            Self::Fail => "fail",
        }
    }
}

impl fmt::Display for RowResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Pass => "PASS",
            Self::NotApplicable => "NOT APPLICABLE",
            Self::NotChecked => "NOT CHECKED",
            Self::Fail => "FAIL",
        })
    }
}

/// A row of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Which row.
    pub row: RowName,
    /// The result.
    pub result: RowResult,
    /// Why, in one line.
    pub reason: String,
    /// The branch, or entry of a branch, that decided the result.
    pub at: Option<Revision>,
    /// The keys with which players signed, in the row `authorship`.
    pub keys: Vec<PlayerKey>,
}

/// The key of a player of a match by mail, as the desk has it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerKey {
    /// The game.
    pub match_name: MatchName,
    /// The player's seat.
    pub seat: Seat,
    /// The key.
    pub key: VerifierKey,
}

/// Collects the findings of a row. The first failure decides it, otherwise the first thing that was not checked.
#[derive(Clone, Debug, Default)]
pub struct RowBuilder {
    result: RowResult,
    reason: String,
    at: Option<Revision>,
    keys: Vec<PlayerKey>,
    /// How many more findings have the same result.
    more: u64,
}

impl RowBuilder {
    /// Adds a key with which a player signed.
    pub fn key(&mut self, key: PlayerKey) {
        self.keys.push(key);
    }

    /// Reports that something is wrong there.
    pub fn fail(&mut self, at: Option<Revision>, reason: impl Into<String>) {
        self.add(RowResult::Fail, at, reason.into());
    }

    /// Reports that something there was not checked.
    pub fn not_checked(&mut self, at: Option<Revision>, reason: impl Into<String>) {
        self.add(RowResult::NotChecked, at, reason.into());
    }

    pub(super) fn not_applicable(&mut self, reason: impl Into<String>) {
        self.add(RowResult::NotApplicable, None, reason.into());
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.keys.extend(other.keys);
        if other.result != RowResult::Pass {
            self.add(other.result, other.at, other.reason);
            if self.result == other.result {
                self.more += other.more;
            }
        }
    }

    fn add(&mut self, result: RowResult, at: Option<Revision>, reason: String) {
        if result > self.result {
            (self.result, self.reason, self.at, self.more) = (result, reason, at, 0);
        } else if result == self.result {
            self.more += 1;
        }
    }

    pub(super) fn row(self, row: RowName, passed: impl FnOnce() -> String) -> AuditRow {
        let Self { result, reason, at, keys, more } = self;
        let reason = if result == RowResult::Pass {
            passed()
        } else {
            let at = at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
            let more = if more == 0 { String::new() } else { format!("; {more} more like it") };
            format!("{at}{reason}{more}")
        };
        AuditRow { row, result, reason, at, keys }
    }
}

/// Findings that do not come from reading the records, for three of the rows: for a match by mail, what its desk proves.
#[derive(Debug, Default)]
pub struct FurtherRows {
    /// The matches whose commands were compared with what players signed; for the others there is only the host's word.
    pub with_authors: BTreeSet<usize>,
    /// Fair dice.
    pub dice: FurtherRow,
    /// Papers, and the history that they name.
    pub consistency: FurtherRow,
    /// Who gave which command.
    pub authorship: FurtherRow,
}

/// Further findings of a row.
#[derive(Debug, Default)]
pub struct FurtherRow {
    /// Failures and what was not checked.
    pub found: RowBuilder,
    /// What was checked, in words, if anything was.
    pub checked: Option<String>,
}

pub(super) fn counted(count: u64, one: &str) -> String {
    let plural = if one.ends_with("ch") { "es" } else { "s" };
    format!("{count} {one}{}", if count == 1 { "" } else { plural })
}
