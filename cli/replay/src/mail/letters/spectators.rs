//! The bundle for spectators: both matches as they were some turns ago (PM-31).

use turnfold_core::Seat;
use turnfold_core::rules::desk::Command;
use turnfold_store::BranchName;

use super::error::LetterError;
use super::mail::Mail;
use super::part::{self, Part};
use crate::bundle::{MatchPart, SeatRecords, StoreRecords};
use crate::mail::desk_history::AppliedEntry;
use crate::signing::Signers;
use crate::viewer::Viewer;

/// Writes the bundle; `None` while spectators see nothing.
///
/// Records that not every seat may know now are redacted, even if they belong to an earlier turn.
pub(super) fn bundle(mail: &Mail<'_>, signers: &Signers) -> Result<Option<Vec<u8>>, LetterError> {
    let Some(size) = size(mail) else { return Ok(None) };
    let now = Part::of(mail, mail.log.size())?;
    let game = MatchPart { name: mail.game.clone(), lines: now.lines.into_iter().collect() };
    let desk_line = (BranchName::main(), mail.log.size().saturating_sub(1));
    let desk = MatchPart { name: mail.desk.clone(), lines: vec![desk_line] };
    let now = StoreRecords::of_parts(mail.store, &[game, desk])?;
    let viewer: Vec<_> =
        Seat::players(mail.log.setup.seats.into()).iter().map(|seat| Viewer::of(*seat)).collect();
    let records = Part::of(mail, size)?.records(mail)?;
    let records = SeatRecords::of_all(records, &now, &viewer, mail.registry)?;
    part::bundle(mail, signers, &records).map(Some)
}

/// Returns how many records of the desk spectators see.
fn size(mail: &Mail<'_>) -> Option<u64> {
    if mail.log.is_over(mail.log.size()) {
        return Some(mail.log.size());
    }
    let behind = usize::try_from(mail.log.setup.spectators).ok().filter(|behind| *behind > 0)?;
    let entries = mail.log.entries.iter().rev();
    let mut stands = entries.filter(|entry| matches!(entry.command, Command::Stand { .. }));
    stands.nth(behind).map(AppliedEntry::size)
}
