//! What a letter reports: a part of desk and game, its bundle, what happened, and what a seat knows (PM-30, PM-31).

use std::collections::BTreeMap;

use turnfold_core::paper::{Paper, PaperContent, PaperLine, Press};
use turnfold_core::rules::desk::{Command, Effect};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{AnyState, Registry, Seat};
use turnfold_history::{History, LoggedRecord, MatchStanding, Revision, SeatHistory, Viewer};
use turnfold_proof::bundle::{BundleRecords, MatchPart, SeatRecords, StoreRecords, write_bundle};
use turnfold_proof::signing::Signers;
use turnfold_show::drawing::{Highlights, text};
use turnfold_store::{BranchName, MatchName, Seq, StoreReader};

use super::desk_history::{AppliedEntry, DeskHistory};
use super::game_turn::{GameTurn, OrderEnd, PlayedRules};
use super::letter_words::{COLUMNS, played, played_after, seats, time};
use super::pairing::MailMatch;
use crate::error::MailError;

pub(super) struct MailLogs<'a> {
    pub(super) store: &'a StoreReader,
    pub(super) registry: &'a Registry,
    pub(super) signers: &'a Signers,
    pub(super) pages: Option<&'a str>,
    pub(super) program: &'a str,
    pub(super) game: MailMatch,
    pub(super) desk: DeskHistory,
}

impl<'a> MailLogs<'a> {
    pub(super) fn read(
        store: &'a StoreReader,
        registry: &'a Registry,
        signers: &'a Signers,
        name: &MatchName,
    ) -> Result<Self, MailError> {
        let game = MailMatch::find(store, name, registry)?;
        let desk = DeskHistory::read(store, &game)?;
        Ok(Self { store, registry, signers, pages: None, program: "turnfold", game, desk })
    }

    pub(super) fn host_key(&self) -> Option<&PrivateKey> {
        self.signers.key_of(&self.game.terms.host.parse().ok()?)
    }

    pub(super) fn seat_bundle(&self, seat: Seat, size: u64) -> Result<Vec<u8>, MailError> {
        let records = LetterPart::of(self, size)?.records(self)?;
        self.signed_bundle(&SeatRecords::of(records, Viewer::of(seat), self.registry)?)
    }

    /// Writes the bundle for spectators, with both matches as of some turns ago; `None` while spectators see nothing
    /// (PM-31). It leaves out what any seat may not know now, even if it belongs to an earlier turn.
    pub(super) fn spectators_bundle(&self) -> Result<Option<Vec<u8>>, MailError> {
        let desk = &self.desk;
        let mut size = desk.size();
        if !desk.is_over_at(size) {
            let behind = usize::try_from(desk.terms().spectators).unwrap_or(usize::MAX);
            size = match desk.positions().nth_back(behind) {
                Some(position) if behind > 0 => position.seq.saturating_add(1),
                _ => return Ok(None),
            };
        }
        let now = LetterPart::of(self, desk.size())?.records(self)?;
        let seats = Seat::players(self.game.terms.seats.into());
        let viewers: Vec<_> = seats.iter().map(|seat| Viewer::of(*seat)).collect();
        let records = LetterPart::of(self, size)?.records(self)?;
        Ok(Some(self.signed_bundle(&SeatRecords::of_all(records, &now, &viewers, self.registry)?)?))
    }

    fn signed_bundle(&self, records: &dyn BundleRecords) -> Result<Vec<u8>, MailError> {
        let mut notes = Vec::new();
        for bundled in &records.outline().matches {
            for branch in &bundled.branches {
                let seq = Some(branch.size().saturating_sub(1));
                let revision =
                    Revision { match_name: bundled.name.clone(), branch: branch.name.clone(), seq };
                notes.push(self.signers.sign(self.store, &revision, None)?.note);
            }
        }
        let mut bytes = Vec::new();
        write_bundle(&mut bytes, records, notes)?;
        Ok(bytes)
    }
}

pub(super) struct LetterPart {
    size: u64,
    branches: BTreeMap<BranchName, Seq>,
    branch: BranchName,
}

impl LetterPart {
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

    fn seq(&self) -> Seq {
        self.branches.get(&self.branch).copied().unwrap_or(0)
    }

    fn records<'a>(&self, mail: &MailLogs<'a>) -> Result<StoreRecords<'a>, MailError> {
        let branches = self.branches.iter().map(|(branch, last)| (branch.clone(), *last)).collect();
        let game = MatchPart { name: mail.game.name.clone(), branches };
        let desk_branch = (BranchName::main(), self.size.saturating_sub(1));
        let desk = MatchPart { name: mail.game.desk.clone(), branches: vec![desk_branch] };
        Ok(StoreRecords::of_parts(mail.store, &[game, desk])?)
    }
}

const LEGAL_MAX: usize = 20;

pub(super) struct KnownGame {
    pub(super) picture: Vec<String>,
    pub(super) standing: MatchStanding,
    /// The entries that are new since the last letter, or show more now, in sentences.
    pub(super) news: Vec<String>,
    /// The first of the seat's legal commands, and how many more there are.
    pub(super) legal: Vec<String>,
    pub(super) more: usize,
    pub(super) went_back: bool,
    seat_history: SeatHistory,
}

impl KnownGame {
    pub(super) fn of(
        mail: &MailLogs<'_>,
        seat: Seat,
        size: u64,
        since: Option<u64>,
    ) -> Result<Self, MailError> {
        let part = LetterPart::of(mail, size)?;
        let viewer = Viewer::of(seat);
        let revision = mail.game.revision(&part.branch).at(part.seq());
        let history = History::of_branch(&revision, mail.store, mail.registry)?;
        let mut shared = 0;
        let mut went_back = false;
        if let Some(since) = since {
            let earlier = LetterPart::of(mail, since)?;
            shared = shared_entries(mail, &earlier, &part)?;
            went_back = earlier.branch != part.branch;
        }
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
        let standing = seat_history.standing()?;
        Ok(Self { picture, standing, news, legal, more, went_back, seat_history })
    }

    pub(super) fn after(&self, seat: Seat, plays: &[PaperLine]) -> Option<(Vec<String>, Vec<String>)> {
        let state = self.seat_history.state().ok()?;
        if !state.waits_for(seat) {
            return None;
        }
        let mut turn = GameTurn::without_dice(state.fork(), 0);
        let Ok(OrderEnd::Carried { played, .. }) = turn.order(seat, plays.iter().map(PaperLine::as_str))
        else {
            return None;
        };
        Some((played_after(state.as_ref(), &played, seat), drawn(&self.seat_history, turn.state())))
    }
}

/// Draws a state as a seat sees it, without a board that is too wide for a letter, because broken lines would be
/// unreadable. Words can be broken.
fn drawn(seat_history: &SeatHistory, state: &dyn AnyState) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text::lines(&seat_history.viewer().picture(state), &Highlights::default(), COLUMNS) {
        lines.push(line.spans.iter().map(|span| span.text.as_str()).collect());
    }
    let mut fitting: Vec<String> = Vec::new();
    for block in lines.split(String::is_empty) {
        if block.iter().any(|line| line.contains("__") && line.chars().count() > COLUMNS) {
            fitting.push("(The board is too wide for a letter.)".into());
        } else {
            fitting.extend_from_slice(block);
        }
        fitting.push(String::new());
    }
    fitting.pop();
    fitting
}

/// Returns the game as if the players before the seat had missed the deadline, to show what the seat's order may begin
/// with. `None` unless players are asked together and others play before the seat.
fn after_others(mail: &MailLogs<'_>, state: &dyn AnyState, seat: Seat) -> Option<Box<dyn AnyState>> {
    if !mail.game.terms.together || state.waits_for(seat) {
        return None;
    }
    let mut turn = GameTurn::without_dice(state.fork(), 0);
    for other in Seat::players(mail.game.terms.seats.into()) {
        if *other != seat && turn.state().waits_for(*other) && !turn.state().waits_for(seat) {
            turn.default(*other, PlayedRules::of(&mail.game.terms)).ok()?;
        }
    }
    if turn.state().waits_for(seat) { Some(turn.state().fork()) } else { None }
}

fn shared_entries(mail: &MailLogs<'_>, earlier: &LetterPart, part: &LetterPart) -> Result<Seq, MailError> {
    let to = earlier.seq().min(part.seq());
    if earlier.branch == part.branch {
        return Ok(to);
    }
    let one = mail.store.links(&mail.game.name, &earlier.branch, 0..=to)?;
    let other = mail.store.links(&mail.game.name, &part.branch, 0..=to)?;
    let mut same: Seq = 0;
    for (one, other) in one.iter().zip(&other) {
        if one != other {
            break;
        }
        same += 1;
    }
    Ok(same.saturating_sub(1))
}

/// Describes an entry for its reader. It reports that others sent orders, but never their content (PM-23).
pub(super) fn sentences(entry: &AppliedEntry, reader: Seat, zone: &str) -> Vec<String> {
    // PM-41: a message to the reader or by the reader.
    if let Some(press) = entry.press_to(reader)
        && entry.ignored.is_none()
    {
        return vec![press_in_words(entry.seat, press, reader)];
    }
    // PM-64: the receipt of an order.
    if let Some(PaperContent::Order(order)) = entry.command.paper().map(Paper::content)
        && entry.seat == reader
        && entry.ignored.is_none()
    {
        let mut sent = String::new();
        if let Command::Plain(plain) = &entry.command
            && let Some(at) = plain.sent_at()
        {
            sent = format!(" of {}", time(at, zone));
        }
        return vec![format!("Your order{sent} was received: {}.", PaperLine::joined(order.plays()))];
    }
    let mut sentences = effects_in_words(entry, reader, zone);
    // PM-21: all players read the reason.
    if let Command::Extend { grounds, .. }
    | Command::Close { grounds, .. }
    | Command::Replace { grounds, .. } = &entry.command
    {
        sentences.push(format!("The host writes: {}", String::from(grounds.clone())));
    }
    sentences
}

/// Describes the effects of an entry. With the host as reader, a player who took the seat over later may read them, too
/// (PM-106).
pub(super) fn effects_in_words(entry: &AppliedEntry, reader: Seat, zone: &str) -> Vec<String> {
    entry.effects.iter().filter_map(|effect| sentence_for(effect, reader, zone)).collect()
}

fn who(name: Seat, reader: Seat) -> String {
    if name == reader { "You".into() } else { name.name().into() }
}

fn whose(name: Seat, reader: Seat) -> String {
    if name == reader { "Your".into() } else { format!("{name}'s") }
}

fn have(name: Seat, reader: Seat) -> String {
    who(name, reader) + if name == reader { " have" } else { " has" }
}

pub(super) fn sentence_for(effect: &Effect, reader: Seat, zone: &str) -> Option<String> {
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
        Effect::Sealed { seat, .. } => format!("{} sealed an order.", have(*seat, reader)),
        Effect::Offered { seat, nth, offer, .. } => {
            format!("{} made offer {nth}: {offer}.", who(*seat, reader))
        }
        Effect::Agreed { seat, nth, .. } => format!("{} agreed to offer {nth}.", who(*seat, reader)),
        Effect::Declined { seat, nth, .. } => format!("{} declined offer {nth}.", who(*seat, reader)),
        Effect::Lapsed { seat, nth, .. } => format!("{} offer {nth} is closed.", whose(*seat, reader)),
        Effect::Missed { seat, misses: 1 } => format!("{} missed the deadline.", who(*seat, reader)),
        Effect::Missed { seat, misses } => {
            let nth = ordinal(*misses);
            format!("{} missed the deadline for the {nth} time in a row.", who(*seat, reader))
        }
        Effect::Gone { seat, number: Some(_) } => format!("{} resigned.", have(*seat, reader)),
        Effect::Gone { seat, number: None } => format!("{} left the match.", have(*seat, reader)),
        Effect::Carried { seat, .. } => format!("{} order was carried out.", whose(*seat, reader)),
        Effect::Refused { seat, code, .. } => {
            let whose = whose(*seat, reader).to_lowercase();
            format!("The game refused {whose} order: {}.", code.replace('_', " "))
        }
        Effect::Extended { until } => format!("The deadline moved to {}.", time(*until, zone)),
        Effect::Rekeyed { seat, name, .. } => format!("{} a new key: {name}.", have(*seat, reader)),
        Effect::Replaced { seat, name } => format!("{name} has taken over {seat}."),
        Effect::Over { result } => format!("The match is over: {}.", ending(result)),
        Effect::Absent { seat, until, .. } => {
            format!("{} announced an absence until {}.", have(*seat, reader), time(*until, zone))
        }
        Effect::Reminded { seats: reminded, until } => {
            format!("The host reminded {} of the deadline, {}.", seats(reminded, reader), time(*until, zone))
        }
        Effect::Pressed { seat, .. } => format!("{} wrote to players.", who(*seat, reader)),
        Effect::Ahead { seat, .. } if *seat == reader => "Your orders for later turns were received.".into(),
        // Another player need not know that an answer is ready (PM-122).
        Effect::Ahead { .. } | Effect::Clocked { .. } | Effect::Ready { .. } | Effect::Rolled { .. } => {
            return None;
        }
    })
}

fn press_in_words(by: Seat, press: &Press, reader: Seat) -> String {
    let to = press.to().seats();
    let to = if to.is_empty() { "all".into() } else { seats(to, reader) };
    let words: Vec<_> = press.words().iter().map(PaperLine::words).collect();
    format!("{} wrote to {to}: {}", who(by, reader), words.join(" "))
}

pub(super) fn ending(result: &str) -> String {
    match result {
        "played" => "it was played to its end".into(),
        "draw" => "a draw".into(),
        "void" => "it does not count".into(),
        winner => format!("{winner} wins"),
    }
}

fn ordinal(number: u32) -> String {
    const WORDS: [&str; 10] =
        ["0th", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
    if let Some(word) = usize::try_from(number).ok().and_then(|index| WORDS.get(index)) {
        return (*word).into();
    }
    match (number % 100, number % 10) {
        (11..=13, _) => format!("{number}th"),
        (_, 1) => format!("{number}st"),
        (_, 2) => format!("{number}nd"),
        (_, 3) => format!("{number}rd"),
        _ => format!("{number}th"),
    }
}
