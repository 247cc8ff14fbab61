//! The part of desk and game that a letter describes, and its bundle.

use std::collections::BTreeMap;

use turnfold_core::paper::LineName;
use turnfold_core::rules::desk::Command;
use turnfold_core::trust::SignedNote;
use turnfold_store::{BranchName, Seq};

use super::error::LetterError;
use super::mail::Mail;
use crate::bundle::{LineRecords, MatchPart, StoreRecords, write_bundle};
use crate::error::ReplayError;
use crate::revision::Revision;
use crate::signing::Signers;

/// The first records of the desk, and the lines of the game that these name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// How many records of the desk.
    pub(super) size: u64,
    /// The lines of the game, and the last entry of each.
    pub(super) lines: BTreeMap<BranchName, Seq>,
    /// The line on which the game stands.
    pub(super) line: BranchName,
}

impl Part {
    /// Finds the part of a match up to `size` records of its desk.
    ///
    /// Nothing is played once the desk is over, so all that was played before belongs to that end.
    pub(super) fn of(mail: &Mail<'_>, size: u64) -> Result<Self, LetterError> {
        let mut lines = BTreeMap::new();
        let mut line = BranchName::main();
        for entry in mail.log.entries.iter().take_while(|entry| entry.seq < size) {
            if let Command::Stand { line: stands, seq, .. } = &entry.command {
                line = branch(stands)?;
                lines.insert(line.clone(), *seq);
            }
        }
        lines.entry(line.clone()).or_insert(0);
        if mail.log.is_over(size) {
            let head = mail.store.head(&mail.game, &line)?;
            lines.insert(line.clone(), head);
        }
        Ok(Self { size, lines, line })
    }

    /// Returns the last entry of the line on which the game stands.
    pub(super) fn seq(&self) -> Seq {
        self.lines.get(&self.line).copied().unwrap_or(0)
    }

    /// Returns where the game stands.
    pub(super) fn stands_at(&self, mail: &Mail<'_>) -> Revision {
        let (match_name, branch) = (mail.game.clone(), self.line.clone());
        Revision { match_name, branch, seq: Some(self.seq()) }
    }

    /// Lists the records of both matches.
    pub(super) fn records<'a>(&self, mail: &Mail<'a>) -> Result<StoreRecords<'a>, LetterError> {
        let game = MatchPart { name: mail.game.clone(), lines: self.lines.clone().into_iter().collect() };
        let desk_line = (BranchName::main(), self.size.saturating_sub(1));
        let desk = MatchPart { name: mail.desk.clone(), lines: vec![desk_line] };
        Ok(StoreRecords::of_parts(mail.store, &[game, desk])?)
    }
}

/// Writes a bundle of these records, each line signed at its end.
pub(super) fn bundle(
    mail: &Mail<'_>,
    signers: &Signers,
    records: &dyn LineRecords,
) -> Result<Vec<u8>, LetterError> {
    let mut notes: Vec<SignedNote> = Vec::new();
    for of in &records.outline().matches {
        for line in &of.lines {
            let (match_name, branch) = (of.name.clone(), line.branch.clone());
            let seq = Some(line.size().saturating_sub(1));
            let signed = signers.sign(mail.store, &Revision { match_name, branch, seq }, None)?;
            notes.push(signed.note);
        }
    }
    let mut bytes = Vec::new();
    write_bundle(&mut bytes, records, notes)?;
    Ok(bytes)
}

fn branch(line: &LineName) -> Result<BranchName, LetterError> {
    let named = line.as_str().parse();
    Ok(named.map_err(|cause| ReplayError::BadSetup(turnfold_core::SetupError::Bytes(format!("{cause}"))))?)
}
