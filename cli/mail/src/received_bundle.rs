//! A bundle as a player received it: audited against what the key remembers, and its desk and game read (PM-28).
//!
//! Orders of others may be left out. So what is said of the current turn comes only from records that are never left
//! out, unless the desk can be applied.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use turnfold_core::paper::{
    DeskTime, MatchId, Offer, OrdersAhead, Paper, PaperContent, PaperLine, SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::rules::desk::{self, Command, Desk, Missed, Secret};
use turnfold_core::text::number;
use turnfold_core::trust::{Checkpoint, SignedNote, TrustPolicy, VerifierKey};
use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Outcome, Registry, Rules, Seat};
use turnfold_history::{LogEntry, Revision, recorded_rules, rules_of};
use turnfold_proof::ProofError;
use turnfold_proof::audit::{AuditQuestion, AuditRow, HeldCheckpoint, RowName, RowResult};
use turnfold_proof::bundle::sizes::BranchFinder;
use turnfold_proof::bundle::{BundleFile, BundleRecords, BundledMatch};
use turnfold_proof::signing::KeyMemory;
use turnfold_store::Entry;

use super::audit::audit;
use super::desk_history::{DeskHistory, TurnRecord};
use super::game_turn::{GameTurn, OrderEnd};
use super::paper_form::{FoundPaper, MailedPaper};
use crate::error::MailError;

pub(super) struct PlayerMemory {
    host: VerifierKey,
    game: Digest,
    desk: Digest,
    pub(super) number: u32,
    pub(super) turn: u32,
    pub(super) origins: Vec<String>,
}

impl PlayerMemory {
    const TITLE: &str = "turnfold mail 1";
    const FILE: &str = "match";

    fn read(memory: &KeyMemory, folder: &str) -> Result<Option<Self>, MailError> {
        let Some(bytes) = memory.kept(folder, Self::FILE)? else { return Ok(None) };
        if let Ok(text) = str::from_utf8(&bytes)
            && let Some(known) = Self::parse(text)
        {
            return Ok(Some(known));
        }
        Err(MailError::Unusable(format!("the key's memory of `{folder}` is damaged")))
    }

    pub(super) fn write(&self, memory: &KeyMemory, folder: &str) -> Result<(), MailError> {
        let Self { host, game, desk, number, turn, origins } = self;
        let title = Self::TITLE;
        let mut text =
            format!("{title}\nhost {host}\ngame {game}\ndesk {desk}\nnumber {number}\nturn {turn}\n");
        for origin in origins {
            writeln!(text, "line {origin}").expect("writing to a string cannot fail");
        }
        Ok(memory.keep(folder, Self::FILE, text.as_bytes())?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(Self::TITLE)?.strip_prefix('\n')?.lines();
        let mut value = |word: &str| lines.next()?.strip_prefix(word)?.strip_prefix(' ');
        Some(Self {
            host: value("host")?.parse().ok()?,
            game: value("game")?.parse().ok()?,
            desk: value("desk")?.parse().ok()?,
            number: number(value("number")?).ok()?,
            turn: number(value("turn")?).ok()?,
            origins: lines.filter_map(|line| Some(line.strip_prefix("line ")?.to_owned())).collect(),
        })
    }
}

/// Keeps a sealed order until it is sent (PM-16).
pub(super) fn keep_order(memory: &KeyMemory, folder: &str, turn: u32, mail: &str) -> Result<(), MailError> {
    Ok(memory.keep(folder, &format!("order-{turn}"), mail.as_bytes())?)
}

pub(super) fn kept_order(
    memory: &KeyMemory,
    folder: &str,
    turn: u32,
) -> Result<Option<MailedPaper>, MailError> {
    let Some(bytes) = memory.kept(folder, &format!("order-{turn}"))? else { return Ok(None) };
    match MailedPaper::find(&bytes).pop() {
        Some(FoundPaper { paper: Ok(paper), .. }) => Ok(Some(paper)),
        _ => Err(MailError::Unusable(format!("the sealed order of turn {turn} is damaged"))),
    }
}

pub(super) struct ReceivedBundle<'a> {
    bundle: BundleFile,
    registry: &'a Registry,
    game_index: usize,
    pub(super) game: BundledMatch,
    desk: BundledMatch,
    pub(super) terms: desk::Setup,
    pub(super) host: VerifierKey,
    pub(super) history: DeskHistory,
    /// The host's checkpoints that cover a whole branch.
    checkpoints: Vec<(SignedNote, Checkpoint)>,
    /// The current turn: how many positions are recorded, the last of them, and the clock when it was recorded.
    pub(super) turn: u32,
    pub(super) position: Option<TurnRecord>,
    since: Option<DeskTime>,
    pub(super) clock: Option<DeskTime>,
}

pub(super) struct MailPair {
    pub(super) game: usize,
    pub(super) desk: usize,
    terms: desk::Setup,
    pub(super) host: VerifierKey,
}

impl<'a> ReceivedBundle<'a> {
    pub(super) fn open(
        path: &Path,
        memory: &KeyMemory,
        registry: &'a Registry,
    ) -> Result<(Self, Option<PlayerMemory>), MailError> {
        let bundle = match BundleFile::read(path) {
            Ok(bundle) => bundle,
            Err(error @ ProofError::Malformed { .. }) => {
                return Err(MailError::Refused(format!("bytes: {error}")));
            }
            Err(error) => return Err(error.into()),
        };
        let MailPair { game: game_index, desk: desk_index, terms, host } = pair(&bundle)?;
        let matches = &bundle.outline().matches;
        let Some(game) = matches.get(game_index).cloned() else { return Err(no_match()) };
        let Some(desk) = matches.get(desk_index).cloned() else { return Err(no_match()) };
        let known = PlayerMemory::read(memory, &folder_of(&game))?;
        let mut held = Vec::new();
        if let Some(known) = &known {
            require_known(known, &game, &desk, &host)?;
            for origin in &known.origins {
                if let Some(note) = memory.note_of(origin)? {
                    let checkpoint = note.text().parse()?;
                    held.push(HeldCheckpoint { path: origin.into(), note, checkpoint });
                }
            }
        }
        let policy = policy_of(&host)?;
        let question =
            AuditQuestion { policy: Some(&policy), held: &held, registry, accepts_brought_rules: false };
        if let Some(AuditRow { row, reason, .. }) = failed_row(&bundle, question)? {
            return Err(MailError::Refused(format!("the bundle fails the audit: {row}: {reason}")));
        }
        let mut history = DeskHistory::start(&terms, &desk.genesis.encode())?;
        let mut is_genesis = true;
        bundle.each(&mut |branch, record| {
            if branch == (desk_index, 0) && !std::mem::take(&mut is_genesis) {
                history.take_record(&record);
            }
            Ok(())
        })?;
        require_concealable(&game, &desk, &history, registry)?;
        let mut received = Self {
            checkpoints: checkpoints(&bundle, &policy),
            bundle,
            registry,
            game_index,
            game,
            desk,
            terms,
            host,
            history,
            turn: 0,
            position: None,
            since: None,
            clock: None,
        };
        for entry in received.history.entries() {
            if let Command::Clock(at) = &entry.command {
                received.clock = Some(*at);
            }
            if let Some(position) = entry.position() {
                received.turn = received.turn.saturating_add(1);
                received.position = Some(position);
                received.since = received.clock;
            }
        }
        Ok((received, known))
    }

    pub(super) fn new_memory(&self) -> PlayerMemory {
        let game = self.game.genesis.link();
        let desk = self.desk.genesis.link();
        PlayerMemory { host: self.host.clone(), game, desk, number: 0, turn: 0, origins: Vec::new() }
    }

    pub(super) fn folder(&self) -> String {
        folder_of(&self.game)
    }

    pub(super) fn accept(&self, memory: &KeyMemory) -> Result<Vec<String>, MailError> {
        let mut origins = Vec::new();
        for (note, checkpoint) in &self.checkpoints {
            memory.accept(note, checkpoint)?;
            origins.push(checkpoint.origin.clone());
        }
        Ok(origins)
    }

    pub(super) fn seen(&self) -> Result<SeenRoot, MailError> {
        let size = self.history.size();
        Ok(SeenRoot { size, root: self.history.root(size).ok_or_else(no_match)? })
    }

    pub(super) fn papers(&self) -> impl Iterator<Item = (u64, &SignedPaper)> {
        self.history.entries().iter().filter_map(|entry| Some((entry.seq, entry.paper()?)))
    }

    pub(super) fn taken_seats(&self) -> Vec<(Seat, String)> {
        let mut taken = Vec::new();
        for (_, signed) in self.papers() {
            if let PaperContent::Join(join) = signed.paper().content() {
                taken.push((signed.paper().head().seat, join.key.name().to_string()));
            }
        }
        taken
    }

    pub(super) fn seat_of(&self, key: &SeatKey) -> Option<(Seat, bool)> {
        for (_, signed) in self.papers() {
            let seat = signed.paper().head().seat;
            match signed.paper().content() {
                // The host cannot have forged what the key itself signed.
                PaperContent::Join(join) if join.key == *key && signed.is_by(key) => {
                    return Some((seat, true));
                }
                PaperContent::Rekey(new) if new == key => return Some((seat, false)),
                PaperContent::Offer(Offer::Replace { seat, player }) if player.key() == Some(key) => {
                    return Some((*seat, false));
                }
                _ => {}
            }
        }
        // PM-60: the host may have given the seat to this key, alone or by an agreement.
        for entry in self.history.entries() {
            if let Command::Replace { seat, player, .. } = &entry.command
                && player.key() == Some(key)
            {
                return Some((*seat, false));
            }
        }
        None
    }

    /// Returns `true` for a seat that must seal before it orders (PM-16).
    pub(super) fn must_seal(&self, seat: Seat) -> bool {
        let Some(position) = &self.position else { return false };
        let seats = &position.seats;
        seats.len() >= 2 && seats.contains(&seat) && (self.terms.sealed || self.terms.hosted.contains(&seat))
    }

    /// Returns the seats that must seal and have not, unless they have missed the deadline. If the desk could not be
    /// applied, a seat counts as having missed the deadline only if that is certain.
    pub(super) fn owing_seals(&self, reader: Seat) -> Vec<Seat> {
        let Some(position) = &self.position else { return Vec::new() };
        // A record that is left out is an order of another seat, and no order counts while a seal is owed. So it
        // changes nothing here if it comes after the position; before the position it may.
        let is_known = match (self.history.left_out().first(), self.history.position()) {
            (Some(first), Some(known)) => known.seq < *first,
            (first, _) => first.is_none(),
        };
        if is_known && self.history.first_unapplied().is_none() {
            return self.history.state().awaited_seals();
        }
        if self.terms.missed != Missed::Wait && self.clock >= self.deadline(position, reader) {
            return Vec::new();
        }
        let mut owing = position.seats.clone();
        owing.retain(|seat| self.must_seal(*seat));
        for (seq, signed) in self.papers() {
            let head = signed.paper().head();
            let content = signed.paper().content();
            let is_seal = matches!(content, PaperContent::Seal { link, .. } if *link == position.link);
            if seq > position.seq && is_seal && head.turn == self.turn {
                owing.retain(|seat| *seat != head.seat);
            }
        }
        owing
    }

    pub(super) fn offers(&self, digits: &str) -> Vec<Digest> {
        let mut offers = Vec::new();
        for entry in self.history.entries() {
            if let Some(paper) = entry.command.paper()
                && paper.head().turn == self.turn
                && matches!(paper.content(), PaperContent::Offer(_))
                && paper.digest().to_string().starts_with(digits)
            {
                offers.push(paper.digest());
            }
        }
        offers
    }

    /// Returns the latest deadline that the turn may have had. An offer to move it needs the reader's consent or, if
    /// the reader made it, the consent of another seat.
    fn deadline(&self, position: &TurnRecord, reader: Seat) -> Option<DeskTime> {
        let mut latest = self.since.map(|since| since.after_hours(self.terms.hours));
        for entry in self.history.entries() {
            let mut until = None;
            if let Command::Extend { until: agreed, .. } = &entry.command {
                until = Some(*agreed);
            }
            if let Command::Paper(signed) = &entry.command
                && let PaperContent::Offer(Offer::Extend(offered)) = signed.paper().content()
                && self.may_be_agreed(signed.paper(), reader)
            {
                until = Some(*offered);
            }
            if entry.seq > position.seq {
                latest = latest.max(until);
            }
            // PM-39: the deadline may wait for any absence.
            if let Some(PaperContent::Absent(until)) = entry.command.paper().map(Paper::content) {
                latest = latest.max(Some(until.after_hours(self.terms.hours)));
            }
        }
        latest
    }

    fn may_be_agreed(&self, offer: &Paper, reader: Seat) -> bool {
        let answer = PaperContent::Answer { to: offer.digest(), agree: true };
        for (_, signed) in self.papers() {
            let by = signed.paper().head().seat;
            if *signed.paper().content() == answer && (by == reader || offer.head().seat == reader) {
                return true;
            }
        }
        false
    }

    fn game_at(&self, position: &TurnRecord) -> Result<Option<Box<dyn AnyState>>, MailError> {
        let game = &self.game;
        let index = match game.branches.iter().position(|branch| branch.name == position.branch) {
            Some(index) if !game.left_out(index) => index,
            _ => return Ok(None),
        };
        let branch = position.branch.clone();
        let revision = Revision { match_name: game.name.clone(), branch, seq: None };
        let rules = rules_of(&game.genesis, &revision, self.registry)?;
        let mut state = rules.start(&game.genesis.setup)?;
        let entries = self.entries(index, position.game_seq)?;
        state.fold(&LogEntry::stored(&entries), &game.genesis.dice, &mut |_| {})?;
        Ok(Some(state))
    }

    fn entries(&self, branch: usize, to: u64) -> Result<Vec<Entry>, MailError> {
        let finder = BranchFinder::of(self.bundle.outline());
        let parts: BTreeMap<_, _> =
            finder.parts((self.game_index, branch), to.saturating_add(1)).into_iter().collect();
        let mut entries = Vec::new();
        self.bundle.each(&mut |branch, record| {
            if let Some(size) = parts.get(&branch)
                && let Ok(Some(entry)) = record.entry()
                && entry.seq < *size
            {
                entries.push(entry);
            }
            Ok(())
        })?;
        entries.sort_by_key(|entry| entry.seq);
        Ok(entries)
    }

    /// Reads a seat's lines of replies, which begin after its order if it is asked (PM-123).
    pub(super) fn read_lines(
        &self,
        position: &TurnRecord,
        order: (Seat, &[PaperLine]),
        lines: &[String],
    ) -> Result<OrdersAhead, MailError> {
        let Some(state) = self.game_at(position)? else {
            return Err(MailError::Refused("the bundle does not show all of the game".into()));
        };
        let ahead = GameTurn::ahead(state.as_ref(), order, BTreeMap::new(), lines, |text| vec![text.into()]);
        ahead.map_err(MailError::Refused)
    }

    /// Reads commands in the states in which they would be played, and returns them as the game would record them.
    /// After a roll, and after a command that the game rejects, they stay as the player wrote them.
    pub(super) fn read_plays(
        &self,
        position: &TurnRecord,
        seat: Seat,
        plays: &[PaperLine],
    ) -> Result<Vec<PaperLine>, MailError> {
        let mut game = self.game_at(position)?.filter(|state| state.waits_for(seat));
        let mut read = Vec::new();
        for play in plays {
            let Some(state) = &mut game else {
                read.push(play.clone());
                continue;
            };
            let text = state.read(play.as_str()).unwrap_or_default();
            read.push(text.parse().unwrap_or_else(|_| play.clone()));
            let entry = Logged { seq: position.game_seq, seat, command: CommandSource::Text(&text) };
            if state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).is_err() {
                game = None;
            }
        }
        Ok(read)
    }

    /// Tries commands as the host would play them, up to a roll. Returns which of them would change nothing, and why;
    /// none if others have to play before the seat.
    pub(super) fn try_plays(
        &self,
        position: &TurnRecord,
        seat: Seat,
        plays: &[PaperLine],
    ) -> Result<Vec<String>, MailError> {
        let mut idle = Vec::new();
        let Some(state) = self.game_at(position)? else { return Ok(idle) };
        if !state.waits_for(seat) {
            return Ok(idle);
        }
        let mut turn = GameTurn::without_dice(state, position.game_seq);
        match turn.order(seat, plays.iter().map(PaperLine::as_str)) {
            Ok(OrderEnd::Refused(rejected)) => {
                let why = format!("{}: {}", rejected.code, rejected.message);
                return Err(MailError::Refused(format!("the game would refuse the order: {why}")));
            }
            Ok(OrderEnd::Carried { played, .. }) => {
                for record in played {
                    let Outcome::Ignored(code) = &record.outcome else { continue };
                    let mut fault = format!("`{}` would change nothing: {}", record.command, code.as_str());
                    if let Some(message) = record.message {
                        fault.extend([", ", &message]);
                    }
                    idle.push(fault);
                }
            }
            Err(_) => {}
        }
        Ok(idle)
    }
}

pub(super) fn policy_of(host: &VerifierKey) -> Result<TrustPolicy, MailError> {
    let policy = TrustPolicy::read(&format!("log {host}\nquorum none\n"));
    policy.map_err(|error| MailError::Unusable(error.to_string()))
}

/// Audits a bundle. Returns the first row that makes it unusable: one that fails, or `signature` unless it passes.
pub(super) fn failed_row(
    bundle: &BundleFile,
    question: AuditQuestion<'_>,
) -> Result<Option<AuditRow>, MailError> {
    for row in audit(bundle, question)? {
        let must_pass = row.row == RowName::Signature;
        if row.result == RowResult::Fail || must_pass && row.result != RowResult::Pass {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn no_match() -> MailError {
    MailError::Refused("the bundle holds no match by mail: a game and its desk".into())
}

fn folder_of(game: &BundledMatch) -> String {
    format!("mail-{}", MatchId::new(game.genesis.match_id))
}

pub(super) fn pair(bundle: &BundleFile) -> Result<MailPair, MailError> {
    let matches = &bundle.outline().matches;
    let mut pairs = Vec::new();
    for (desk, bundled) in matches.iter().enumerate() {
        let genesis = &bundled.genesis;
        if genesis.ruleset != Desk::NAME {
            continue;
        }
        let Ok(terms) = desk::Setup::decode(genesis.ruleset_version, &genesis.setup) else { continue };
        let Ok(host) = terms.host.parse() else { continue };
        let game = matches.iter().position(|bundled| {
            terms.match_id == MatchId::new(bundled.genesis.match_id).to_string()
                && terms.game == bundled.genesis.link().to_string()
        });
        if let Some(game) = game {
            pairs.push(MailPair { game, desk, terms, host });
        }
    }
    match pairs.pop() {
        Some(found) if pairs.is_empty() => Ok(found),
        _ => Err(no_match()),
    }
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
    let has_secrets = match recorded_rules(&game.genesis, registry) {
        Ok(rules) => rules.has_secrets(),
        Err(_) => true,
    };
    for branch in &game.branches {
        if branch.left_out > 0 && !has_secrets {
            return Err(missing(game, &format!("a record of branch `{}`", branch.name)));
        }
    }
    for branch in &desk.branches {
        if branch.left_out > 0 && !branch.name.is_main() {
            return Err(missing(desk, &format!("a record of branch `{}`", branch.name)));
        }
    }
    let terms = history.terms();
    let mut begun = u64::MAX;
    let mut is_over = false;
    let mut revealed = None;
    for entry in history.entries() {
        match &entry.command {
            Command::Stand { state, seats, .. } => {
                begun = begun.min(entry.seq);
                is_over |= seats.as_slice().is_empty();
                // A position with a STATE reveals the orders of earlier turns; in a game without secrets every
                // position does.
                if terms.secret == Secret::Turn && (state.is_some() || !has_secrets) {
                    revealed = Some(entry.seq);
                }
            }
            Command::Close { .. } => is_over = true,
            _ => {}
        }
    }
    // PM-41: messages to others are concealed forever. PM-42: orders ahead are concealed beyond the next turn.
    let players = Desk::players(history.state());
    let has_replaced = players.iter().any(|seat| history.state().replacements(*seat) > 0);
    let may_be_press = terms.press && (terms.seats > 2 || has_replaced);
    let may_be_ahead = !terms.sealed && terms.hosted.is_empty() && terms.head.is_none();
    // PM-81: an order that another one replaced is concealed forever.
    let may_conceal = may_be_press || terms.secret != Secret::No;
    for seq in history.left_out() {
        if !may_conceal || begun >= *seq {
            return Err(missing(desk, &format!("entry {seq}")));
        }
    }
    // PM-62, PM-81: the records up to `known` follow from each other. Of these, only messages and replaced orders can
    // be left out, because they do not change the desk.
    let known = if is_over || terms.secret == Secret::No { Some(u64::MAX) } else { revealed };
    match history.first_unapplied() {
        Some(seq) if !may_be_ahead && Some(seq) <= known => Err(MailError::Refused(format!(
            "entry {seq} of `{}` does not follow from the records before it, and only words and replaced orders can be left \
             out",
            desk.name
        ))),
        _ => Ok(()),
    }
}

fn missing(bundled: &BundledMatch, what: &str) -> MailError {
    MailError::Refused(format!("{what} of `{}` is left out, where nothing can be concealed", bundled.name))
}

/// Returns the host's checkpoint on the whole of each branch. The audit requires one for each.
fn checkpoints(bundle: &BundleFile, policy: &TrustPolicy) -> Vec<(SignedNote, Checkpoint)> {
    let finder = BranchFinder::of(bundle.outline());
    let mut signed = Vec::new();
    for note in &bundle.outline().checkpoints {
        let checkpoint: Result<Checkpoint, _> = note.text().parse();
        if let Ok(checkpoint) = checkpoint
            && let Some(branch) = finder.branch_of(&checkpoint.origin)
            && finder.size(branch) == checkpoint.size
            && policy.is_signed(note, &checkpoint.origin) == Ok(true)
        {
            signed.push((note.clone(), checkpoint));
        }
    }
    signed
}
