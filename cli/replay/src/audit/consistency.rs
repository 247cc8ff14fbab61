//! What the auditor kept, and what players signed that they saw, held against what is shown now (TR-24, PM-33).

use turnfold_core::trust::Checkpoint;

use super::mail::MailRows;
use super::rows::{AuditRow, counted};
use super::signed::Known;
use crate::bundle::sizes::revision;

/// Holds what the auditor kept against the lines there are; papers were held against their desks before.
pub(super) fn consistency(known: &Known<'_>, mail: &MailRows) -> AuditRow {
    let mut row = mail.consistency.clone();
    let seen = mail.seen_text().map(|seen| format!("; {seen}")).unwrap_or_default();
    let question = known.question;
    let (mut compared, mut unknown) = (0, 0);
    for held in question.held {
        let Checkpoint { origin, size, root } = &held.checkpoint;
        match question.policy.map(|policy| policy.is_signed(&held.note, origin)) {
            Some(Ok(true)) => {}
            Some(Err(error)) => {
                row.fail(None, format!("`{}`: {error}", held.path.display()));
                continue;
            }
            _ => {
                unknown += 1;
                continue;
            }
        }
        compared += 1;
        let Some(index) = known.lines.line_of(origin) else {
            row.fail(None, format!("line missing: `{origin}` was signed at size {size}"));
            continue;
        };
        let now = known.size(index);
        let at = revision(known.outline, index);
        if now < *size {
            row.fail(at, format!("rolled back from {size} to {now} records"));
        } else if known.root(index, *size) != Some(*root) {
            row.fail(at, format!("another history: the first {size} records are not those that were signed"));
        }
    }
    match (question.policy, question.held.len()) {
        (_, 0) => row.not_checked(None, format!("no checkpoint is held; give one with `--held`{seen}")),
        (None, _) => row.not_checked(None, "no policy says whose checkpoints count"),
        _ if compared == 0 => row.not_checked(None, "no held checkpoint is signed by a key of the policy"),
        _ => {}
    }
    row.row(|| {
        let others =
            if unknown == 0 { String::new() } else { format!(", {unknown} of unknown keys ignored") };
        format!("{} held and found again{others}{seen}", counted(compared, "checkpoint"))
    })
}
