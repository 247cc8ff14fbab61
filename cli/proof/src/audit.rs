//! The audit: eight rows that are always printed (`trust.md`, TR-21 to TR-29).
//!
//! The records of a bundle, or of a store read as one, are read once. Trees, chains and states grow side by side; where a
//! branch begins, a copy is kept for it. A caller that knows more about a match, such as its desk, sees each record and adds
//! [`FurtherRows`]. The audit reads no clock, no network and no other store, so its answer is the same everywhere.

mod play;
mod question;
mod rows;
mod signed;
mod walk;

use std::collections::BTreeSet;

use crate::bundle::sizes::{BranchFinder, revision};
use crate::bundle::{BranchIndex, BundleOutline, BundleRecords, BundleRules, BundledRecord};
use crate::error::ProofError;

pub use question::{AuditQuestion, HeldCheckpoint, read_held};
pub use rows::{AuditRow, FurtherRow, FurtherRows, PlayerKey, RowBuilder, RowName, RowResult};

use self::rows::counted;
use self::signed::Vouching;
use self::walk::{Walk, Walked};

/// What no row can prove (TR-30).
pub const UNSAID: &str = "no row can say who sat at the keyboard, whether players spoke to each other, whether dice on a table fell so, \
     or whether mail was thrown away";

/// Returns the rows for a malformed bundle: `bytes` fails and no other row is checked.
#[must_use]
pub fn malformed(error: &ProofError) -> Vec<AuditRow> {
    let mut rows = Vec::new();
    for row in RowName::ALL {
        let mut found = RowBuilder::default();
        match row {
            RowName::Bytes => found.fail(None, error.to_string()),
            _ => found.not_checked(None, "the file is damaged; see `bytes`"),
        }
        rows.push(found.row(row, String::new));
    }
    rows
}

/// Well-formed matches whose records have been read; only [`FurtherRows`] are missing.
pub struct AuditedRecords<'a> {
    branches: &'a BranchFinder<'a>,
    question: AuditQuestion<'a>,
    signed: Vec<signed::BranchCheckpoints>,
    walked: Walked<'a>,
}

impl<'a> AuditedRecords<'a> {
    /// Reads all records. `on_record` gets each with its index on its branch, in the order of the outline. The dice of the
    /// matches in `dice_elsewhere` are left to the caller.
    ///
    /// # Errors
    /// What cannot be read. Faults of the matches are in the rows.
    pub fn read(
        records: &'a dyn BundleRecords,
        branches: &'a BranchFinder<'a>,
        rules: &'a BundleRules,
        question: AuditQuestion<'a>,
        dice_elsewhere: &BTreeSet<usize>,
        on_record: &mut dyn FnMut(BranchIndex, u64, &BundledRecord<'_>),
    ) -> Result<Self, ProofError> {
        let signed = signed::checkpoints(branches, question);
        let mut wanted = Vec::new();
        for branch in &signed {
            branch.add_wanted(&mut wanted);
        }
        let vouching = Vouching { question, signed: &signed };
        let walked = Walk::through(records, branches, rules, &wanted, &vouching, dice_elsewhere, on_record)?;
        Ok(Self { branches, question, signed, walked })
    }

    /// Returns the eight rows.
    #[must_use]
    pub fn rows(self, further: FurtherRows) -> Vec<AuditRow> {
        let Self { branches, question, signed, walked } = self;
        let outline = branches.outline;
        let bytes = RowBuilder::default().row(RowName::Bytes, || {
            let mut count = 0;
            for bundled in &outline.matches {
                for branch in &bundled.branches {
                    count += branch.count;
                }
            }
            format!(
                "{} and {} in canonical form",
                counted(count, "record"),
                counted(outline.checkpoints.len() as u64, "checkpoint")
            )
        });
        let FurtherRows { with_authors, dice, consistency, authorship } = further;
        let Walked { chain, dice: own_dice, rolls, has_dice, rules, trees } = walked;
        let known = signed::CheckpointContext { branches, question, trees: &trees };
        vec![
            bytes,
            chain,
            signed::signature(&signed, &known),
            signed::consistency(&known, consistency),
            signed::cosignatures(&signed, &known),
            walk::dice_row(own_dice, rolls, has_dice, dice),
            rules,
            authorship_row(outline, &with_authors, authorship),
        ]
    }
}

/// Requires what an import needs, which has no keys to check signatures with: the chain passes, and neither rules nor dice
/// fail. Returns the reason if the rules could not be checked.
///
/// # Errors
/// [`ProofError::Refused`] with the row that stops the import.
pub fn require_sound(rows: &[AuditRow]) -> Result<Option<String>, ProofError> {
    let mut not_checked = None;
    for row in rows {
        let is_wrong = match row.row {
            // Where records are left out, the chain is not checked either.
            RowName::Chain => row.result != RowResult::Pass,
            RowName::Rules | RowName::Dice => row.result == RowResult::Fail,
            _ => false,
        };
        if is_wrong {
            return Err(ProofError::Refused(format!("{}: {}", row.row, row.reason)));
        }
        if row.row == RowName::Rules && row.result == RowResult::NotChecked {
            not_checked = Some(row.reason.clone());
        }
    }
    Ok(not_checked)
}

/// Who gave which command: compared with what players signed (PM-32). In other matches there is only the host's word (TR-28).
fn authorship_row(
    outline: &BundleOutline,
    with_authors: &BTreeSet<usize>,
    FurtherRow { found: mut row, checked }: FurtherRow,
) -> AuditRow {
    let unsigned = "the host alone says who gave which command";
    if with_authors.is_empty() {
        row.not_checked(None, unsigned);
    } else {
        for match_index in 0..outline.matches.len() {
            if !with_authors.contains(&match_index) {
                row.not_checked(revision(outline, (match_index, 0)), unsigned);
            }
        }
    }
    row.row(RowName::Authorship, || checked.unwrap_or_default())
}
