//! Answers: what became of a paper, to whoever sent it (PM-29, PM-30).

use turnfold_core::outcome::{Ruled, Ruling};
use turnfold_core::paper::Paper;
use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::{Rules, Seat};
use turnfold_store::Seq;

use super::desk::DeskEntries;
use super::mail::Mail;
use super::prose::{Text, salutation};
use super::report::Turn;
use super::story::sentences;

/// A paper that came, and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct PaperAnswer<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// What became of it.
    pub outcome: AnswerOutcome<'a>,
}

/// What became of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome<'a> {
    /// The desk has it, now or since it came for the first time: its entry, which tells whether it counts.
    Recorded(Seq),
    /// It is not recorded.
    NotRecorded {
        /// Why, in one word.
        code: &'a str,
        /// Why, in words.
        message: &'a str,
    },
}

impl PaperAnswer<'_> {
    /// Returns the size of the desk that the answer tells of.
    pub(super) fn size(&self, log: &DeskEntries) -> u64 {
        match self.outcome {
            AnswerOutcome::Recorded(seq) => seq.saturating_add(1),
            AnswerOutcome::NotRecorded { .. } => log.size(),
        }
    }
}

/// Writes its subject and text.
pub(super) fn write(
    answer: &PaperAnswer<'_>,
    mail: &Mail<'_>,
    state: &State,
    attached: &str,
) -> (String, String) {
    let (head, kind) = (answer.paper.head(), answer.paper.content().kind());
    let (seat, number) = (head.seat, head.number);
    let view = Desk::view(state, seat);
    let turn = Turn { seat, state, view: &view, attached };
    let mut text = Text::default();
    text.line(&salutation(state, seat));
    let what = format!("your {kind} (paper {number})");
    let outcome = match answer.outcome {
        AnswerOutcome::NotRecorded { code, message } => {
            text.paragraph(&format!("{what} was not taken: {code}, {message}."));
            text.paragraph("Nothing of it is on record.");
            code
        }
        AnswerOutcome::Recorded(seq) => recorded(mail, (&what, seat, seq), &mut text),
    };
    text.paragraph(&turn.waits());
    turn.offers(&mut text);
    text.paragraph("The digest of the paper is");
    text.block([answer.paper.digest().to_string().as_str()]);
    (format!("[{}] your {kind} {number}: {outcome}", mail.game), text.into_string())
}

/// Tells what became of a paper that the desk has as this entry; returns it in a word.
fn recorded(mail: &Mail<'_>, (what, reader, seq): (&str, Seat, Seq), text: &mut Text) -> &'static str {
    let entry = mail.log.entries.iter().find(|entry| entry.seq == seq);
    let told = entry.map(|entry| sentences(entry, reader)).unwrap_or_default();
    let outcome = if let Some(reason) = entry.and_then(|entry| entry.ignored) {
        let Ruling { code, text: why, .. } = reason.ruling();
        let why = why.unwrap_or_default();
        text.paragraph(&format!("{what} is on record and changes nothing: {code}, {why}."));
        code
    } else {
        text.paragraph(&format!("{what} was taken, and counts."));
        "taken"
    };
    text.items(&told);
    text.paragraph(&format!(
        "Your receipt is record {seq} of the desk in the attached bundle, under the host's signature."
    ));
    outcome
}
