//! The audit: eight rows that are always printed (`trust.md`, TR-21 to TR-29).
//!
//! A bundle, or a store read as one, goes by once. Trees, chains and states grow side by side; where a branch
//! begins they are kept for it. A match by mail is held against its desk (PM-32, PM-33, FD-19). Nothing here reads a
//! clock, a network or a store that the bundle does not name.

mod mail;
mod play;
mod question;
mod rows;
mod signed;
mod walk;

use crate::bundle::sizes::{BranchFinder, revision};
use crate::bundle::{BundleOutline, BundleRecords, BundleRules};
use crate::error::ReplayError;

pub use mail::FairRoll;
pub use question::{AuditQuestion, HeldCheckpoint, read_held};
pub use rows::{AuditRow, PlayerKey, RowName, RowResult};

use self::mail::MailRows;
use self::rows::{RowBuilder, counted};
use self::signed::Vouching;
use self::walk::Walk;

/// What no row can prove (TR-30).
pub const UNSAID: &str = "no row can say who sat at the keyboard, whether players spoke to each other, whether dice on a table fell so, \
     or whether mail was thrown away";

/// Returns the rows for a file that is no bundle in good form: no other row is checked.
#[must_use]
pub fn malformed(error: &ReplayError) -> Vec<AuditRow> {
    let row = |row| {
        let mut found = RowBuilder::default();
        match row {
            RowName::Bytes => found.fail(None, error.to_string()),
            _ => found.not_checked(None, "the bytes are in disorder"),
        }
        found.row(row, String::new)
    };
    RowName::ALL.map(row).into()
}

/// Audits matches whose form is in order.
///
/// # Errors
/// What cannot be read. What is wrong with the matches is in the rows.
pub fn audit(records: &dyn BundleRecords, question: AuditQuestion<'_>) -> Result<Vec<AuditRow>, ReplayError> {
    audit_with(records, question, &mut |_| {})
}

/// Audits matches like [`audit`], and reports each roll of fair dice with everything that it follows from (FD-20).
///
/// # Errors
/// As for [`audit`].
pub fn audit_with(
    records: &dyn BundleRecords,
    question: AuditQuestion<'_>,
    on_roll: &mut dyn FnMut(&FairRoll),
) -> Result<Vec<AuditRow>, ReplayError> {
    let outline = records.outline();
    let branches = BranchFinder::of(outline);
    let signed = signed::checkpoints(&branches, question);
    let wanted: Vec<_> = signed.iter().flat_map(signed::BranchCheckpoints::wanted).collect();
    let rules = BundleRules::of(outline, question.registry);
    let walked =
        Walk::through(records, &branches, &rules, &wanted, &Vouching { question, signed: &signed }, on_roll)?;
    let bytes = RowBuilder::default().row(RowName::Bytes, || {
        let count: u64 =
            outline.matches.iter().flat_map(|bundled| &bundled.branches).map(|branch| branch.count).sum();
        format!(
            "{} and {} in canonical form",
            counted(count, "record"),
            counted(outline.checkpoints.len() as u64, "checkpoint")
        )
    });
    let walk::Walked { chain, dice, rules, trees, mail } = walked;
    let known = signed::Known { branches: &branches, question, trees: &trees };
    Ok(vec![
        bytes,
        chain,
        signed::signature(&signed, &known),
        signed::consistency(&known, &mail),
        signed::cosignatures(&signed, &known),
        dice,
        rules,
        authorship(outline, &mail),
    ])
}

/// Who gave which command: of matches with a desk (PM-32); in others only the host states it (TR-28).
fn authorship(outline: &BundleOutline, mail: &MailRows) -> AuditRow {
    let mut row = mail.authorship.clone();
    let unsigned = "the host alone says who gave which command";
    if mail.paired.is_empty() {
        row.not_checked(None, unsigned);
    } else {
        for match_index in (0..outline.matches.len()).filter(|match_index| !mail.paired.contains(match_index))
        {
            row.not_checked(revision(outline, (match_index, 0)), unsigned);
        }
    }
    row.row(RowName::Authorship, || mail.authorship_text())
}
