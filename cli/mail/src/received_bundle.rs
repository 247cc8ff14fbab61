//! A bundle as a player received it: audited against what the key remembers, and its desk read (PM-28).

use std::path::Path;

use turnfold_core::paper::{MatchId, Offer, PaperContent, SeatKey, SeenRoot, SignedPaper};
use turnfold_core::rules::desk::{self, Command, Desk, Secret};
use turnfold_core::trust::{Checkpoint, SignedNote, TrustPolicy, VerifierKey};
use turnfold_core::{Registry, Rules, Seat};
use turnfold_history::history::recorded_rules;
use turnfold_proof::ProofError;
use turnfold_proof::audit::{AuditQuestion, AuditRow, HeldCheckpoint, RowName, RowResult};
use turnfold_proof::bundle::sizes::BranchFinder;
use turnfold_proof::bundle::{BundleFile, BundleRecords, BundledMatch};
use turnfold_proof::signing::KeyMemory;

use super::audit::audit;
use super::desk_history::DeskHistory;
use super::player_memory::PlayerMemory;
use crate::error::MailError;

/// A bundle of a match by mail that passed its audit.
pub(super) struct ReceivedBundle {
    pub(super) bundle: BundleFile,
    /// The index of the game in the bundle.
    pub(super) game_index: usize,
    pub(super) game: BundledMatch,
    desk: BundledMatch,
    pub(super) terms: desk::Setup,
    pub(super) host: VerifierKey,
    /// The desk, as far as it is shown.
    pub(super) history: DeskHistory,
    /// The host's checkpoints that cover a whole branch.
    checkpoints: Vec<(SignedNote, Checkpoint)>,
}

/// Game and desk of a bundle, by their indexes in it.
pub(super) struct MailPair {
    pub(super) game: usize,
    pub(super) desk: usize,
    terms: desk::Setup,
    pub(super) host: VerifierKey,
}

impl ReceivedBundle {
    /// Reads and audits a bundle. Also returns what the key remembers of its match.
    pub(super) fn open(
        path: &Path,
        memory: &KeyMemory,
        registry: &Registry,
    ) -> Result<(Self, Option<PlayerMemory>), MailError> {
        let bundle = BundleFile::read(path).map_err(|error| match error {
            error @ ProofError::Malformed { .. } => MailError::Refused(format!("bytes: {error}")),
            error => error.into(),
        })?;
        let MailPair { game: game_index, desk: desk_index, terms, host } = pair(&bundle)?;
        let [game, desk] = [game_index, desk_index].map(|index| bundle.outline().matches.get(index).cloned());
        let (Some(game), Some(desk)) = (game, desk) else { return Err(no_match()) };
        let known = PlayerMemory::read(memory, &folder_of(&game))?;
        if let Some(known) = &known {
            require_known(known, &game, &desk, &host)?;
        }
        let held = trusted(memory, known.as_ref())?;
        let policy = policy_of(&host)?;
        let question =
            AuditQuestion { policy: Some(&policy), held: &held, registry, accepts_brought_rules: false };
        if let Some(row) = failed_row(&bundle, question)? {
            let AuditRow { row, reason, .. } = row;
            return Err(MailError::Refused(format!("the bundle fails the audit: {row}: {reason}")));
        }
        let history = read_desk(&bundle, desk_index, &desk, &terms)?;
        require_concealable(&game, &desk, &history, registry)?;
        let checkpoints = checkpoints(&bundle, &policy);
        Ok((Self { bundle, game_index, game, desk, terms, host, history, checkpoints }, known))
    }

    /// Returns the memory of a key that has written nothing for the match.
    pub(super) fn new_memory(&self) -> PlayerMemory {
        let [game, desk] = [&self.game, &self.desk].map(|bundled| bundled.genesis.link());
        PlayerMemory { host: self.host.clone(), game, desk, number: 0, turn: 0, lines: Vec::new() }
    }

    /// Returns the folder of the match in the key's memory.
    pub(super) fn folder(&self) -> String {
        folder_of(&self.game)
    }

    /// Remembers the host's checkpoints, and returns the origins of all branches.
    pub(super) fn accept(&self, memory: &KeyMemory) -> Result<Vec<String>, MailError> {
        for (note, checkpoint) in &self.checkpoints {
            memory.accept(note, checkpoint)?;
        }
        Ok(self.checkpoints.iter().map(|(_, checkpoint)| checkpoint.origin.clone()).collect())
    }

    /// Returns the size and root of the desk.
    pub(super) fn seen(&self) -> Result<SeenRoot, MailError> {
        let size = self.history.size();
        Ok(SeenRoot { size, root: self.history.root(size).ok_or_else(no_match)? })
    }

    /// Returns the papers that are shown, with their entries.
    pub(super) fn papers(&self) -> impl Iterator<Item = (u64, &SignedPaper)> {
        self.history.entries().iter().filter_map(|entry| Some((entry.seq, entry.paper()?)))
    }

    /// Returns the seats that owe a seal, if the records that are shown are enough to know (PM-16).
    pub(super) fn owing_seals(&self) -> Option<Vec<Seat>> {
        // A record that is left out is an order of another seat, and no order counts while a seal is owed. So it
        // changes nothing here if it comes after the position; before the position it may.
        let position = self.history.position().map(|position| position.seq);
        let is_after = |seq: &u64| position.is_some_and(|position| position < *seq);
        let is_known =
            self.history.first_unapplied().is_none() && self.history.left_out().first().is_none_or(is_after);
        is_known.then(|| self.history.state().awaited_seals())
    }

    /// Returns the seats that players have joined, with the name of each.
    pub(super) fn taken_seats(&self) -> Vec<(Seat, String)> {
        let joins = self.papers().filter_map(|(_, signed)| match signed.paper().content() {
            PaperContent::Join(join) => Some((signed.paper().head().seat, join.key.name().to_string())),
            _ => None,
        });
        joins.collect()
    }

    /// Returns the seat of a key, and whether it has had the key since its `join`.
    pub(super) fn seat_of(&self, key: &SeatKey) -> Option<(Seat, bool)> {
        let by_paper = self.papers().filter_map(|(_, signed)| match signed.paper().content() {
            // The host cannot have forged what the key itself signed.
            PaperContent::Join(join) if join.key == *key && signed.is_by(key) => {
                Some((signed.paper().head().seat, true))
            }
            PaperContent::Rekey(new) if new == key => Some((signed.paper().head().seat, false)),
            PaperContent::Offer(Offer::Replace { seat, player }) if player.key() == Some(key) => {
                Some((*seat, false))
            }
            _ => None,
        });
        // PM-60: the host may have given the seat to this key, alone or by an agreement.
        let by_host = self.history.entries().iter().filter_map(|entry| match &entry.command {
            Command::Replace { seat, player, .. } if player.key() == Some(key) => Some((*seat, false)),
            _ => None,
        });
        by_paper.chain(by_host).next()
    }
}

/// Returns the policy that trusts the host's key.
pub(super) fn policy_of(host: &VerifierKey) -> Result<TrustPolicy, MailError> {
    let policy = TrustPolicy::read(&format!("log {host}\nquorum none\n"));
    policy.map_err(|error| MailError::Unusable(error.to_string()))
}

/// Audits a bundle. Returns the first row that makes it unusable: one that fails, or `signature` unless it passes.
pub(super) fn failed_row(
    bundle: &BundleFile,
    question: AuditQuestion<'_>,
) -> Result<Option<AuditRow>, MailError> {
    let must_pass = |row: &AuditRow| row.row == RowName::Signature && row.result != RowResult::Pass;
    let rows = audit(bundle, question)?;
    Ok(rows.into_iter().find(|row| row.result == RowResult::Fail || must_pass(row)))
}

fn no_match() -> MailError {
    MailError::Refused("the bundle holds no match by mail: a game and its desk".into())
}

fn folder_of(game: &BundledMatch) -> String {
    format!("mail-{}", MatchId::new(game.genesis.match_id))
}

/// Finds the only game with a desk in a bundle.
pub(super) fn pair(bundle: &BundleFile) -> Result<MailPair, MailError> {
    let matches = &bundle.outline().matches;
    let mut pairs = Vec::new();
    for (desk, bundled) in
        matches.iter().enumerate().filter(|(_, bundled)| bundled.genesis.ruleset == Desk::NAME)
    {
        let Ok(terms) = desk::Setup::decode(bundled.genesis.ruleset_version, &bundled.genesis.setup) else {
            continue;
        };
        let Ok(host) = terms.host.parse() else { continue };
        let is_game = |bundled: &BundledMatch| {
            terms.match_id == MatchId::new(bundled.genesis.match_id).to_string()
                && terms.game == bundled.genesis.link().to_string()
        };
        if let Some(game) = matches.iter().position(is_game) {
            pairs.push(MailPair { game, desk, terms, host });
        }
    }
    let found = pairs.pop().ok_or_else(no_match)?;
    if pairs.is_empty() { Ok(found) } else { Err(no_match()) }
}

/// Requires the match to be the one that is remembered under its id (PM-28).
fn require_known(
    known: &PlayerMemory,
    game: &BundledMatch,
    desk: &BundledMatch,
    host: &VerifierKey,
) -> Result<(), MailError> {
    let other = if known.host != *host {
        format!("host: `{}`, not `{host}`", known.host)
    } else if known.game != game.genesis.link() || known.desk != desk.genesis.link() {
        "beginning".into()
    } else {
        return Ok(());
    };
    Err(MailError::Refused(format!("`{}` is known with another {other}", game.name)))
}

/// Requires every left-out record to be one that may be concealed (PM-28): nothing in a game without secrets, and in a
/// desk only what PM-23 conceals from a seat. Otherwise a forged desk could leave out the clock and other records that
/// its turns need, and obtain elements of a player's dice chain.
fn require_concealable(
    game: &BundledMatch,
    desk: &BundledMatch,
    history: &DeskHistory,
    registry: &Registry,
) -> Result<(), MailError> {
    let refused = |bundled: &BundledMatch, what: String| {
        MailError::Refused(format!(
            "{what} of `{}` is left out, where nothing can be concealed",
            bundled.name
        ))
    };
    let rules = recorded_rules(&game.genesis, registry).ok();
    let has_secrets = rules.is_none_or(|rules| rules.has_secrets());
    if let Some(branch) = game.branches.iter().find(|branch| branch.left_out > 0 && !has_secrets) {
        return Err(refused(game, format!("a record of branch `{}`", branch.name)));
    }
    if let Some(branch) = desk.branches.iter().find(|branch| branch.left_out > 0 && !branch.name.is_main()) {
        return Err(refused(desk, format!("a record of branch `{}`", branch.name)));
    }
    let (terms, commands) =
        (history.terms(), || history.entries().iter().map(|entry| (entry.seq, &entry.command)));
    let begun = commands().find(|(_, command)| matches!(command, Command::Stand { .. }));
    let is_over = commands().any(|(_, command)| match command {
        Command::Stand { seats, .. } => seats.as_slice().is_empty(),
        command => matches!(command, Command::Close { .. }),
    });
    // A position with a STATE reveals the orders of earlier turns; in a game without secrets every position does.
    let reveals = |command: &Command| match command {
        Command::Stand { state, .. } => terms.secret == Secret::Turn && (state.is_some() || !has_secrets),
        _ => false,
    };
    let revealed = commands().rfind(|(_, command)| reveals(command));
    // PM-41: messages to others are concealed forever. PM-42: orders ahead are concealed beyond the next turn.
    let is_replaced = |seat: &Seat| history.state().replacements(*seat) > 0;
    let may_be_press =
        terms.press && (terms.seats > 2 || Desk::players(history.state()).iter().any(is_replaced));
    let may_be_ahead = !terms.sealed && terms.hosted.is_empty() && terms.head.is_none();
    // PM-81: an order that another one replaced is concealed forever.
    let is_concealed = |seq: u64| {
        begun.is_some_and(|(begun, _)| begun < seq) && (may_be_press || terms.secret != Secret::No)
    };
    if let Some(seq) = history.left_out().iter().find(|seq| !is_concealed(**seq)) {
        return Err(refused(desk, format!("entry {seq}")));
    }
    let known =
        if is_over || terms.secret == Secret::No { Some(u64::MAX) } else { revealed.map(|(seq, _)| seq) };
    require_same(desk, history, known.filter(|_| !may_be_ahead))
}

/// PM-62, PM-81: requires the records up to `known` to follow from each other. Of these, only messages and replaced
/// orders can be left out, because they do not change the desk.
fn require_same(desk: &BundledMatch, history: &DeskHistory, known: Option<u64>) -> Result<(), MailError> {
    match history.first_unapplied() {
        Some(seq) if known.is_some_and(|known| seq <= known) => Err(MailError::Refused(format!(
            "entry {seq} of `{}` does not follow from the records before it, and only words and replaced orders can be left \
             out",
            desk.name
        ))),
        _ => Ok(()),
    }
}

/// Returns the checkpoints that the key remembers of the branches of a match.
fn trusted(memory: &KeyMemory, known: Option<&PlayerMemory>) -> Result<Vec<HeldCheckpoint>, MailError> {
    let mut held = Vec::new();
    for origin in known.map(|known| known.lines.as_slice()).unwrap_or_default() {
        let Some(note) = memory.note_of(origin)? else { continue };
        let checkpoint = note.text().parse()?;
        held.push(HeldCheckpoint { path: origin.into(), note, checkpoint });
    }
    Ok(held)
}

/// Reads the desk of a bundle, as far as it is shown.
fn read_desk(
    bundle: &BundleFile,
    index: usize,
    desk: &BundledMatch,
    terms: &desk::Setup,
) -> Result<DeskHistory, MailError> {
    let mut history = DeskHistory::start(terms, &desk.genesis.encode())?;
    let mut is_genesis = true;
    bundle.each(&mut |line, record| {
        if line == (index, 0) && !std::mem::take(&mut is_genesis) {
            history.take_record(&record);
        }
        Ok(())
    })?;
    Ok(history)
}

/// Returns the host's checkpoint on the whole of each branch. The audit requires one for each.
fn checkpoints(bundle: &BundleFile, policy: &TrustPolicy) -> Vec<(SignedNote, Checkpoint)> {
    let finder = BranchFinder::of(bundle.outline());
    let signed = bundle.outline().checkpoints.iter().filter_map(|note| {
        let checkpoint: Checkpoint = note.text().parse().ok()?;
        let is_whole = finder.size(finder.branch_of(&checkpoint.origin)?) == checkpoint.size;
        let is_signed = is_whole && policy.is_signed(note, &checkpoint.origin) == Ok(true);
        is_signed.then(|| (note.clone(), checkpoint))
    });
    signed.collect()
}
