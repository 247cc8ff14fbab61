//! `mail recover`: restores desk and game from the letters that players have (PM-111).

use std::path::{Path, PathBuf};

use mail_parser::{Message, MessageParser, PartType};
use turnfold_core::Registry;
use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::Command;
use turnfold_history::input::Limits;
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::{
    BundleFile, BundleRecords as _, Combination, CombinedRecords, MissingRecords, StoreRecords, TITLE,
};
use turnfold_proof::signing::Signers;
use turnfold_store::{BranchName, Entry, MatchName, StoreReader};

use super::mail_text::attached_bytes;
use super::received_bundle::{MailPair, failed_row, pair, policy_of};
use crate::error::MailError;

/// The limits of letters with the bundle of a whole match, or such a bundle (PM-111).
const LETTER: Limits =
    Limits { what: "letter", bytes_max: 1 << 28, lines_max: 1 << 23, line_bytes_max: 1 << 26 };

/// What could be recovered of matches by mail.
pub struct Recovery {
    /// The records, without a gap.
    pub records: CombinedRecords,
    /// The names of the games.
    pub games: Vec<MatchName>,
    /// What is missing, in sentences.
    pub missing: Vec<String>,
}

impl Recovery {
    /// Combines the bundles of players, each in a letter or saved from one, with the records of the store. The host
    /// must have signed each bundle with one of these keys.
    ///
    /// # Errors
    /// [`MailError`] naming the file that cannot be used.
    pub fn of(
        files: &[PathBuf],
        store: &StoreReader,
        signers: &Signers,
        registry: &Registry,
    ) -> Result<Self, MailError> {
        let mut combination = Combination::default();
        let mut pairs: Vec<(MatchName, MatchName)> = Vec::new();
        for path in files {
            let refused =
                |error: &dyn std::fmt::Display| MailError::Refused(format!("`{}`: {error}", path.display()));
            for bundle in bundles_in(path)? {
                let MailPair { game, desk, host, .. } = pair(&bundle)?;
                if signers.key_of(&host).is_none() {
                    return Err(refused(&format!("the host signs with `{host}`, not with this key")));
                }
                let policy = policy_of(&host)?;
                let question =
                    AuditQuestion { policy: Some(&policy), held: &[], registry, accepts_brought_rules: true };
                if let Some(row) = failed_row(&bundle, question)? {
                    return Err(refused(&format!("{}: {}", row.row, row.reason)));
                }
                combination.add(&bundle).map_err(|error| refused(&error))?;
                let matches = &bundle.outline().matches;
                if let Some(game) = matches.get(game)
                    && let Some(desk) = matches.get(desk)
                    && !pairs.iter().any(|(known, of)| *known == game.name && *of == desk.name)
                {
                    pairs.push((game.name.clone(), desk.name.clone()));
                }
            }
        }
        for (game, desk) in &pairs {
            let mut stored = vec![game.clone(), desk.clone()];
            stored.retain(|name| store.genesis(name).is_ok());
            combination.add(&StoreRecords::of(store, &stored)?)?;
        }
        let missing_records = combination.missing();
        let mut missing = Vec::new();
        for MissingRecords { match_name, branch, first, last } in &missing_records {
            combination.cut(match_name, branch, *first);
            missing.push(format!(
                "`{match_name}@{branch}` ends before entry {first} of {last}, which no bundle shows: the newest letter of \
                 another seat may have it"
            ));
        }
        for (game, desk) in &pairs {
            if missing_records.iter().any(|missing| missing.match_name == *game) {
                cut_desk(&mut combination, game, desk);
            }
        }
        let mut games = Vec::new();
        for (game, _) in pairs {
            games.push(game);
        }
        Ok(Self { records: combination.into_records()?, games, missing })
    }
}

/// Cuts a desk after the last position that the game has, because later positions name missing entries.
fn cut_desk(combination: &mut Combination, game: &MatchName, desk: &MatchName) {
    let main = BranchName::main();
    let mut size = 1;
    for (seq, bytes) in combination.entries(desk, &main) {
        let Ok(Entry { command, .. }) = Entry::decode(bytes) else { continue };
        if let Ok(Command::Stand { branch, seq: played, .. }) = decode_strictly(&command) {
            if combination.size(game, &branch) <= played {
                break;
            }
            size = seq.saturating_add(1);
        }
    }
    combination.cut(desk, &main, size);
}

fn bundles_in(path: &Path) -> Result<Vec<BundleFile>, MailError> {
    let bytes = LETTER.read_file(path)?;
    let mut found = Vec::new();
    if bytes.starts_with(TITLE.as_bytes()) {
        found.push(bytes);
    } else if let Some(message) = MessageParser::default().parse(&bytes) {
        attached(&message, &mut found);
    }
    if found.is_empty() {
        let message = format!("`{}` is no bundle, and no letter with one attached", path.display());
        return Err(MailError::Unusable(message));
    }
    found.into_iter().map(|bytes| Ok(BundleFile::of_bytes(path, bytes)?)).collect()
}

fn attached(message: &Message<'_>, found: &mut Vec<Vec<u8>>) {
    for part in &message.parts {
        let parsed = match &part.body {
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes,
            PartType::Text(text) => text.as_bytes(),
            PartType::Message(inner) => {
                attached(inner, found);
                continue;
            }
            _ => continue,
        };
        let bytes = attached_bytes(message, part, parsed);
        if bytes.starts_with(TITLE.as_bytes()) {
            found.push(bytes);
        }
    }
}
