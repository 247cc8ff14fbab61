//! Letters to players and spectators: reports, answers to papers, and the spectators' bundle (PM-29 to PM-31).
//!
//! Every letter is a function of the logs of desk and game up to some record of the desk, and of the host's key. So a
//! run after an interruption writes the same letters, and none that the outbox has.

use std::collections::BTreeSet;

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{Effect, State};
use turnfold_core::{Registry, Seat};
use turnfold_history::Viewer;
use turnfold_proof::bundle::SeatRecords;
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use super::addresses::Addresses;
use super::answer_letter::AnswerLetter;
use super::desk_history::DeskHistory;
use super::desk_turn::AppliedEntry;
use super::letter::{Attachment, Letter, LetterText, Thread, message_id_of, subject_line};
use super::letter_part::{LetterPart, MailLogs, signed_bundle, spectators_bundle};
use super::outbox::{LetterName, Outbox, UnsentLetter};
use super::post_folder::former_player;
use super::post_office::TakenMail;
use super::received_mail::ReceivedMail;
use super::reply_code::code_of;
use super::report_letter::SeatReport;
use super::seat_page::link_of;
use super::take::TakenPaper;
use super::take_plain::TakenReply;
use super::unread::UnreadMail;
use crate::error::MailError;

/// Writes the letters of a match to its outbox.
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
}

impl MailRoom<'_> {
    /// Writes every due report that the outbox does not have, and the bundle for spectators. Returns the reports
    /// written now. Safe to repeat after an interruption.
    ///
    /// # Errors
    /// What cannot be read, signed or written.
    pub fn write_reports(&self) -> Result<Vec<LetterName>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        self.keep_one_history(&mail.desk)?;
        let addresses = self.without_former_players(&mail.desk)?;
        let room = MailRoom { addresses: &addresses, ..*self };
        let occasions = occasions(&mail.desk);
        let mut reports = Vec::new();
        for (index, Occasion { size, seats }) in occasions.iter().enumerate() {
            let earlier = occasions.get(..index).unwrap_or_default();
            for &seat in seats {
                let before = earlier.iter().rfind(|earlier| earlier.seats.contains(&seat));
                let report = SeatReport { seat, size: *size, since: before.map(|earlier| earlier.size) };
                reports.push((LetterName::report(*size, seat), report));
            }
        }
        if let Some(bundle) = spectators_bundle(&mail, self.signers)? {
            self.outbox.put_spectators(&bundle).map_err(MailError::Outbox)?;
        }
        room.put(&mail, reports, |report, state, _| room.report(&mail, report, state).map(Some))
    }

    /// Writes the answers to the papers of a mail, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn write_answers(&self, papers: &[TakenPaper]) -> Result<Vec<LetterName>, MailError> {
        self.answer(&MailLogs::read(self.store, self.registry, self.game)?, papers)
    }

    /// PM-43: writes the answer to the questions and faults of a mail with a reply code, unless the outbox has it.
    fn write_plain_answer(&self, reply: &TakenReply) -> Result<Vec<LetterName>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        let named = reply.letter(mail.desk.size()).map(|name| (name, (name, reply)));
        self.put(&mail, named, |(name, reply), state, file| {
            // PM-93: the same mail is answered once, and mails without commands once in a turn.
            let alike = self.outbox.alike(*name).map_err(MailError::Outbox)?;
            let answer = reply.answer(&mail, self.signers, state, *name, file)?;
            Ok(Some(answer).filter(|_| alike.is_empty()))
        })
    }

    /// PM-34: writes the answers to recorded papers, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn write_missing_answers(&self) -> Result<Vec<LetterName>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        let recorded: Vec<_> = mail.desk.entries().iter().filter_map(TakenPaper::on_record).collect();
        self.answer(&mail, &recorded)
    }

    /// Writes the answers to a mail that was taken, unless the outbox has them. Returns the answers written now.
    ///
    /// # Errors
    /// As for [`write_reports`](Self::write_reports).
    pub fn answer_taken(&self, taken: &TakenMail) -> Result<Vec<LetterName>, MailError> {
        let TakenMail { mail, papers, reply, noticed, waiting, .. } = taken;
        for noticed in noticed.iter().chain(waiting) {
            self.outbox.note(noticed).map_err(MailError::Outbox)?;
        }
        let Some(reply) = reply.as_ref().filter(|reply| reply.seat.is_some()) else {
            return self.answer_mail(mail, papers);
        };
        // PM-105: a sender with another address than the seat's gets a copy.
        let copies =
            reply.seat.zip(mail.from.as_ref()).map(|(seat, from)| self.addresses.with_copy(seat, from));
        let room = MailRoom { addresses: copies.as_ref().unwrap_or(self.addresses), ..*self };
        let mut written = room.write_plain_answer(reply)?;
        written.extend(room.write_answers(papers)?);
        Ok(written)
    }

    /// Writes the answers to a mail, unless the outbox has them: to its papers or, if none can be read, one letter to
    /// the seat with the sender's address (PM-51).
    fn answer_mail(
        &self,
        received: &ReceivedMail,
        papers: &[TakenPaper],
    ) -> Result<Vec<LetterName>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        let seat = received.from.as_ref().and_then(|from| self.addresses.seat_of(from));
        let Some(unread) = seat.and_then(|seat| UnreadMail::of(received, papers, seat, &mail)) else {
            return self.answer(&mail, papers);
        };
        self.put(&mail, [(unread.name(), unread)], |unread, state, _| {
            let letter = unread.write(state);
            let line = subject_line(&letter.subject) + "\r\n";
            let count = self.outbox.count(unread.name().seat, &line).map_err(MailError::Outbox)?;
            let alike = self.outbox.alike(unread.name()).map_err(MailError::Outbox)?;
            Ok(Some(letter).filter(|_| count < UnreadMail::ANSWERS_MAX && alike.is_empty()))
        })
    }

    fn answer(&self, mail: &MailLogs<'_>, papers: &[TakenPaper]) -> Result<Vec<LetterName>, MailError> {
        let answers = AnswerLetter::all(papers, mail).into_iter().map(|answer| (answer.name, answer));
        self.put(mail, answers, |answer, state, file| {
            let code = code_of(mail, self.signers, state, answer.name.seat).filter(|_| state.turn() > 0);
            let letter = answer.write(mail, state, code.as_ref(), file)?;
            // A paper that was not recorded may come again when the desk has another size.
            let line = subject_line(&letter.subject) + "\r\n";
            let alike = self.outbox.alike(answer.name).map_err(MailError::Outbox)?;
            Ok(Some(letter).filter(|_| !alike.iter().any(|other| other.contains(&line))))
        })
    }

    /// Puts letters into the outbox, durably, unless it has them. Each has the bundle of its seat attached. `write`
    /// gets a letter, the desk at its size and the name of the bundle, and returns `None` if the letter is not needed.
    /// Returns the letters written now.
    pub(super) fn put<L>(
        &self,
        mail: &MailLogs<'_>,
        letters: impl IntoIterator<Item = (LetterName, L)>,
        write: impl Fn(&L, &State, &str) -> Result<Option<LetterText>, MailError>,
    ) -> Result<Vec<LetterName>, MailError> {
        let mut due = Vec::new();
        for (name, letter) in letters {
            if !self.outbox.has(name).map_err(MailError::Outbox)? {
                due.push((name, letter));
            }
        }
        let reports = if due.is_empty() { Vec::new() } else { occasions(&mail.desk) };
        let states = mail.desk.states(&due.iter().map(|(name, _)| name.desk_size).collect());
        let mut written = Vec::new();
        for (name, letter) in due {
            let Some(state) = states.get(&name.desk_size) else { continue };
            let Some(text) = write(&letter, state, &self.bundle_name(name))? else { continue };
            let eml = self.eml(mail, name, state, text, followed(&reports, name))?;
            if self.outbox.put(name, &eml).map_err(MailError::Outbox)? {
                written.push(name);
            }
        }
        self.outbox.sync().map_err(MailError::Outbox)?;
        Ok(written)
    }

    /// PM-106: removes the address of a replaced player from `addresses`, once, if the newest letter before the
    /// replacement went there. The letters of the new player wait until the host enters an address.
    fn without_former_players(&self, desk: &DeskHistory) -> Result<Addresses, MailError> {
        let mut addresses = self.addresses.clone();
        for entry in desk.entries() {
            let Some(seat) = entry.effects.iter().find_map(newcomer) else { continue };
            let Some(address) = addresses.of(seat).map(ToString::to_string) else { continue };
            let last = self.outbox.last_to(seat, entry.seq).map_err(MailError::Outbox)?;
            let is_former = last.is_some_and(|letter| letter.contains(&format!("\r\nTo: {address}\r\n")));
            let mark = former_player(seat, entry.seq);
            let is_retired = self.outbox.retire_address(seat, &mark, is_former).map_err(MailError::Outbox)?;
            if is_retired {
                addresses = addresses.without(seat);
            }
        }
        Ok(addresses)
    }

    /// PM-102: letters of a history that the store has lost count as never written.
    fn keep_one_history(&self, desk: &DeskHistory) -> Result<(), MailError> {
        let root = |size| desk.root(size).map(|root| root.to_string());
        let is_ours = |name: &str, text: &str| {
            message_id_of(desk, name).is_some_and(|id| text.contains(&format!("Message-ID: {id}\r\n")))
        };
        self.outbox.keep_one_history(root, desk.size(), is_ours).map_err(MailError::Outbox)
    }

    /// Returns the name of the bundle of a letter, short enough to type.
    fn bundle_name(&self, name: LetterName) -> String {
        format!("{:.32}-{}-{}.bundle", self.game.as_str(), name.desk_size, name.seat)
    }

    /// Writes a letter with its attachments as a mail.
    fn eml(
        &self,
        mail: &MailLogs<'_>,
        name: LetterName,
        state: &State,
        letter: LetterText,
        follows: Vec<LetterName>,
    ) -> Result<String, MailError> {
        let LetterText { subject, text, in_reply_to, rulebook } = letter;
        let bundle_name = self.bundle_name(name);
        let bundle = attached(mail, self.signers, name.seat, name.desk_size)?;
        let rules_name = format!("{}-rules.txt", mail.game.rules.name());
        let rules = rulebook.as_ref().map(|rules| (rules_name.as_str(), rules.as_bytes(), true));
        let files = [Some((bundle_name.as_str(), bundle.as_slice(), false)), rules].into_iter().flatten();
        let files: Vec<_> =
            files.map(|(file_name, bytes, is_text)| Attachment { file_name, bytes, is_text }).collect();
        let mut thread = Thread::of(&mail.desk, name, follows);
        thread.references.extend(in_reply_to);
        let letter = Letter {
            route: self.addresses.route_to(name.seat),
            subject: &subject,
            // Before the first clock, the time at which the match was created.
            date: state.clock().or_else(|| created_at(mail)),
            thread: &thread,
            text: &text,
            attached: &files,
        };
        Ok(letter.to_eml())
    }

    /// PM-101: rewrites the newest unsent report of each seat, so that it reports everything since the last letter that
    /// was sent, and puts away the reports that it replaces. The invitation stays, because it has the rules of the
    /// game.
    pub(super) fn replace_unsent(&self, unsent: &[UnsentLetter]) -> Result<(), MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        // PM-106: letters to a player without an address are not for the player who took the seat over.
        for letter in unsent {
            let came = mail.desk.came(letter.seat, mail.desk.size());
            if letter.desk_size().is_some_and(|size| size < came) {
                self.outbox.put_away_unaddressed(letter).map_err(MailError::Outbox)?;
            }
        }
        let occasions = occasions(&mail.desk);
        for seat in Seat::players(mail.game.terms.seats.into()) {
            let of_seat = unsent.iter().filter(|letter| letter.seat == *seat && letter.path.exists());
            let sizes: Vec<u64> =
                of_seat.filter_map(UnsentLetter::report_size).filter(|size| *size > 1).collect();
            let Some((size, replaced)) = sizes.split_last().filter(|(_, replaced)| !replaced.is_empty())
            else {
                continue;
            };
            let earlier =
                occasions.iter().filter(|earlier| earlier.size < *size && earlier.seats.contains(seat));
            let name = LetterName::report(*size, *seat);
            let mut since = None;
            for desk_size in earlier.map(|earlier| earlier.size).filter(|size| !replaced.contains(size)) {
                let is_one_of_them = self.outbox.has_replaced(LetterName { desk_size, ..name });
                if !is_one_of_them.map_err(MailError::Outbox)? {
                    since = Some(desk_size);
                }
            }
            let at_size = mail.desk.states(&BTreeSet::from([*size]));
            let Some(state) = at_size.get(size) else { continue };
            let text = self.report(&mail, &SeatReport { seat: *seat, size: *size, since }, state)?;
            let eml = self.eml(&mail, name, state, text, followed(&occasions, name))?;
            self.outbox.replace(name, &eml, replaced).map_err(MailError::Outbox)?;
        }
        Ok(())
    }

    fn report(
        &self,
        mail: &MailLogs<'_>,
        report: &SeatReport,
        state: &State,
    ) -> Result<LetterText, MailError> {
        let code = code_of(mail, self.signers, state, report.seat);
        let link = link_of(mail, self.signers, state, report.seat, self.pages);
        let name = LetterName::report(report.size, report.seat);
        report.write(mail, state, (code.as_ref(), link.as_deref()), &self.bundle_name(name))
    }

    /// PM-101: lists the seats that the match waits for and whose letter of this turn is unsent. A letter that is held
    /// back is not written yet (PM-16). For a player who took the seat during the turn, only later letters count.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn unsent_turn(&self) -> Result<Vec<Seat>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        let Some(position) = mail.desk.position().filter(|_| mail.desk.state().is_open()) else {
            return Ok(Vec::new());
        };
        let reports = occasions(&mail.desk);
        let mut seats = Vec::new();
        for seat in mail.desk.state().awaited() {
            let gives_seat =
                |entry: &&AppliedEntry| entry.effects.iter().any(|effect| newcomer(effect) == Some(seat));
            let given = mail.desk.entries().iter().rfind(gives_seat).map_or(0, |entry| entry.seq);
            let since = position.seq.max(given);
            let mut is_written = false;
            let mut is_sent = false;
            for report in reports.iter().filter(|report| report.size > since && report.seats.contains(&seat))
            {
                let name = LetterName::report(report.size, seat);
                is_sent |= self.outbox.has_sent(name).map_err(MailError::Outbox)?;
                is_written = true;
            }
            if is_written && !is_sent && !mail.game.terms.hosted.contains(&seat) {
                seats.push(seat);
            }
        }
        Ok(seats)
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
    attached(&MailLogs::read(store, registry, game)?, signers, seat, desk_size)
}

fn attached(
    mail: &MailLogs<'_>,
    signers: &Signers,
    seat: Seat,
    desk_size: u64,
) -> Result<Vec<u8>, MailError> {
    let records = LetterPart::of(mail, desk_size)?.records(mail)?;
    signed_bundle(mail, signers, &SeatRecords::of(records, Viewer::of(seat), mail.registry)?)
}

fn created_at(mail: &MailLogs<'_>) -> Option<DeskTime> {
    DeskTime::of_unix_ms(mail.game.genesis.created_at_ms)
}

/// A size of the desk at which seats get a report.
struct Occasion {
    size: u64,
    seats: Vec<Seat>,
}

/// Returns when reports are due: the invitations first, then each turn, new deadline, open offer and the end (PM-29).
fn occasions(desk: &DeskHistory) -> Vec<Occasion> {
    let players = Seat::players(desk.terms().seats.into());
    let mut found = vec![Occasion { size: 1, seats: players.to_vec() }];
    // PM-16: the other players get the report of a turn once the hosted seats have sealed.
    let mut held_back = BTreeSet::new();
    for step in desk.entries() {
        let mut due = std::mem::take(&mut held_back);
        if step.effects.iter().any(calls_for_reports) {
            due.extend(players);
        }
        due.extend(step.effects.iter().filter_map(newcomer));
        due.extend(step.effects.iter().flat_map(reminded));
        // PM-61: with `press_at_once`, messages come in a letter of their own.
        if desk.terms().press_at_once {
            due.extend(players.iter().filter(|seat| is_written_to(step, **seat)));
        }
        if awaits_hosted(desk, step) {
            held_back = due.iter().copied().filter(|seat| !desk.terms().hosted.contains(seat)).collect();
            due.retain(|seat| desk.terms().hosted.contains(seat));
        }
        if !due.is_empty() {
            found.push(Occasion { size: step.size(), seats: due.into_iter().collect() });
        }
    }
    found
}

/// Returns the reports that a letter follows in its thread: the first to the seat, and the last before it.
fn followed(reports: &[Occasion], name: LetterName) -> Vec<LetterName> {
    let LetterName { desk_size, seat, .. } = name;
    let of_seat = reports.iter().filter(|report| report.size < desk_size && report.seats.contains(&seat));
    let mut earlier: Vec<_> = of_seat.map(|report| LetterName::report(report.size, seat)).collect();
    if earlier.len() > 2 {
        earlier.drain(1..earlier.len() - 1);
    }
    earlier
}

/// Returns `true` if all seats get a report about an effect (PM-29).
const fn calls_for_reports(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Stood { .. } | Effect::Extended { .. } | Effect::Offered { .. } | Effect::Over { .. }
    )
}

/// Returns the seat of a new player, who gets a report because they have no bundle to answer from yet.
const fn newcomer(effect: &Effect) -> Option<Seat> {
    if let Effect::Replaced { seat, .. } = effect { Some(*seat) } else { None }
}

/// PM-40: returns the seats that an effect reminds.
fn reminded(effect: &Effect) -> &[Seat] {
    if let Effect::Reminded { seats, .. } = effect { seats } else { &[] }
}

/// PM-41: returns `true` if an entry has a message of another player to this seat.
fn is_written_to(step: &AppliedEntry, seat: Seat) -> bool {
    step.seat != seat && step.ignored.is_none() && step.press_to(seat).is_some()
}

fn awaits_hosted(desk: &DeskHistory, step: &AppliedEntry) -> bool {
    step.owing_seals.iter().any(|seat| desk.terms().hosted.contains(seat))
}
