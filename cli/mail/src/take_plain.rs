//! `mail take` for players without a key: makes papers, for which the host vouches, from a mail with a reply code
//! (PM-38, PM-43).

use std::collections::BTreeMap;

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::{
    DeskTime, MatchId, Nonce, Offer, Order, Paper, PaperContent, PaperHead, PlainPaper,
};
use turnfold_core::rules::desk::{Command, Desk, State};
use turnfold_core::{Digest, Rules, Seat};

use super::answer_letter::once_in_a_turn;
use super::desk_history::AppliedEntry;
use super::host::MailHost;
use super::outbox::LetterName;
use super::plain_reply::{FoundCode, PlainReply, ReplyCode};
use super::plain_words::{KnownPosition, PlainQuestion, PlainWords};
use super::received_mail::ReceivedMail;
use super::take::{PAPERS_MAX, PaperOutcome, TakenPaper};
use crate::error::MailError;

/// The outcome of a mail of a player without a key.
#[derive(Clone, Debug)]
pub struct TakenReply {
    /// The line of the mail with the code, from 1.
    pub line: usize,
    /// The seat that the code is for; `None` if the code is no seat's.
    pub seat: Option<Seat>,
    /// The papers that the host wrote.
    pub papers: Vec<TakenPaper>,
    /// What the player asked.
    pub questions: Vec<PlainQuestion>,
    /// Why something was not taken, in sentences.
    pub faults: Vec<String>,
    /// The digest of the mail, which names the letter that answers it.
    pub mail: Digest,
}

impl TakenReply {
    pub(super) fn letter(&self, desk_size: u64) -> Option<LetterName> {
        if self.questions.is_empty() && self.faults.is_empty() {
            return None;
        }
        Some(LetterName { desk_size, seat: self.seat?, answers: Some(self.mail) })
    }
}

struct Written<'a> {
    text: &'a str,
    line: usize,
    owner: Option<(Seat, u32)>,
    code: ReplyCode,
    /// The commands; `None` if there are none.
    words: Option<PlainWords>,
}

impl MailHost<'_> {
    pub(super) fn take_reply(&mut self, mail: &ReceivedMail) -> Result<Option<TakenReply>, MailError> {
        if self.game.terms.plain.is_empty() || mail.notice.as_ref().is_some_and(|notice| notice.is_sure) {
            return Ok(None);
        }
        let charset = mail.undecoded.as_deref().unwrap_or("UTF-8");
        // If a text has several forms, take the first that can be read completely.
        let mut best: Option<Written<'_>> = None;
        for text in &mail.texts {
            let Some(written) = self.written(text, charset)? else { continue };
            if let Some(words) = &written.words
                && words.faults.is_empty()
            {
                best = Some(written);
                break;
            }
            if best.as_ref().is_none_or(|best| best.words.is_none() && written.words.is_some()) {
                best = Some(written);
            }
        }
        // A mail that only its subject marks as a notice may be from a person, but then it has commands.
        match best {
            Some(best) if best.words.is_some() || mail.notice.is_none() => {
                Ok(Some(self.take_written(best, mail.message_id.as_deref(), mail.sent)?))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn take_text(&mut self, text: &str, id: &str) -> Result<Option<TakenReply>, MailError> {
        let Some(written) = self.written(text, "UTF-8")? else { return Ok(None) };
        Ok(Some(self.take_written(written, Some(id), None)?))
    }

    /// Finds the code of a text, and what the sender wrote around it. Of the codes of this match, the least quoted one
    /// with commands counts, or else the least quoted one.
    fn written<'a>(&self, text: &'a str, charset: &str) -> Result<Option<Written<'a>>, MailError> {
        let Some(reply) = PlainReply::find(text) else { return Ok(None) };
        let owners = self.owners();
        let mut without: Option<Written<'_>> = None;
        for FoundCode { line, code, .. } in reply.codes() {
            let mut written =
                Written { text, line, owner: owners.get(code.as_str()).copied(), code, words: None };
            if let Some(owner) = written.owner {
                let position = KnownPosition::of(self, owner, charset)?;
                let places = reply.commands(&written.code, &|line| PlainWords::reading(line, &position));
                if !places.is_empty() {
                    let words = places.iter().map(|lines| PlainWords::of(lines, &position)).collect();
                    written.words = Some(PlainWords::joined(words));
                    return Ok(Some(written));
                }
            }
            if without.as_ref().is_none_or(|without| without.owner.is_none() && written.owner.is_some()) {
                without = Some(written);
            }
        }
        Ok(without)
    }

    /// Returns `true` if the mail has a reply code of this match, even one of an earlier turn (PM-100).
    pub(super) fn knows_code_in(&self, mail: &ReceivedMail) -> bool {
        let owners = self.owners();
        let mut codes = mail.texts.iter().flat_map(|text| ReplyCode::all_in(text));
        !owners.is_empty() && codes.any(|code| owners.contains_key(code.as_str()))
    }

    /// PM-57: a mail is identified by its `Message-ID` and text. So the same words in another mail are another paper,
    /// and count again after different ones.
    fn take_written(
        &mut self,
        written: Written<'_>,
        id: Option<&str>,
        date: Option<DeskTime>,
    ) -> Result<TakenReply, MailError> {
        let identity = format!("{}\n{}", id.unwrap_or_default(), written.text);
        let mail = Digest::new(blake3::derive_key("turnfold v2 plain mail", identity.as_bytes()));
        let mut taken = TakenReply {
            line: written.line,
            seat: None,
            papers: Vec::new(),
            questions: Vec::new(),
            faults: Vec::new(),
            mail,
        };
        let Some((seat, turn)) = written.owner else { return Ok(taken) };
        taken.seat = Some(seat);
        if let Some(fault) = self.stale(seat, turn) {
            taken.faults.push(fault);
            return Ok(taken);
        }
        let Some(words) = written.words else {
            taken.mail = once_in_a_turn(turn);
            taken.questions.push(PlainQuestion::Help);
            return Ok(taken);
        };
        taken.questions.clone_from(&words.questions);
        taken.faults.clone_from(&words.faults);
        let is_order_whole = taken.faults.is_empty();
        taken.faults.extend_from_slice(&words.refused);
        if !is_order_whole {
            return Ok(taken);
        }
        let contents = match self.contents(seat, &words)? {
            Ok(contents) => contents,
            Err(fault) => {
                taken.faults.push(fault);
                return Ok(taken);
            }
        };
        for (index, content) in contents.into_iter().enumerate() {
            let nonce = self.nonce(mail, index);
            let paper = self.take_plain(seat, content, &written.code, date, nonce)?;
            taken.papers.push(TakenPaper { line: written.line, ..paper });
        }
        Ok(taken)
    }

    /// Returns the seat and turn of every code of the match. They are computed once, because a mail can hold thousands
    /// of words that look like codes, and each code takes some hashes.
    fn owners(&self) -> BTreeMap<String, (Seat, u32)> {
        let match_id = self.game.genesis.match_id;
        let mut owners = BTreeMap::new();
        for turn in 0..=self.desk.state().turn() {
            let link = self.desk.link_of_turn(turn);
            for seat in &self.game.terms.plain {
                let code = ReplyCode::of(self.key, match_id, (*seat, turn), link);
                owners.insert(code.as_str().to_owned(), (*seat, turn));
            }
        }
        owners
    }

    fn stale(&self, seat: Seat, turn: u32) -> Option<String> {
        let state = self.desk.state();
        let now = state.turn();
        match state.name_of(seat) {
            Some(name) if turn == 0 => Some(format!(
                "This code was for joining and is used: {name} has {seat}. Use the code of the newest letter."
            )),
            Some(_) if !state.plays_plainly(seat) => {
                Some(format!("{seat} has a key now, so its papers need a signature; codes are of no use."))
            }
            _ if 0 < turn && turn < now => Some(format!(
                "This code was for turn {turn}, and the match is at turn {now}. Use the code of the newest letter."
            )),
            _ => None,
        }
    }

    fn contents(
        &self,
        seat: Seat,
        words: &PlainWords,
    ) -> Result<Result<Vec<PaperContent>, String>, MailError> {
        let mut contents = words.contents.clone();
        let state = self.desk.state();
        for (agree, offer) in &words.answers {
            let Some(to) = state.offer_to_answer(seat, offer) else {
                return Ok(Err(no_offer(state, seat, offer)));
            };
            contents.push(PaperContent::Answer { to, agree: *agree });
        }
        if let Some(turn) = words.takeback {
            let offer = match state.stand_of(turn) {
                Some((branch, seq)) if turn < state.turn() => Offer::Takeback { branch: branch.clone(), seq },
                _ => return Ok(Err(format!("The match has no earlier turn {turn}. Nothing was taken."))),
            };
            contents.push(PaperContent::Offer(offer));
        }
        let has_ahead = words.ahead.is_some() || !words.lines.is_empty();
        if !has_ahead && words.plays.is_empty() {
            return Ok(Ok(contents));
        }
        let position = KnownPosition::of(self, (seat, state.turn()), "")?;
        // Orders ahead come before the order, which can make the turn ready.
        if has_ahead {
            let plays = match self.desk.order_now(seat) {
                Some((_, order)) if words.plays.is_empty() => order.plays(),
                _ => &words.plays,
            };
            let turns = words.ahead.clone().unwrap_or_default();
            match position.ahead(plays, turns, &words.lines) {
                Ok(ahead) => contents.push(PaperContent::Ahead(ahead)),
                Err(fault) => {
                    return Ok(Err(format!("{fault} Nothing was taken; send the whole order again.")));
                }
            }
        }
        if !words.plays.is_empty() {
            if let Some(fault) = position.objection(&words.plays) {
                return Ok(Err(fault));
            }
            let Some(begun) = self.desk.position() else {
                return Err(MailError::not_by_mail("no turn has begun"));
            };
            let order = Order::new(begun.link, words.wait, None, words.plays.clone());
            contents.push(PaperContent::Order(order.map_err(MailError::not_by_mail)?));
        }
        Ok(Ok(contents))
    }

    fn take_plain(
        &mut self,
        seat: Seat,
        content: PaperContent,
        code: &ReplyCode,
        date: Option<DeskTime>,
        nonce: Nonce,
    ) -> Result<TakenPaper, MailError> {
        let recorded = self.desk.entries().iter().find(|entry| match &entry.command {
            Command::Plain(plain) => plain.paper().head().nonce == nonce,
            _ => false,
        });
        if let Some(recorded) = recorded.and_then(TakenPaper::on_record) {
            return Ok(recorded);
        }
        let state = self.desk.state();
        let joins = matches!(content, PaperContent::Enter(_));
        // PM-92: a mail cannot have been sent after it arrived.
        let now = DeskTime::of_unix_ms(self.recorded_at_ms);
        let date = date.into_iter().chain(now).min();
        let number =
            self.outdated_by(seat, &content, date).unwrap_or(state.last_number(seat).saturating_add(1));
        let head = PaperHead {
            match_id: MatchId::new(self.game.genesis.match_id),
            seat,
            number: if joins { 0 } else { number },
            turn: if joins { 0 } else { state.turn() },
            seen: self.seen()?,
            nonce,
        };
        let paper = Paper::new(head, content).map_err(MailError::not_by_mail)?;
        let plain = PlainPaper::new(paper.clone(), code.as_str());
        let plain = if joins { plain } else { plain.sent(date) };
        let command = Command::Plain(Box::new(plain));
        let outcome = match Desk::judge(state, seat, &command) {
            Err(denied) => PaperOutcome::Rejected { code: denied.code(), message: denied.to_string() },
            Ok(_) if self.desk.papers_in_turn(seat) >= PAPERS_MAX => PaperOutcome::TooMany,
            Ok(_) => return self.record_paper(command),
        };
        Ok(TakenPaper::unrecorded(Some(paper), outcome))
    }

    /// PM-92: of two plain orders of a seat in a turn, or of two for later turns, the one sent later counts. Returns
    /// the number of the recorded paper if it was sent later than the new one, which has no effect with that number.
    fn outdated_by(&self, seat: Seat, content: &PaperContent, date: Option<DeskTime>) -> Option<u32> {
        let date = date?;
        let last = last_plain(self.desk.entries().iter(), seat, self.desk.state().turn(), content)?;
        if date < last.sent_at()? { Some(last.paper().head().number) } else { None }
    }

    /// Returns the nonce of a paper of a mail. Only the host can compute it, so that no one can guess a paper (PM-5).
    fn nonce(&self, mail: Digest, index: usize) -> Nonce {
        let owner = Owner { match_id: self.game.genesis.match_id, party: Seat::Host };
        let secret = self.key.dice_chain(owner).element(Chain::LAST);
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v2 nonce of a plain paper");
        hasher.update(secret.as_bytes());
        hasher.update(mail.as_bytes()).update(index.to_string().as_bytes());
        let hash = hasher.finalize();
        let [nonce, _] = hash.as_bytes().as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
        Nonce::new(*nonce)
    }
}

pub(super) fn last_plain<'a>(
    entries: impl DoubleEndedIterator<Item = &'a AppliedEntry>,
    seat: Seat,
    turn: u32,
    content: &PaperContent,
) -> Option<&'a PlainPaper> {
    if !matches!(content, PaperContent::Order(_) | PaperContent::Ahead(_)) {
        return None;
    }
    for entry in entries.rev() {
        if let Command::Plain(plain) = &entry.command
            && entry.seat == seat
            && entry.ignored.is_none()
            && plain.paper().head().turn == turn
            && plain.paper().content().kind() == content.kind()
        {
            return Some(plain);
        }
    }
    None
}

/// PM-82: returns a sentence that no open offer fits, with the offers that are open.
fn no_offer(state: &State, seat: Seat, words: &str) -> String {
    let mut offers = Vec::new();
    for open in Desk::view(state, seat.into()).offers {
        offers.push(format!("offer {} by {}: {}", open.nth, open.seat, open.offer));
    }
    if offers.is_empty() {
        return "No offer is open. Nothing was taken.".into();
    }
    let what = if words.is_empty() { "Write the number of the offer." } else { "No such offer is open." };
    format!("{what} Open: {}. Nothing was taken.", offers.join("; "))
}
