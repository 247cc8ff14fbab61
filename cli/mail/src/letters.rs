//! Letters to players and spectators: reports, answers to papers, and the spectators' bundle (PM-29 to PM-31); and how
//! letters are sent, each by a command (PM-36, PM-101).
//!
//! Every letter is a function of the logs of desk and game up to some record of the desk, and of the host's key. So a
//! run after an interruption writes the same letters, and none that the outbox has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::process::{Command, ExitStatus, Stdio};

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Effect;
use turnfold_core::{Registry, Seat};
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use super::answer_letter::{answers_to, malformed_in, unread_name};
use super::desk_history::DeskHistory;
use super::host::MailHost;
use super::letter::{Attachment, Letter, Thread, message_id_of};
use super::letter_part::MailLogs;
use super::outbox::{LetterName, Outbox, UnsentLetter};
use super::pairing::MailMatch;
use super::post_folder::{Addresses, former_player};
use super::post_office::TakenMail;
use super::seat_letter::SeatLetter;
use super::take::TakenPaper;
use super::take_plain::TakenReply;
use crate::error::MailError;

const ANSWERS_MAX: usize = 10;

/// Writes the letters of a match to its outbox, and sends them.
#[derive(Clone, Copy)]
pub struct MailRoom<'a> {
    /// The store with desk and game.
    pub store: &'a StoreReader,
    /// The known rulesets.
    pub registry: &'a Registry,
    /// The host's key, which signs what is sent.
    pub signers: &'a Signers,
    /// The players' addresses.
    pub addresses: &'a Addresses,
    /// The folder in which letters wait to be sent.
    pub outbox: &'a Outbox,
    /// The game.
    pub game: &'a MatchName,
    /// The public address of the service with the page of each seat; without it letters have no links (PM-70).
    pub pages: Option<&'a str>,
    /// The name of the program that players type, for the commands in letters.
    pub program: &'a str,
}

/// The letters of an outbox after an attempt to send them.
#[derive(Debug, Default)]
pub struct SendReport {
    /// The letters that were sent.
    pub sent: Vec<String>,
    /// The letters that were not sent, each with the cause.
    pub not_sent: Vec<(String, String)>,
    /// The letters that were written because a deadline moved.
    pub written: Vec<String>,
    /// What happened at the desk, if a deadline moved.
    pub effects: Vec<Effect>,
}

/// Gives a letter to a mailer. Returns the reason if the mailer did not take it.
pub type GiveLetter<'a> = dyn FnMut(&UnsentLetter) -> io::Result<Option<String>> + 'a;

/// Runs a shell command with a letter as its standard input. Its stderr is shown, its stdout is dropped.
///
/// # Errors
/// A letter that cannot be read, and a shell that cannot be run.
pub fn give_to_command(command: &str, letter: &UnsentLetter) -> io::Result<ExitStatus> {
    let mail = File::open(&letter.path)?;
    Command::new("sh").args(["-c", command]).stdin(mail).stdout(Stdio::null()).status()
}

/// Returns the reason if a mailer did not take a letter.
#[must_use]
pub fn why_not_given(command: &str, status: ExitStatus) -> Option<String> {
    if status.success() { None } else { Some(format!("`{command}` ended with {status}")) }
}

impl<'a> MailRoom<'a> {
    pub(super) fn logs(&self) -> Result<MailLogs<'a>, MailError> {
        let logs = MailLogs::read(self.store, self.registry, self.signers, self.game)?;
        Ok(MailLogs { pages: self.pages, program: self.program, ..logs })
    }

    /// Writes every due report that the outbox does not have, and the bundle for spectators. Returns the reports
    /// written now. Safe to repeat after an interruption.
    ///
    /// # Errors
    /// What cannot be read, signed or written.
    pub fn write_reports(&self) -> Result<Vec<LetterName>, MailError> {
        let mail = self.logs()?;
        self.keep_one_history(&mail.desk)?;
        let addresses = self.without_former_players(&mail.desk)?;
        let room = MailRoom { addresses: &addresses, ..*self };
        let mut reports = Vec::new();
        let mut last = BTreeMap::new();
        for Occasion { size, seats } in occasions(&mail.desk) {
            for seat in seats {
                let before = last.insert(seat, size);
                reports.push((LetterName::report(size, seat), before));
            }
        }
        if let Some(bundle) = mail.spectators_bundle()? {
            self.outbox.put_spectators(&bundle)?;
        }
        room.put(&mail, reports, |since, letter| {
            letter.report(*since)?;
            Ok(true)
        })
    }

    /// Writes the answers to the papers of a mail, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn write_answers(&self, papers: &[TakenPaper]) -> Result<Vec<LetterName>, MailError> {
        self.answer(&self.logs()?, papers)
    }

    /// PM-34: writes the answers to recorded papers, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn write_missing_answers(&self) -> Result<Vec<LetterName>, MailError> {
        let mail = self.logs()?;
        let recorded: Vec<_> = mail.desk.entries().iter().filter_map(TakenPaper::on_record).collect();
        self.answer(&mail, &recorded)
    }

    /// Writes the answers to a mail that was taken, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn answer_taken(&self, taken: &TakenMail) -> Result<Vec<LetterName>, MailError> {
        for noticed in taken.noticed.iter().chain(&taken.waiting) {
            self.outbox.note(noticed)?;
        }
        let mail = self.logs()?;
        if let Some(reply) = &taken.reply
            && let Some(seat) = reply.seat
        {
            // PM-105: a sender with another address than the seat's gets a copy.
            let mut addresses = self.addresses.clone();
            if let Some(from) = &taken.mail.from {
                addresses = addresses.with_copy(seat, from);
            }
            let room = MailRoom { addresses: &addresses, ..*self };
            let mut written = room.write_plain_answer(&mail, reply)?;
            written.extend(room.answer(&mail, &taken.papers)?);
            return Ok(written);
        }
        self.answer_unread(&mail, taken)
    }

    /// PM-43: writes the answer to the questions and faults of a mail with a reply code, unless the outbox has it.
    fn write_plain_answer(
        &self,
        mail: &MailLogs<'_>,
        reply: &TakenReply,
    ) -> Result<Vec<LetterName>, MailError> {
        let named = reply.letter(mail.desk.size()).map(|name| (name, reply));
        self.put(mail, named, |reply, letter| {
            letter.answer_reply(reply)?;
            // PM-93: the same mail is answered once, and mails without commands once in a turn.
            Ok(self.outbox.alike(letter.name)?.is_empty())
        })
    }

    /// Writes the answers to a mail without a reply code: to its papers or, if none can be read, one letter to the seat
    /// with the sender's address (PM-51).
    fn answer_unread(&self, mail: &MailLogs<'_>, taken: &TakenMail) -> Result<Vec<LetterName>, MailError> {
        let received = &taken.mail;
        let seat = self.addresses.seat_of(received.from.as_ref());
        let players = Seat::players(mail.game.terms.seats.into());
        let (Some(seat), Some(malformed)) = (seat, malformed_in(&taken.papers)) else {
            return self.answer(mail, &taken.papers);
        };
        if !players.contains(&seat) || received.notice.is_some() {
            return self.answer(mail, &taken.papers);
        }
        let name = unread_name(received, &malformed, seat, mail);
        self.put(mail, [(name, ())], |(), letter| {
            letter.answer_unread(received, &malformed);
            let count = self.outbox.count(seat, &letter.subject_line())?;
            Ok(count < ANSWERS_MAX && self.outbox.alike(name)?.is_empty())
        })
    }

    fn answer(&self, mail: &MailLogs<'_>, papers: &[TakenPaper]) -> Result<Vec<LetterName>, MailError> {
        self.put(mail, answers_to(papers, mail), |papers, letter| {
            letter.answer_papers(papers)?;
            // A paper that was not recorded may come again when the desk has another size.
            let line = letter.subject_line();
            Ok(!self.outbox.alike(letter.name)?.iter().any(|other| other.contains(&line)))
        })
    }

    /// Puts letters into the outbox, durably, unless it has them. `write` fills in a letter, and returns `false` if it
    /// is not needed. Returns the letters written now.
    pub(super) fn put<L>(
        &self,
        mail: &MailLogs<'_>,
        letters: impl IntoIterator<Item = (LetterName, L)>,
        write: impl Fn(&L, &mut SeatLetter<'_>) -> Result<bool, MailError>,
    ) -> Result<Vec<LetterName>, MailError> {
        let mut due = Vec::new();
        let mut sizes = BTreeSet::new();
        for (name, content) in letters {
            if !self.outbox.has(name)? {
                due.push((name, content));
                sizes.insert(name.desk_size);
            }
        }
        let reports = if due.is_empty() { Vec::new() } else { occasions(&mail.desk) };
        let states = mail.desk.states(&sizes);
        let mut written = Vec::new();
        for (name, content) in due {
            let Some(state) = states.get(&name.desk_size) else { continue };
            let mut letter = SeatLetter::new(mail, name, state);
            if write(&content, &mut letter)? && self.outbox.put(name, &self.eml(letter, &reports)?)? {
                written.push(name);
            }
        }
        self.outbox.sync()?;
        Ok(written)
    }

    fn eml(&self, letter: SeatLetter<'_>, reports: &[Occasion]) -> Result<String, MailError> {
        let mail = letter.mail;
        let subject = letter.full_subject();
        let bundle = mail.seat_bundle(letter.seat, letter.name.desk_size)?;
        let mut files = vec![Attachment { file_name: &letter.attached, bytes: &bundle, is_text: false }];
        let rules_name = format!("{}-rules.txt", mail.game.rules.name());
        if letter.has_rules {
            let bytes = mail.game.rules.rulebook().as_bytes();
            files.push(Attachment { file_name: &rules_name, bytes, is_text: true });
        }
        let mut thread = Thread::of(&mail.desk, letter.name, followed(reports, letter.name));
        thread.references.extend(letter.in_reply_to);
        // Before the first clock, the time at which the match was created.
        let created_at = DeskTime::of_unix_ms(mail.game.genesis.created_at_ms);
        let letter = Letter {
            route: self.addresses.route_to(letter.seat),
            subject: &subject,
            date: letter.state.clock().or(created_at),
            thread: &thread,
            text: letter.text.as_str(),
            attached: &files,
        };
        Ok(letter.to_eml())
    }

    /// PM-106: removes the address of a replaced player from `addresses`, once, if the newest letter before the
    /// replacement went there. The letters of the new player wait until the host enters an address.
    fn without_former_players(&self, desk: &DeskHistory) -> Result<Addresses, MailError> {
        let mut addresses = self.addresses.clone();
        for entry in desk.entries() {
            let Some(seat) = entry.effects.iter().find_map(newcomer) else { continue };
            let Some(address) = addresses.of(seat) else { continue };
            let last = self.outbox.last_to(seat, entry.seq)?.unwrap_or_default();
            let is_former = last.contains(&format!("\r\nTo: {address}\r\n"));
            if self.outbox.retire_address(seat, &former_player(seat, entry.seq), is_former)? {
                addresses = addresses.without(seat);
            }
        }
        Ok(addresses)
    }

    /// PM-102: letters of a history that the store has lost count as never written.
    fn keep_one_history(&self, desk: &DeskHistory) -> Result<(), MailError> {
        Ok(self.outbox.keep_one_history(desk, |name, text| match message_id_of(desk, name) {
            Some(id) => text.contains(&format!("Message-ID: {id}\r\n")),
            None => false,
        })?)
    }

    /// PM-101: rewrites the newest unsent report of each seat, so that it reports everything since the last letter that
    /// was sent, and puts away the reports that it replaces. The invitation stays, because it has the rules of the
    /// game.
    fn replace_unsent(&self, unsent: &[UnsentLetter]) -> Result<(), MailError> {
        let mail = self.logs()?;
        // PM-106: letters to a player without an address are not for the player who took the seat over.
        for letter in unsent {
            let came = mail.desk.came(letter.seat, mail.desk.size());
            if letter.desk_size().is_some_and(|size| size < came) {
                self.outbox.put_away_unaddressed(letter)?;
            }
        }
        let occasions = occasions(&mail.desk);
        for &seat in Seat::players(mail.game.terms.seats.into()) {
            let mut sizes = Vec::new();
            for letter in unsent {
                if let Some(size) = letter.report_size()
                    && size > 1
                    && letter.seat == seat
                    && letter.path.exists()
                {
                    sizes.push(size);
                }
            }
            let Some(size) = sizes.pop() else { continue };
            if sizes.is_empty() {
                continue;
            }
            let mut since = None;
            for earlier in occasions.iter().filter(|earlier| earlier.size < size) {
                let is_unsent = sizes.contains(&earlier.size)
                    || self.outbox.has_replaced(LetterName::report(earlier.size, seat))?;
                if earlier.seats.contains(&seat) && !is_unsent {
                    since = Some(earlier.size);
                }
            }
            let states = mail.desk.states(&BTreeSet::from([size]));
            let Some(state) = states.get(&size) else { continue };
            let name = LetterName::report(size, seat);
            let mut letter = SeatLetter::new(&mail, name, state);
            letter.report(since)?;
            self.outbox.replace(name, &self.eml(letter, &occasions)?, &sizes)?;
        }
        Ok(())
    }

    /// PM-101: lists the seats that the match waits for and whose letter of this turn is unsent. A letter that is held
    /// back is not written yet (PM-16). For a player who took the seat during the turn, only later letters count.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn unsent_turn(&self) -> Result<Vec<Seat>, MailError> {
        let mail = self.logs()?;
        let desk = &mail.desk;
        let mut seats = Vec::new();
        let position = match desk.position() {
            Some(position) if desk.state().is_open() => position,
            _ => return Ok(seats),
        };
        let reports = occasions(desk);
        for seat in desk.state().awaited() {
            let since = desk.came(seat, desk.size()).saturating_sub(1).max(position.seq);
            let mut is_written = false;
            let mut is_sent = false;
            for report in reports.iter().filter(|report| report.size > since && report.seats.contains(&seat))
            {
                is_sent |= self.outbox.has_sent(LetterName::report(report.size, seat))?;
                is_written = true;
            }
            if is_written && !is_sent && !mail.game.terms.hosted.contains(&seat) {
                seats.push(seat);
            }
        }
        Ok(seats)
    }

    /// Sends every unsent letter; of several unsent reports to a seat only the newest. If the letter of a turn is sent
    /// so late that less than half of the turn is left, the deadline moves to a whole turn from now, and all players
    /// get a letter about it (PM-101).
    ///
    /// # Errors
    /// What cannot be read, signed or written. Letters that the mailer does not take are in the report.
    pub fn send(
        &self,
        host: &mut MailHost<'_>,
        at: DeskTime,
        give: &mut GiveLetter<'_>,
    ) -> Result<SendReport, MailError> {
        let waiting = if host.is_short(at) { self.unsent_turn()? } else { Vec::new() };
        let is_of_turn =
            |letter: &UnsentLetter| waiting.contains(&letter.seat) && letter.report_size().is_some();
        let mut report = SendReport::default();
        if !waiting.is_empty() {
            report = self.send_some(1, &is_of_turn, give)?;
        }
        let is_late = !report.sent.is_empty();
        if is_late {
            // The mailer works again.
            report.effects = host.begin_turn_anew(at)?;
            report.written = self.write_reports()?.iter().map(ToString::to_string).collect();
            report.not_sent.clear();
        }
        // A letter that the mailer has just refused is not given to it again.
        let others = self.send_some(usize::MAX, &|letter| is_late || !is_of_turn(letter), give)?;
        report.sent.extend(others.sent);
        report.not_sent.extend(others.not_sent);
        Ok(report)
    }

    /// Returns `true` if a letter to a seat with an address is unsent.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn has_unsent(&self) -> Result<bool, MailError> {
        let unsent = self.outbox.unsent()?;
        Ok(unsent.letters.iter().any(|letter| self.addresses.of(letter.seat).is_some()))
    }

    /// Gives unsent letters that `is_wanted` accepts to the mailer, until it has taken `most`. A hosted seat needs no
    /// address.
    fn send_some(
        &self,
        most: usize,
        is_wanted: &dyn Fn(&UnsentLetter) -> bool,
        give: &mut GiveLetter<'_>,
    ) -> Result<SendReport, MailError> {
        let mut unsent = self.outbox.unsent()?;
        self.replace_unsent(&unsent.letters)?;
        unsent.letters.retain(|letter| letter.path.exists() && is_wanted(letter));
        let hosted = MailMatch::find(self.store, self.game, self.registry)?.terms.hosted;
        // PM-106: writing reports may just have retired an address.
        let written = self.outbox.addresses_now()?;
        let addresses = written.as_ref().unwrap_or(self.addresses);
        let mut report = SendReport::default();
        for letter in &unsent.letters {
            if report.sent.len() == most {
                break;
            }
            if !self.outbox.complete(letter, addresses.route_to(letter.seat))? {
                if !hosted.contains(&letter.seat) {
                    let why = format!("`addresses` has no line such as `{} = ann@example.org`", letter.seat);
                    report.not_sent.push((letter.name.clone(), why));
                }
                continue;
            }
            if let Some(why) = give(letter)? {
                report.not_sent.push((letter.name.clone(), why));
            } else {
                self.outbox.mark_sent(letter)?;
                report.sent.push(letter.name.clone());
            }
        }
        Ok(report)
    }
}

/// Returns the bundle that is attached to a letter to a seat at this size of the desk.
///
/// # Errors
/// What cannot be read or signed.
pub fn seat_bundle(
    store: &StoreReader,
    registry: &Registry,
    signers: &Signers,
    game: &MatchName,
    seat: Seat,
    desk_size: u64,
) -> Result<Vec<u8>, MailError> {
    MailLogs::read(store, registry, signers, game)?.seat_bundle(seat, desk_size)
}

struct Occasion {
    size: u64,
    seats: Vec<Seat>,
}

/// Returns when reports are due: the invitations first, then each turn, new deadline, open offer and the end (PM-29).
fn occasions(desk: &DeskHistory) -> Vec<Occasion> {
    let players = Seat::players(desk.terms().seats.into());
    let hosted = &desk.terms().hosted;
    let mut found = vec![Occasion { size: 1, seats: players.to_vec() }];
    // PM-16: the other players get the report of a turn once the hosted seats have sealed.
    let mut held_back = BTreeSet::new();
    for entry in desk.entries() {
        let mut due = std::mem::take(&mut held_back);
        for effect in &entry.effects {
            match effect {
                Effect::Stood { .. }
                | Effect::Extended { .. }
                | Effect::Offered { .. }
                | Effect::Over { .. } => due.extend(players),
                // PM-40: the seats that the match waits for.
                Effect::Reminded { seats, .. } => due.extend(seats),
                effect => due.extend(newcomer(effect)),
            }
        }
        // PM-41, PM-61: with `press_at_once`, messages of other players come in a letter of their own.
        if desk.terms().press_at_once && entry.ignored.is_none() {
            for seat in players {
                if entry.seat != *seat && entry.press_to(*seat).is_some() {
                    due.insert(*seat);
                }
            }
        }
        if entry.owing_seals.iter().any(|seat| hosted.contains(seat)) {
            held_back.clone_from(&due);
            held_back.retain(|seat| !hosted.contains(seat));
            due.retain(|seat| hosted.contains(seat));
        }
        if !due.is_empty() {
            found.push(Occasion { size: entry.size(), seats: due.into_iter().collect() });
        }
    }
    found
}

fn followed(reports: &[Occasion], name: LetterName) -> Vec<LetterName> {
    let mut earlier = Vec::new();
    for report in reports {
        if report.size < name.desk_size && report.seats.contains(&name.seat) {
            if earlier.len() > 1 {
                earlier.pop();
            }
            earlier.push(LetterName::report(report.size, name.seat));
        }
    }
    earlier
}

/// Returns the seat of a new player, who gets a report because they have no bundle to answer from yet.
const fn newcomer(effect: &Effect) -> Option<Seat> {
    if let Effect::Replaced { seat, .. } = effect { Some(*seat) } else { None }
}
