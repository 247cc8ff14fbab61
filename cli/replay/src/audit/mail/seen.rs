//! What players saw: every paper that counted names the history of this very desk (PM-33).

use super::rows::MailRows;
use super::turns::{DeskTurns, SeenBy};
use crate::revision::Revision;

/// Holds what papers have seen against the records of the desk.
pub(super) fn check_seen(desk: &DeskTurns, at: &Revision, rows: &mut MailRows) {
    for SeenBy { desk_seq, seat, turn, root, is_true } in &desk.seen {
        let size = root.size;
        let begun = turn.checked_sub(1).and_then(|index| desk.turns.get(usize::try_from(index).ok()?));
        let stand = begun.and_then(|turn| turn.stand.as_ref()).map(|stand| stand.seq);
        if !is_true {
            let reason = format!("the paper of {seat} has seen another history of {size} records");
            rows.consistency.fail(Some(at.at(*desk_seq)), reason);
        } else if stand.is_some_and(|stand| size <= stand) {
            let reason = format!("the paper of {seat} is for turn {turn} and has not seen its stand");
            rows.consistency.fail(Some(at.at(*desk_seq)), reason);
        } else {
            *rows.seen.get_or_insert(0) += 1;
        }
    }
}
