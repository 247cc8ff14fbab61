//! `mail take`: judges papers from mails by the desk, and records them (PM-10, PM-26, PM-33).

use std::fmt;

use turnfold_core::outcome::Ruled;
use turnfold_core::paper::{Offer, Paper, PaperContent, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Reason};
use turnfold_core::{Rules, Seat, Verdict};
use turnfold_store::Seq;

use super::desk_turn::AppliedEntry;
use super::host::MailHost;
use super::letter::is_letter_of;
use super::paper_form::FoundPaper;
use super::received_mail::ReceivedMail;
use crate::error::MailError;

/// The most papers of a seat that are recorded between two positions (PM-26).
pub(super) const PAPERS_MAX: usize = 50;

/// The code that rejects a paper whose player had not seen the position of its turn.
const UNSEEN_POSITION: &str = "unseen_stand";

/// A paper of a mail, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenPaper {
    /// The line of the mail on which it begins, from 1.
    pub line: usize,
    /// The paper; `None` if it is malformed.
    pub paper: Option<Paper>,
    /// Its outcome.
    pub outcome: PaperOutcome,
    /// The entry that recorded it, now or earlier.
    pub seq: Option<Seq>,
    /// Whether it was recorded now.
    pub is_new: bool,
}

impl TakenPaper {
    /// Returns `true` if the paper may be recorded later: once the host admits its player, or the match comes to its
    /// turn.
    #[must_use]
    pub fn may_be_taken_later(&self) -> bool {
        let is_join =
            self.paper.as_ref().is_some_and(|paper| matches!(paper.content(), PaperContent::Join(_)));
        match &self.outcome {
            PaperOutcome::NeedsAdmit(_) => true,
            PaperOutcome::Rejected { code, .. } => {
                ["hosted_first", "wait_for_seals"].contains(code) || *code == "not_yet" && !is_join
            }
            _ => false,
        }
    }

    pub(super) const fn unrecorded(paper: Option<Paper>, outcome: PaperOutcome) -> Self {
        Self { line: 1, paper, outcome, seq: None, is_new: false }
    }

    /// Returns the paper that an entry of the desk records, if any, with its outcome.
    pub(super) fn on_record(entry: &AppliedEntry) -> Option<Self> {
        let paper = entry.command.paper()?.clone();
        let ignored = |reason: Reason| PaperOutcome::Ignored(reason.ruling().code);
        let outcome = entry.ignored.map_or(PaperOutcome::Applied, ignored);
        Some(Self { line: 1, paper: Some(paper), outcome, seq: Some(entry.seq), is_new: false })
    }
}

/// The outcome of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaperOutcome {
    /// It counts.
    Applied,
    /// It is recorded and changes nothing, for this reason.
    Ignored(&'static str),
    /// It is not recorded, for this reason.
    Rejected {
        /// The code of the reason.
        code: &'static str,
        /// The reason in words.
        message: String,
    },
    /// It is malformed.
    Malformed(String),
    /// Its player has seen another history of the desk; it is not recorded.
    Fork,
    /// Too many papers of the seat were recorded since the last position; it is not recorded.
    TooMany,
    /// It would give this seat to a new player whom the host has not admitted; it is not recorded.
    NeedsAdmit(Seat),
}

impl PaperOutcome {
    /// Returns its name in `snake_case`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Ignored(_) => "ignored",
            Self::Rejected { .. } => "rejected",
            Self::Malformed(_) => "malformed",
            Self::Fork => "fork",
            Self::TooMany => "too_many",
            Self::NeedsAdmit(_) => "needs_admit",
        }
    }

    /// Returns the code of the reason for which it is ignored or rejected.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Ignored(code) | Self::Rejected { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Returns why it is not recorded, in words.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        Some(match self {
            Self::Applied | Self::Ignored(_) => return None,
            Self::Rejected { message, .. } | Self::Malformed(message) => message.clone(),
            Self::Fork => "it refers to a different history of the desk (fork)".into(),
            Self::TooMany => format!("the seat has sent {PAPERS_MAX} papers in this turn already"),
            Self::NeedsAdmit(seat) => format!("the host must admit the new player of {seat}"),
        })
    }

    /// Returns `true` if the desk has recorded the paper.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        matches!(self, Self::Applied | Self::Ignored(_))
    }
}

impl fmt::Display for PaperOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored(code) | Self::Rejected { code, .. } => write!(out, "{} {code}", self.name()),
            Self::Malformed(why) => write!(out, "malformed: {why}"),
            Self::NeedsAdmit(seat) => write!(out, "needs_admit {seat}"),
            _ => out.write_str(self.name()),
        }
    }
}

impl MailHost<'_> {
    /// Takes the papers of a mail in order. A seat gets a new player only if it is among `admitted`.
    ///
    /// # Errors
    /// Errors of the store. Faults of a paper are its outcome.
    pub fn take(&mut self, mail: &ReceivedMail, admitted: &[Seat]) -> Result<Vec<TakenPaper>, MailError> {
        let take = |FoundPaper { line, paper }| match paper {
            Ok(mailed) => Ok(TakenPaper { line, ..self.take_paper(mailed.signed, admitted)? }),
            Err(error) => {
                let malformed = PaperOutcome::Malformed(error.to_string());
                Ok(TakenPaper { line, ..TakenPaper::unrecorded(None, malformed) })
            }
        };
        mail.papers().into_iter().map(take).collect()
    }

    /// Returns `true` for a mail with a paper for this match (PM-53).
    #[must_use]
    pub fn has_paper_in(&self, mail: &ReceivedMail) -> bool {
        let is_of_this =
            |found: FoundPaper| found.paper.is_ok_and(|paper| self.is_named_by(paper.signed.paper()));
        mail.papers().into_iter().any(is_of_this)
    }

    /// Returns `true` for a paper for this match.
    #[must_use]
    pub fn is_named_by(&self, paper: &Paper) -> bool {
        *paper.head().match_id.as_bytes() == self.game.genesis.match_id
    }

    /// Returns `true` if this is the `Message-ID` of a letter of this match.
    #[must_use]
    pub fn is_of_thread(&self, id: &str) -> bool {
        is_letter_of(&self.game.terms, id)
    }

    /// Takes one paper. A paper that was recorded before gets the same outcome again (PM-10).
    ///
    /// # Errors
    /// Errors of the store.
    pub fn take_paper(&mut self, signed: SignedPaper, admitted: &[Seat]) -> Result<TakenPaper, MailError> {
        let recorded = self.desk.paper(&signed.paper().digest()).and_then(TakenPaper::on_record);
        if let Some(recorded) = recorded {
            return Ok(recorded);
        }
        if let Some(outcome) = self.objection(&signed, admitted) {
            return Ok(TakenPaper::unrecorded(Some(signed.paper().clone()), outcome));
        }
        self.record_paper(Command::Paper(Box::new(signed)))
    }

    pub(super) fn record_paper(&mut self, command: Command) -> Result<TakenPaper, MailError> {
        let none = || MailError::not_by_mail("it is no paper");
        let paper = command.paper().ok_or_else(none)?;
        let seat = paper.head().seat;
        let key = format!("paper:{}", paper.digest());
        let key = key.parse().map_err(MailError::not_by_mail)?;
        let applied = self.append(vec![(seat, command)], Some(&key))?;
        let recorded = applied.first().and_then(TakenPaper::on_record).ok_or_else(none)?;
        Ok(TakenPaper { is_new: true, ..recorded })
    }

    /// Returns why a paper is not recorded, if it is not.
    fn objection(&self, signed: &SignedPaper, admitted: &[Seat]) -> Option<PaperOutcome> {
        let paper = signed.paper();
        let state = self.desk.state();
        let seat = paper.head().seat;
        let judged = Desk::judge(state, seat, &Command::Paper(Box::new(signed.clone())));
        let rejected = judged.as_ref().err().map(|denied| {
            let message = taken_seat(paper, denied.code(), self.game.terms.host_replaces);
            let code = denied.code();
            PaperOutcome::Rejected { code, message: message.unwrap_or_else(|| denied.to_string()) }
        });
        if Desk::over(state) || !self.is_authentic(signed) {
            return rejected;
        }
        let seen = paper.head().seen;
        if self.desk.root(seen.size) != Some(seen.root) {
            return Some(PaperOutcome::Fork);
        }
        // PM-33: the paper would count, but its player knew a history without the paper's turn.
        if matches!(judged, Ok(Verdict::Applied(_))) && !self.has_seen_its_position(paper) {
            let message = "the player had not seen the position of its turn".into();
            return Some(PaperOutcome::Rejected { code: UNSEEN_POSITION, message });
        }
        let is_too_many = self.desk.papers_in_turn(seat) >= PAPERS_MAX;
        rejected.or(is_too_many.then_some(PaperOutcome::TooMany)).or_else(|| {
            let new = seat_of_new_player(paper).filter(|seat| !admitted.contains(seat));
            new.map(PaperOutcome::NeedsAdmit)
        })
    }

    /// Returns `true` for a paper of this match that the seat's key signed; for a `join`, the key in the paper.
    fn is_authentic(&self, signed: &SignedPaper) -> bool {
        let paper = signed.paper();
        let state = self.desk.state();
        let key = match paper.content() {
            PaperContent::Join(join) => Some(&join.key),
            _ => state.key_of(paper.head().seat),
        };
        *paper.head().match_id.as_bytes() == self.game.genesis.match_id
            && key.is_some_and(|key| signed.is_by(key))
    }

    /// Returns `true` if the history that the player has seen includes the position of the paper's turn; for turn 0,
    /// the Genesis.
    fn has_seen_its_position(&self, paper: &Paper) -> bool {
        let turn = paper.head().turn;
        let size = paper.head().seen.size;
        let Some(before) = turn.checked_sub(1) else { return size > 0 };
        let position = usize::try_from(before).ok().and_then(|index| self.desk.positions().nth(index));
        position.is_some_and(|position| size > position.seq)
    }
}

/// PM-35: returns why a `join` finds its seat taken, and what a player with a lost key can do.
fn taken_seat(paper: &Paper, code: &str, host_replaces: bool) -> Option<String> {
    let seat = paper.head().seat;
    match (paper.content(), code) {
        // PM-60: the host replaces a lost key.
        (PaperContent::Join(_), "not_yet") if host_replaces => Some(format!(
            "the match has begun and {seat} is taken. To replace a lost key, ask the host to `replace`"
        )),
        (PaperContent::Join(_), "not_yet") => Some(format!(
            "the match has begun and {seat} is taken. To replace a lost key, the other players must `offer replace`"
        )),
        (PaperContent::Join(_), "not_asked") => Some(format!("{seat} is taken; join another seat")),
        _ => None,
    }
}

/// Returns the seat that the paper would give to a new player. Only a person can know who that player is.
fn seat_of_new_player(paper: &Paper) -> Option<Seat> {
    match paper.content() {
        PaperContent::Join(_) => Some(paper.head().seat),
        PaperContent::Offer(Offer::Replace { seat, .. }) => Some(*seat),
        _ => None,
    }
}
