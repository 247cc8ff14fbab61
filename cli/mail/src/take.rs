//! `mail take`: judges papers from mails by the desk, and records them (PM-10, PM-26, PM-33).

use std::fmt;

use turnfold_core::outcome::Ruled;
use turnfold_core::paper::{Offer, Paper, PaperContent, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk};
use turnfold_core::{Rules, Seat, Verdict};
use turnfold_store::Seq;

use super::desk_history::AppliedEntry;
use super::host::MailHost;
use super::paper_form::FoundPaper;
use super::received_mail::ReceivedMail;
use crate::error::MailError;

/// The most papers of a seat that are recorded between two positions (PM-26).
pub(super) const PAPERS_MAX: usize = 50;

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
    pub(super) fn may_be_taken_later(&self) -> bool {
        match &self.outcome {
            PaperOutcome::NeedsAdmit(_)
            | PaperOutcome::Rejected { code: "hosted_first" | "wait_for_seals", .. } => true,
            PaperOutcome::Rejected { code: "not_yet", .. } => {
                !matches!(self.paper.as_ref().map(Paper::content), Some(PaperContent::Join(_)))
            }
            _ => false,
        }
    }

    pub(super) const fn unrecorded(paper: Option<Paper>, outcome: PaperOutcome) -> Self {
        Self { line: 1, paper, outcome, seq: None, is_new: false }
    }

    pub(super) fn on_record(entry: &AppliedEntry) -> Option<Self> {
        let paper = entry.command.paper()?.clone();
        let outcome = match entry.ignored {
            Some(reason) => PaperOutcome::Ignored(reason.ruling().code),
            None => PaperOutcome::Applied,
        };
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
        let mut taken = Vec::new();
        for FoundPaper { line, paper } in mail.papers() {
            let paper = match paper {
                Ok(mailed) => self.take_paper(mailed.signed, admitted)?,
                Err(error) => TakenPaper::unrecorded(None, PaperOutcome::Malformed(error.to_string())),
            };
            taken.push(TakenPaper { line, ..paper });
        }
        Ok(taken)
    }

    /// Returns `true` for a mail with a paper for this match (PM-53).
    pub(super) fn has_paper_in(&self, mail: &ReceivedMail) -> bool {
        let mut papers = mail.papers().into_iter().filter_map(|found| found.paper.ok());
        papers.any(|paper| self.is_named_by(paper.signed.paper()))
    }

    pub(super) fn is_named_by(&self, paper: &Paper) -> bool {
        *paper.head().match_id.as_bytes() == self.game.genesis.match_id
    }

    /// Takes one paper. A paper that was recorded before gets the same outcome again (PM-10).
    ///
    /// # Errors
    /// Errors of the store.
    pub fn take_paper(&mut self, signed: SignedPaper, admitted: &[Seat]) -> Result<TakenPaper, MailError> {
        if let Some(recorded) = self.desk.paper(&signed.paper().digest()).and_then(TakenPaper::on_record) {
            return Ok(recorded);
        }
        if let Some(outcome) = self.objection(&signed, admitted) {
            return Ok(TakenPaper::unrecorded(Some(signed.paper().clone()), outcome));
        }
        self.record_paper(Command::Paper(Box::new(signed)))
    }

    pub(super) fn record_paper(&mut self, command: Command) -> Result<TakenPaper, MailError> {
        let none = MailError::not_by_mail("it is no paper");
        let Some(paper) = command.paper() else { return Err(none) };
        let seat = paper.head().seat;
        let key = format!("paper:{}", paper.digest());
        let key = key.parse().map_err(MailError::not_by_mail)?;
        let applied = self.append(vec![(seat, command)], Some(&key))?;
        match applied.first().and_then(TakenPaper::on_record) {
            Some(recorded) => Ok(TakenPaper { is_new: true, ..recorded }),
            None => Err(none),
        }
    }

    fn objection(&self, signed: &SignedPaper, admitted: &[Seat]) -> Option<PaperOutcome> {
        let paper = signed.paper();
        let state = self.desk.state();
        let seat = paper.head().seat;
        let judged = Desk::judge(state, seat, &Command::Paper(Box::new(signed.clone())));
        let mut rejected = None;
        if let Err(denied) = &judged {
            let code = denied.code();
            let message = taken_seat(paper, code, self.game.terms.host_replaces);
            let message = message.unwrap_or_else(|| denied.to_string());
            rejected = Some(PaperOutcome::Rejected { code, message });
        }
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
        if rejected.is_none() && self.desk.papers_in_turn(seat) >= PAPERS_MAX {
            return Some(PaperOutcome::TooMany);
        }
        match seat_of_new_player(paper) {
            Some(new) if rejected.is_none() && !admitted.contains(&new) => {
                Some(PaperOutcome::NeedsAdmit(new))
            }
            _ => rejected,
        }
    }

    /// Returns `true` for a paper of this match that the seat's key signed; for a `join`, the key in the paper.
    fn is_authentic(&self, signed: &SignedPaper) -> bool {
        let paper = signed.paper();
        let state = self.desk.state();
        let key = match paper.content() {
            PaperContent::Join(join) => Some(&join.key),
            _ => state.key_of(paper.head().seat),
        };
        self.is_named_by(paper) && key.is_some_and(|key| signed.is_by(key))
    }

    /// Returns `true` if the history that the player has seen includes the position of the paper's turn; for turn 0,
    /// the Genesis.
    fn has_seen_its_position(&self, paper: &Paper) -> bool {
        let size = paper.head().seen.size;
        match self.desk.position_of_turn(paper.head().turn) {
            Some(position) => size > position.seq,
            None => paper.head().turn == 0 && size > 0,
        }
    }
}

/// PM-35: returns why a `join` finds its seat taken, and what a player with a lost key can do.
fn taken_seat(paper: &Paper, code: &str, host_replaces: bool) -> Option<String> {
    let seat = paper.head().seat;
    if !matches!(paper.content(), PaperContent::Join(_)) {
        return None;
    }
    // PM-60: the host replaces a lost key.
    let who =
        if host_replaces { "ask the host to `replace`" } else { "the other players must `offer replace`" };
    match code {
        "not_yet" => Some(format!("the match has begun and {seat} is taken. To replace a lost key, {who}")),
        "not_asked" => Some(format!("{seat} is taken; join another seat")),
        _ => None,
    }
}

fn seat_of_new_player(paper: &Paper) -> Option<Seat> {
    match paper.content() {
        PaperContent::Join(_) => Some(paper.head().seat),
        PaperContent::Offer(Offer::Replace { seat, .. }) => Some(*seat),
        _ => None,
    }
}
