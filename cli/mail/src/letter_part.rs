//! What a letter reports: a part of desk and game, its bundle, what happened, and what a seat knows (PM-30, PM-31).

use std::collections::BTreeMap;

use turnfold_core::paper::{Paper, PaperContent, PaperLine, Press};
use turnfold_core::rules::desk::{Command, Effect};
use turnfold_core::trust::SignedNote;
use turnfold_core::{AnyState, Registry, Seat};
use turnfold_history::{History, LoggedRecord, MatchStanding, Revision, SeatHistory, Viewer};
use turnfold_proof::bundle::{BundleRecords, MatchPart, SeatRecords, StoreRecords, write_bundle};
use turnfold_proof::signing::Signers;
use turnfold_show::drawing::{Highlights, text};
use turnfold_store::{BranchName, MatchName, Seq, StoreReader};

use super::desk_history::DeskHistory;
use super::desk_turn::AppliedEntry;
use super::game_turn::{GameTurn, OrderEnd, PlayedRules};
use super::letter_words::{played, played_after, seat, seats, time};
use super::pairing::MailMatch;
use crate::error::MailError;

/// A game and its desk, read to write letters.
pub(super) struct MailLogs<'a> {
    pub(super) store: &'a StoreReader,
    pub(super) registry: &'a Registry,
    pub(super) game: MailMatch,
    pub(super) desk: DeskHistory,
}

impl<'a> MailLogs<'a> {
    /// Reads the desk of a game.
    pub(super) fn read(
        store: &'a StoreReader,
        registry: &'a Registry,
        name: &MatchName,
    ) -> Result<Self, MailError> {
        let game = MailMatch::find(store, name, registry)?;
        let desk = DeskHistory::read(store, &game)?;
        Ok(Self { store, registry, game, desk })
    }
}

/// The first records of the desk, and the branches of the game that they name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LetterPart {
    /// The number of records of the desk.
    pub(super) size: u64,
    /// The branches of the game, and the last entry of each.
    pub(super) branches: BTreeMap<BranchName, Seq>,
    /// The branch of the position.
    pub(super) branch: BranchName,
}

impl LetterPart {
    /// Finds the part of a match up to `size` records of its desk.
    ///
    /// If the match is over, the part has everything that was played.
    pub(super) fn of(mail: &MailLogs<'_>, size: u64) -> Result<Self, MailError> {
        let mut branches = BTreeMap::new();
        let mut branch = BranchName::main();
        for position in mail.desk.positions().take_while(|position| position.seq < size) {
            branch = position.branch.clone();
            branches.insert(branch.clone(), position.game_seq);
        }
        branches.entry(branch.clone()).or_insert(0);
        if mail.desk.is_over_at(size) {
            let head = mail.store.head(&mail.game.name, &branch)?;
            branches.insert(branch.clone(), head);
        }
        Ok(Self { size, branches, branch })
    }

    /// Returns the entry of the position.
    fn seq(&self) -> Seq {
        self.branches.get(&self.branch).copied().unwrap_or(0)
    }

    /// Lists the records of both matches.
    pub(super) fn records<'a>(&self, mail: &MailLogs<'a>) -> Result<StoreRecords<'a>, MailError> {
        let branches = self.branches.iter().map(|(branch, last)| (branch.clone(), *last)).collect();
        let game = MatchPart { name: mail.game.name.clone(), branches };
        let desk_branch = (BranchName::main(), self.size.saturating_sub(1));
        let desk = MatchPart { name: mail.game.desk.clone(), branches: vec![desk_branch] };
        Ok(StoreRecords::of_parts(mail.store, &[game, desk])?)
    }
}

/// Writes a bundle of these records, each branch signed at its end.
pub(super) fn signed_bundle(
    mail: &MailLogs<'_>,
    signers: &Signers,
    records: &dyn BundleRecords,
) -> Result<Vec<u8>, MailError> {
    let mut notes: Vec<SignedNote> = Vec::new();
    for bundled in &records.outline().matches {
        for branch in &bundled.branches {
            let seq = Some(branch.size().saturating_sub(1));
            let revision = Revision { match_name: bundled.name.clone(), branch: branch.name.clone(), seq };
            let signed = signers.sign(mail.store, &revision, None)?;
            notes.push(signed.note);
        }
    }
    let mut bytes = Vec::new();
    write_bundle(&mut bytes, records, notes)?;
    Ok(bytes)
}

/// Writes the bundle for spectators, with both matches as of some turns ago; `None` while spectators see nothing (PM-31).
///
/// It leaves out what any seat may not know now, even if it belongs to an earlier turn.
pub(super) fn spectators_bundle(
    mail: &MailLogs<'_>,
    signers: &Signers,
) -> Result<Option<Vec<u8>>, MailError> {
    let Some(size) = spectators_size(&mail.desk) else { return Ok(None) };
    let now = LetterPart::of(mail, mail.desk.size())?.records(mail)?;
    let seats = Seat::players(mail.game.terms.seats.into());
    let viewers: Vec<_> = seats.iter().map(|seat| Viewer::of(*seat)).collect();
    let records = LetterPart::of(mail, size)?.records(mail)?;
    let records = SeatRecords::of_all(records, &now, &viewers, mail.registry)?;
    signed_bundle(mail, signers, &records).map(Some)
}

/// Returns how many records of the desk spectators see.
fn spectators_size(desk: &DeskHistory) -> Option<u64> {
    if desk.is_over_at(desk.size()) {
        return Some(desk.size());
    }
    let behind = usize::try_from(desk.terms().spectators).ok().filter(|behind| *behind > 0)?;
    desk.positions().nth_back(behind).map(|position| position.seq.saturating_add(1))
}

const COLUMNS: usize = 72;
/// The most commands that a letter lists.
const LEGAL_MAX: usize = 20;

/// What a letter shows of the game: the picture, what is new, and what the seat may do.
pub(super) struct KnownGame {
    /// The lines of the picture.
    pub(super) picture: Vec<String>,
    /// The result or the turn of the game.
    pub(super) standing: MatchStanding,
    /// The entries that are new since the last letter, or show more now, in sentences.
    pub(super) news: Vec<String>,
    /// The first of the seat's legal commands.
    pub(super) legal: Vec<String>,
    /// How many more legal commands there are.
    pub(super) more: usize,
    /// Whether the game went back to an earlier turn since the last letter.
    pub(super) went_back: bool,
    seat_history: SeatHistory,
}

impl KnownGame {
    /// Finds what a seat knows at the end of a part, and what is new since an earlier part.
    pub(super) fn of(
        mail: &MailLogs<'_>,
        seat: Seat,
        part: &LetterPart,
        earlier: Option<&LetterPart>,
    ) -> Result<Self, MailError> {
        let viewer = Viewer::of(seat);
        let revision = mail.game.revision(&part.branch).at(part.seq());
        let history = History::of_branch(&revision, mail.store, mail.registry)?;
        let shared = earlier.map_or(Ok(0), |earlier| shared(mail, earlier, part))?;
        let before = SeatHistory::of(viewer, history.until(usize::try_from(shared).unwrap_or(usize::MAX)))?;
        let mut earlier_records = Vec::new();
        before.fold(&mut |seen| earlier_records.push(seen.logged_record()))?;
        let seat_history = SeatHistory::of(viewer, history)?;
        let mut records = Vec::new();
        let mut words = BTreeMap::new();
        seat_history.fold(&mut |seen| {
            words.insert(Some(seen.seq()), played(seen.step(), seat));
            records.push(seen.logged_record());
        })?;
        let news = LoggedRecord::news_since(&earlier_records, &records);
        let news = news.iter().filter_map(|logged| words.remove(&logged.record.seq)).collect();
        let state = seat_history.state()?;
        let after_others = after_others(mail, state.as_ref(), seat);
        let first = after_others.as_deref().unwrap_or(state.as_ref());
        let mut legal: Vec<_> = viewer.legal(first).into_iter().map(|(_, command)| command).collect();
        let more = legal.len().saturating_sub(LEGAL_MAX);
        legal.truncate(LEGAL_MAX);
        let picture = drawn(&seat_history, state.as_ref());
        let went_back = earlier.is_some_and(|earlier| earlier.branch != part.branch);
        let standing = seat_history.standing()?;
        Ok(Self { picture, standing, news, legal, more, went_back, seat_history })
    }

    /// Returns what an order of the seat does, in sentences, and the picture of the game after it; `None` if others
    /// play first or a roll decides.
    pub(super) fn after(&self, seat: Seat, plays: &[PaperLine]) -> Option<(Vec<String>, Vec<String>)> {
        let state = self.seat_history.state().ok().filter(|state| state.waits_for(seat))?;
        let mut turn = GameTurn::without_dice(state.fork(), 0);
        match turn.order(seat, plays.iter().map(PaperLine::as_str)) {
            Ok(OrderEnd::Carried { played, .. }) => {
                Some((played_after(state.as_ref(), &played, seat), drawn(&self.seat_history, turn.state())))
            }
            _ => None,
        }
    }
}

/// Draws a state as a seat sees it.
fn drawn(seat_history: &SeatHistory, state: &dyn AnyState) -> Vec<String> {
    let drawn = text::lines(&seat_history.viewer().picture(state), &Highlights::default(), COLUMNS);
    let drawn = drawn.iter().map(|line| line.spans.iter().map(|span| span.text.as_str()).collect());
    fitting(&drawn.collect::<Vec<String>>())
}

/// Returns the game as if the players before the seat had missed the deadline, to show what the seat's order may begin
/// with. `None` unless players are asked together and others play before the seat.
fn after_others(mail: &MailLogs<'_>, state: &dyn AnyState, seat: Seat) -> Option<Box<dyn AnyState>> {
    if !mail.game.terms.together || state.waits_for(seat) {
        return None;
    }
    let mut turn = GameTurn::without_dice(state.fork(), 0);
    let players = Seat::players(mail.game.terms.seats.into());
    for other in players.iter().filter(|other| **other != seat) {
        if turn.state().waits_for(*other) && !turn.state().waits_for(seat) {
            turn.default(*other, PlayedRules::of(&mail.game.terms)).ok()?;
        }
    }
    turn.state().waits_for(seat).then(|| turn.state().fork())
}

/// Returns how many entries the histories of two parts have in common.
fn shared(mail: &MailLogs<'_>, earlier: &LetterPart, part: &LetterPart) -> Result<Seq, MailError> {
    let to = earlier.seq().min(part.seq());
    if earlier.branch == part.branch {
        return Ok(to);
    }
    let links = |line| mail.store.links(&mail.game.name, line, 0..=to);
    let one = links(&earlier.branch)?;
    let other = links(&part.branch)?;
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    Ok(Seq::try_from(same).unwrap_or(Seq::MAX).saturating_sub(1))
}

/// Replaces a board that is too wide for a letter, because broken lines would be unreadable.
fn fitting(lines: &[String]) -> Vec<String> {
    // Words can be broken, a drawing cannot.
    let is_too_wide = |line: &String| line.contains("__") && line.chars().count() > COLUMNS;
    let mut fitting: Vec<String> = Vec::new();
    for block in lines.split(String::is_empty) {
        if block.iter().any(is_too_wide) {
            fitting.push("(The board is too wide for a letter.)".into());
        } else {
            fitting.extend_from_slice(block);
        }
        fitting.push(String::new());
    }
    fitting.pop();
    fitting
}

/// Describes an entry for its reader. It reports that others sent orders, but never their content (PM-23).
pub(super) fn sentences(entry: &AppliedEntry, reader: Seat, zone: &str) -> Vec<String> {
    // PM-41: a message to the reader or by the reader.
    if let Some(press) = entry.press_to(reader).filter(|_| entry.ignored.is_none()) {
        return vec![press_in_words(entry.seat, press, reader)];
    }
    // PM-64: the receipt of an order.
    if let Some(PaperContent::Order(order)) = entry.command.paper().map(Paper::content)
        && entry.seat == reader
        && entry.ignored.is_none()
    {
        let sent = match &entry.command {
            Command::Plain(plain) => plain.sent_at().map(|sent| format!(" of {}", time(sent, zone))),
            _ => None,
        };
        return vec![format!(
            "Your order{} was received: {}.",
            sent.unwrap_or_default(),
            PaperLine::joined(order.plays())
        )];
    }
    let mut sentences: Vec<String> =
        entry.effects.iter().filter_map(|effect| sentence_for(effect, reader, zone)).collect();
    // PM-21: all players read the reason.
    if let Command::Extend { grounds, .. }
    | Command::Close { grounds, .. }
    | Command::Replace { grounds, .. } = &entry.command
    {
        sentences.push(format!("The host writes: {}", String::from(grounds.clone())));
    }
    sentences
}

/// Describes an entry for a player who took the seat over later, without messages to the player before (PM-106).
pub(super) fn public_sentences(entry: &AppliedEntry, zone: &str) -> Vec<String> {
    entry.effects.iter().filter_map(|effect| sentence_for(effect, Seat::Host, zone)).collect()
}

pub(super) fn sentence_for(effect: &Effect, reader: Seat, zone: &str) -> Option<String> {
    let who = |name: &Seat| {
        let name = seat(*name, reader);
        if name == "you" { "You".to_owned() } else { name }
    };
    let whose = |name: &Seat| if *name == reader { "Your".to_owned() } else { format!("{name}'s") };
    let have = |name: &Seat| if *name == reader { "have" } else { "has" };
    Some(match effect {
        Effect::Joined { seat, name } => format!("{name} has joined as {seat}."),
        Effect::Complete => "All seats are taken.".into(),
        // The match is over.
        Effect::Stood { seats, .. } if seats.is_empty() => return None,
        Effect::Stood { turn, until, .. } => {
            format!("Turn {turn} began. Its deadline is {}.", time(*until, zone))
        }
        Effect::Ordered { seat, .. } if *seat == reader => {
            "The order that you gave for this turn ahead is in.".into()
        }
        Effect::Ordered { seat, .. } => format!("{seat} sent an order."),
        Effect::Sealed { seat, .. } => format!("{} {} sealed an order.", who(seat), have(seat)),
        Effect::Offered { seat, nth, offer, .. } => format!("{} made offer {nth}: {offer}.", who(seat)),
        Effect::Agreed { seat, nth, .. } => format!("{} agreed to offer {nth}.", who(seat)),
        Effect::Declined { seat, nth, .. } => format!("{} declined offer {nth}.", who(seat)),
        Effect::Lapsed { seat, nth, .. } => format!("{} offer {nth} is closed.", whose(seat)),
        Effect::Missed { seat, misses: 1 } => format!("{} missed the deadline.", who(seat)),
        Effect::Missed { seat, misses } => {
            format!("{} missed the deadline for the {} time in a row.", who(seat), ordinal(*misses))
        }
        Effect::Gone { seat, number: Some(_) } => format!("{} {} resigned.", who(seat), have(seat)),
        Effect::Gone { seat, number: None } => format!("{} {} left the match.", who(seat), have(seat)),
        Effect::Carried { seat, .. } => format!("{} order was carried out.", whose(seat)),
        Effect::Refused { seat, code, .. } => {
            format!("The game refused {} order: {}.", whose(seat).to_lowercase(), code.replace('_', " "))
        }
        Effect::Extended { until } => format!("The deadline moved to {}.", time(*until, zone)),
        Effect::Rekeyed { seat, name, .. } => format!("{} {} a new key: {name}.", who(seat), have(seat)),
        Effect::Replaced { seat, name } => format!("{name} has taken over {seat}."),
        Effect::Over { result } => format!("The match is over: {}.", ending(result)),
        Effect::Absent { seat, until, .. } => {
            format!("{} {} announced an absence until {}.", who(seat), have(seat), time(*until, zone))
        }
        Effect::Reminded { seats: reminded, until } => {
            format!("The host reminded {} of the deadline, {}.", seats(reminded, reader), time(*until, zone))
        }
        Effect::Pressed { seat, .. } => format!("{} wrote to players.", who(seat)),
        Effect::Ahead { seat, .. } if *seat == reader => "Your orders for later turns were received.".into(),
        // Another player need not know that an answer is ready (PM-122).
        Effect::Ahead { .. } | Effect::Clocked { .. } | Effect::Ready { .. } | Effect::Rolled { .. } => {
            return None;
        }
    })
}

/// Writes the message of a player.
fn press_in_words(by: Seat, press: &Press, reader: Seat) -> String {
    let to = press.to().seats();
    let to = if to.is_empty() { "all".into() } else { seats(to, reader) };
    let by = if by == reader { "You".into() } else { seat(by, reader) };
    let words: Vec<_> = press.words().iter().map(PaperLine::words).collect();
    format!("{by} wrote to {to}: {}", words.join(" "))
}

/// Describes how a match ended.
pub(super) fn ending(result: &str) -> String {
    match result {
        "played" => "it was played to its end".into(),
        "draw" => "a draw".into(),
        "void" => "it does not count".into(),
        winner => format!("{winner} wins"),
    }
}

/// Writes `second`, `third` or `21st`.
fn ordinal(number: u32) -> String {
    const WORDS: [&str; 9] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
    let word = number.checked_sub(1).and_then(|index| WORDS.get(usize::try_from(index).ok()?));
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    word.map_or_else(|| format!("{number}{end}"), |word| (*word).into())
}
