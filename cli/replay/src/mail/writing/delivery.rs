//! A bundle as it was delivered: audited against what the key remembers, and the desk in it (PM-28).

use std::path::Path;

use turnfold_core::decode::decode_strictly;
use turnfold_core::paper::{MatchId, PaperContent, SeatKey, SeenRoot, SignedPaper};
use turnfold_core::rules::desk::{self, Command, Desk, Secret};
use turnfold_core::trust::{Checkpoint, SignedNote, TrustPolicy, VerifierKey};
use turnfold_core::{AnyRules, Registry, Rules, Seat};
use turnfold_store::Entry;

use super::kept::PlayerMemory;
use crate::audit::{self, AuditQuestion, HeldCheckpoint, RowName, RowResult};
use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundleError, BundleFile, BundledMatch, BundledRecord, LineRecords};
use crate::mail::desk_history::DeskHistory;
use crate::mail::error::MailError;
use crate::signing::KeyMemory;

/// A bundle of a match by mail without known errors.
pub(super) struct ReceivedBundle {
    pub(super) bundle: BundleFile,
    /// Which match of the bundle is the game.
    pub(super) game: usize,
    /// Which is the desk.
    desk: usize,
    pub(super) terms: desk::Setup,
    pub(super) host: VerifierKey,
    /// The size and root of the desk.
    pub(super) seen: SeenRoot,
    /// The entries of the desk that are there.
    pub(super) entries: Vec<DeskRecord>,
    /// Who owes a seal, where the desk could be folded as far as that takes (PM-16).
    pub(super) owing_seals: Option<Vec<Seat>>,
    /// The checkpoints of the host on the whole of each line.
    checkpoints: Vec<(SignedNote, Checkpoint)>,
}

/// An entry of the desk.
pub(super) struct DeskRecord {
    pub(super) seq: u64,
    pub(super) command: Command,
}

/// Game and desk of a bundle, by their places in it.
struct Pair {
    game: usize,
    desk: usize,
    terms: desk::Setup,
    host: VerifierKey,
}

impl ReceivedBundle {
    /// Reads and audits a bundle. `folder` returns under which name the key keeps a match.
    pub(super) fn open(
        path: &Path,
        memory: &KeyMemory,
        registry: &Registry,
    ) -> Result<(Self, Option<PlayerMemory>), MailError> {
        let bundle = BundleFile::read(path).map_err(|error| match error {
            error @ BundleError::Malformed { .. } => MailError::Refused(format!("bytes: {error}")),
            error => error.into(),
        })?;
        let Pair { game, desk, terms, host } = pair(&bundle)?;
        let outline = bundle.outline();
        let [of_game, of_desk] = [game, desk].map(|index| outline.matches.get(index));
        let (Some(of_game), Some(of_desk)) = (of_game, of_desk) else { return Err(no_match()) };
        let kept = PlayerMemory::read(memory, &folder_of(of_game))?;
        if let Some(kept) = &kept {
            require_known(kept, of_game, of_desk, &host)?;
        }
        let held = held(memory, kept.as_ref())?;
        let policy = format!("log {host}\nquorum none\n");
        let policy = TrustPolicy::read(&policy).map_err(|error| MailError::Unusable(error.to_string()))?;
        let question = AuditQuestion { policy: Some(&policy), held: &held, registry };
        for row in audit::audit(&bundle, question)? {
            let must_pass = row.row == RowName::Signature;
            if row.result == RowResult::Fail || must_pass && row.result != RowResult::Pass {
                return Err(MailError::Refused(format!(
                    "the bundle fails the audit: {}: {}",
                    row.row, row.reason
                )));
            }
        }
        let records = DeskRecords::read(&bundle, desk, &terms)?;
        require_concealable(of_game, of_desk, (&terms, &records), registry)?;
        let DeskRecords { entries, seen, owing_seals, .. } = records;
        let checkpoints = checkpoints(&bundle, &policy);
        Ok((Self { bundle, game, desk, terms, host, seen, entries, owing_seals, checkpoints }, kept))
    }

    /// Returns the game.
    pub(super) fn of_game(&self) -> Result<&BundledMatch, MailError> {
        self.bundle.outline().matches.get(self.game).ok_or_else(no_match)
    }

    /// Returns what a key remembers that has written nothing for the match.
    pub(super) fn unknown(&self) -> Result<PlayerMemory, MailError> {
        let (host, game) = (self.host.clone(), self.of_game()?.genesis.link());
        let desk = self.bundle.outline().matches.get(self.desk).ok_or_else(no_match)?.genesis.link();
        Ok(PlayerMemory { host, game, desk, number: 0, turn: 0, lines: Vec::new() })
    }

    /// Returns where the key keeps what it remembers of the match.
    pub(super) fn folder(&self) -> Result<String, MailError> {
        Ok(folder_of(self.of_game()?))
    }

    /// Remembers the host's checkpoints; returns the origins of all lines.
    pub(super) fn accept(&self, memory: &KeyMemory) -> Result<Vec<String>, MailError> {
        for (note, checkpoint) in &self.checkpoints {
            memory.accept(note, checkpoint)?;
        }
        Ok(self.checkpoints.iter().map(|(_, checkpoint)| checkpoint.origin.clone()).collect())
    }

    /// Returns the papers that are there, with their entries.
    pub(super) fn papers(&self) -> impl Iterator<Item = (u64, &SignedPaper)> {
        self.entries.iter().filter_map(|entry| match &entry.command {
            Command::Paper(paper) => Some((entry.seq, paper.as_ref())),
            _ => None,
        })
    }

    /// Returns the seat that a key signs for, and whether it had the key from its `join` on.
    pub(super) fn seat_of(&self, key: &SeatKey) -> Option<(Seat, bool)> {
        let mut seats = self.papers().filter_map(|(_, signed)| match signed.paper().content() {
            // What the key itself signed, the host cannot have made up.
            PaperContent::Join(join) if join.key == *key && signed.is_by(key) => {
                Some((signed.paper().head().seat, true))
            }
            PaperContent::Rekey(new) if new == key => Some((signed.paper().head().seat, false)),
            PaperContent::Offer(turnfold_core::paper::Offer::Replace { seat, key: new }) if new == key => {
                Some((*seat, false))
            }
            _ => None,
        });
        seats.next()
    }
}

fn no_match() -> MailError {
    MailError::Refused("the bundle holds no match by mail: a game and its desk".into())
}

fn folder_of(game: &BundledMatch) -> String {
    format!("mail-{}", MatchId::new(game.genesis.match_id))
}

/// Finds game and desk.
fn pair(bundle: &BundleFile) -> Result<Pair, MailError> {
    let matches = &bundle.outline().matches;
    let mut pairs = Vec::new();
    for (desk, of) in matches.iter().enumerate().filter(|(_, of)| of.genesis.ruleset == Desk::NAME) {
        let Ok(terms) = decode_strictly::<desk::Setup>(&of.genesis.setup) else { continue };
        let Ok(host) = terms.host.parse() else { continue };
        let is_game = |of: &BundledMatch| {
            terms.match_id == MatchId::new(of.genesis.match_id).to_string()
                && terms.game == of.genesis.link().to_string()
        };
        if let Some(game) = matches.iter().position(is_game) {
            pairs.push(Pair { game, desk, terms, host });
        }
    }
    let found = pairs.pop().ok_or_else(no_match)?;
    if pairs.is_empty() { Ok(found) } else { Err(no_match()) }
}

/// Requires the match to be the one that is remembered under its id (PM-28).
fn require_known(
    kept: &PlayerMemory,
    game: &BundledMatch,
    desk: &BundledMatch,
    host: &VerifierKey,
) -> Result<(), MailError> {
    let other = if kept.host != *host {
        format!("host: `{}`, not `{host}`", kept.host)
    } else if kept.game != game.genesis.link() || kept.desk != desk.genesis.link() {
        "beginning".into()
    } else {
        return Ok(());
    };
    Err(MailError::Refused(format!("`{}` is known with another {other}", game.name)))
}

/// Requires every left-out record to be one that may be concealed (PM-28): nothing in a game without secrets, and in a
/// desk an order of another seat that PM-23 conceals. Otherwise a false desk could leave out the clock and all else that
/// the turns it claims would have needed, and so coax a chain of dice out of a player.
fn require_concealable(
    game: &BundledMatch,
    desk: &BundledMatch,
    (terms, records): (&desk::Setup, &DeskRecords),
    registry: &Registry,
) -> Result<(), MailError> {
    let refused = |of: &BundledMatch, what: String| {
        MailError::Refused(format!("{what} of `{}` is left out, where nothing can be concealed", of.name))
    };
    let has_secrets = registry.find(&game.genesis.ruleset).is_none_or(AnyRules::has_secrets);
    if let Some(line) = game.lines.iter().find(|line| line.left_out > 0 && !has_secrets) {
        return Err(refused(game, format!("a record of branch `{}`", line.branch)));
    }
    if let Some(line) = desk.lines.iter().find(|line| line.left_out > 0 && !line.branch.is_main()) {
        return Err(refused(desk, format!("a record of branch `{}`", line.branch)));
    }
    let commands = || records.entries.iter().map(|DeskRecord { seq, command }| (*seq, command));
    let begun = commands().find(|(_, command)| matches!(command, Command::Stand { .. }));
    let is_over = commands().any(|(_, command)| match command {
        Command::Stand { seats, .. } => seats.as_slice().is_empty(),
        command => matches!(command, Command::Close { .. }),
    });
    // What was ordered before a later turn with a STATE is shown, and without secrets every turn has one.
    let reveals = |command: &Command| match command {
        Command::Stand { state, .. } => terms.secret == Secret::Turn && (state.is_some() || !has_secrets),
        _ => false,
    };
    let revealed = commands().rfind(|(_, command)| reveals(command));
    let is_concealed = |seq: u64| {
        terms.secret != Secret::No
            && !is_over
            && begun.is_some_and(|(begun, _)| begun < seq)
            && revealed.is_none_or(|(revealed, _)| revealed < seq)
    };
    let bare = records.left_out.iter().find(|seq| !is_concealed(**seq));
    bare.map_or(Ok(()), |seq| Err(refused(desk, format!("entry {seq}"))))
}

/// Returns the checkpoints that the key remembers of the lines of a match.
fn held(memory: &KeyMemory, kept: Option<&PlayerMemory>) -> Result<Vec<HeldCheckpoint>, MailError> {
    let mut held = Vec::new();
    for origin in kept.map(|kept| kept.lines.as_slice()).unwrap_or_default() {
        let Some(note) = memory.note_of(origin)? else { continue };
        let checkpoint = note.text().parse();
        let checkpoint =
            checkpoint.map_err(|error: turnfold_core::Malformed| MailError::Unusable(error.to_string()))?;
        held.push(HeldCheckpoint { path: origin.into(), note, checkpoint });
    }
    Ok(held)
}

/// What the line `main` of the desk contains.
struct DeskRecords {
    entries: Vec<DeskRecord>,
    /// The numbers of those that are not.
    left_out: Vec<u64>,
    seen: SeenRoot,
    owing_seals: Option<Vec<Seat>>,
}

impl DeskRecords {
    /// Reads the entries that are there, and folds what can be.
    fn read(bundle: &BundleFile, desk: usize, terms: &desk::Setup) -> Result<Self, MailError> {
        let of = bundle.outline().matches.get(desk).ok_or_else(no_match)?;
        let mut log = DeskHistory::start(terms, &of.genesis.encode()).map_err(MailError::Terms)?;
        let (mut entries, mut left_out, mut is_sound, mut is_genesis) = (Vec::new(), Vec::new(), true, true);
        bundle.each(&mut |line, record| {
            if line != (desk, 0) || std::mem::take(&mut is_genesis) {
                return Ok(());
            }
            let next = log.head().saturating_add(1);
            let entry = match &record {
                BundledRecord::Shown(bytes) => Entry::decode(bytes).ok(),
                BundledRecord::LeftOut(_) => None,
            };
            if !entry.as_ref().is_some_and(|entry| entry.seq == next && log.take(entry).is_ok()) {
                log.pass(record.leaf());
                match record {
                    BundledRecord::Shown(_) => is_sound = false,
                    BundledRecord::LeftOut(_) => left_out.push(next),
                }
            }
            if let Some(Entry { seq, command, .. }) = entry
                && let Ok(command) = decode_strictly(&command)
            {
                entries.push(DeskRecord { seq, command });
            }
            Ok(())
        })?;
        // PM-16: what is left out is an order of another seat, and none counts while a seal is owed. So one behind the last
        // stand does not change who owes any; one before it may.
        let stand = log.stand().map(|stand| stand.seq);
        let is_known = is_sound && left_out.first().is_none_or(|seq| stand.is_some_and(|stand| stand < *seq));
        let owing_seals = is_known.then(|| log.state().awaited_seals());
        let size = log.head().saturating_add(1);
        let root = log.root(size).ok_or_else(no_match)?;
        Ok(Self { entries, left_out, seen: SeenRoot { size, root }, owing_seals })
    }
}

/// Returns the host's checkpoint on the whole of each line; the audit found that each has one.
fn checkpoints(bundle: &BundleFile, policy: &TrustPolicy) -> Vec<(SignedNote, Checkpoint)> {
    let lines = LineFinder::of(bundle.outline());
    let signed = bundle.outline().checkpoints.iter().filter_map(|note| {
        let checkpoint: Checkpoint = note.text().parse().ok()?;
        let is_whole = lines.size(lines.line_of(&checkpoint.origin)?) == checkpoint.size;
        let is_signed = is_whole && policy.is_signed(note, &checkpoint.origin) == Ok(true);
        is_signed.then(|| (note.clone(), checkpoint))
    });
    signed.collect()
}
