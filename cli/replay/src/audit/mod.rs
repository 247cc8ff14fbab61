//! The audit: eight rows that are always printed (`trust.md`, TR-21 to TR-29).
//!
//! A bundle, or a store read as one, goes by once. Trees, chains and states grow beside each other; where a branch
//! begins they are kept for it. Nothing here reads a clock, a network or a store that the bundle does not name.

mod consistency;
mod held;
mod play;
mod question;
mod rows;
mod signed;
mod walk;

use crate::bundle::{BundleError, LineRecords};

pub use held::{HeldCheckpoint, read_held};
pub use question::AuditQuestion;
pub use rows::{AuditRow, RowName, RowResult};

use self::rows::{Finder, counted};
use self::walk::Walk;

/// What no row can say (TR-30).
pub const UNSAID: &str = "no row can say who sat at the keyboard, whether players spoke to each other, whether dice on a table fell so, \
     or whether mail was thrown away";

/// Returns the rows for a file that is no bundle in good form: no other row is checked.
#[must_use]
pub fn malformed(error: &BundleError) -> Vec<AuditRow> {
    let mut rows: Vec<_> =
        RowName::ALL.into_iter().map(|row| AuditRow::unchecked(row, "the bytes are in disorder")).collect();
    if let Some(bytes) = rows.first_mut() {
        *bytes = AuditRow { result: RowResult::Fail, reason: error.to_string(), ..bytes.clone() };
    }
    rows
}

/// Audits matches whose form is in order.
///
/// # Errors
/// What cannot be read. What is wrong with the matches is in the rows.
pub fn audit(records: &dyn LineRecords, question: AuditQuestion<'_>) -> Result<Vec<AuditRow>, BundleError> {
    let outline = records.outline();
    let signed = signed::checkpoints(outline, question);
    let wanted: Vec<_> = signed.iter().flat_map(signed::LineCheckpoints::wanted).collect();
    let walked = Walk::through(records, question.registry, &wanted)?;
    let bytes = Finder::new(RowName::Bytes).row(|| {
        let count: u64 = outline.matches.iter().flat_map(|of| &of.lines).map(|line| line.count).sum();
        format!(
            "{} and {} in canonical form",
            counted(count, "record"),
            counted(outline.checkpoints.len() as u64, "checkpoint")
        )
    });
    let walk::Walked { chain, dice, rules, roots } = walked;
    let known = signed::Known { outline, question, roots: &roots };
    let mut authorship = Finder::new(RowName::Authorship);
    authorship.not_checked(None, "the host alone says who gave which command");
    Ok(vec![
        bytes,
        chain,
        signed::signature(&signed, &known),
        consistency::consistency(&known),
        signed::cosignatures(&signed, &known),
        dice,
        rules,
        authorship.row(String::new),
    ])
}
