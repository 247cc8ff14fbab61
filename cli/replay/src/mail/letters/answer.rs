//! Replies to the papers of a mail, for their senders (PM-29, PM-30).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::outcome::{Ruled, Ruling};
use turnfold_core::paper::{Paper, SignedPaper};
use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::{Digest, Rules, Seat};
use turnfold_store::Seq;

use super::mail::Mail;
use super::prose::{Text, salutation};
use super::report::Turn;
use super::story::sentences;
use crate::mail::outbox::LetterName;
use crate::mail::take::{PaperOutcome, TakenPaper};

/// The most papers that a letter lists one by one.
const LISTED_MAX: usize = 20;

/// A letter that answers a mail.
pub(super) struct AnswerLetter<'a> {
    pub(super) name: LetterName,
    told: Told<'a>,
}

/// The subject of a reply.
enum Told<'a> {
    /// A paper that the desk has, now or since it came for the first time. Its entry shows whether it counts.
    Receipt(&'a Paper, Seq),
    /// Papers that are not recorded, one at least.
    NotTaken(Vec<NotTaken<'a>>),
}

/// A paper that is not recorded.
struct NotTaken<'a> {
    paper: &'a Paper,
    digest: Digest,
    outcome: &'a PaperOutcome,
}

impl NotTaken<'_> {
    /// Says why, in one word.
    fn code(&self) -> &'static str {
        self.outcome.code().unwrap_or(self.outcome.name())
    }

    fn why(&self) -> String {
        format!("{}, {}", self.code(), self.outcome.message().unwrap_or_default())
    }
}

impl<'a> AnswerLetter<'a> {
    /// Returns the answers to the papers of a mail: for each that is recorded a receipt, and to each seat one letter about
    /// all that are not, since anyone can send any number of them. A sender without a seat gets no reply.
    pub(super) fn all(papers: &'a [TakenPaper], mail: &Mail<'_>) -> Vec<Self> {
        let players = Seat::players(mail.log.setup.seats.into());
        let (mut letters, mut not_taken) = (Vec::new(), BTreeMap::<Seat, Vec<NotTaken<'_>>>::new());
        let mut known = BTreeSet::new();
        for TakenPaper { paper, outcome, seq, .. } in papers {
            let Some(paper) = paper.as_ref().map(SignedPaper::paper) else { continue };
            let (seat, digest) = (paper.head().seat, paper.digest());
            if !players.contains(&seat) || !known.insert((digest, outcome.name(), outcome.code())) {
                continue;
            }
            match *seq {
                Some(seq) => {
                    let name = LetterName { desk_size: seq.saturating_add(1), seat, answers: Some(digest) };
                    letters.push(Self { name, told: Told::Receipt(paper, seq) });
                }
                None => not_taken.entry(seat).or_default().push(NotTaken { paper, digest, outcome }),
            }
        }
        letters.extend(not_taken.into_iter().map(|(seat, papers)| {
            let name = LetterName { desk_size: mail.log.size(), seat, answers: Some(answered(&papers)) };
            Self { name, told: Told::NotTaken(papers) }
        }));
        letters
    }

    /// Writes its subject and text.
    pub(super) fn write(&self, mail: &Mail<'_>, state: &State, attached: &str) -> (String, String) {
        let seat = self.name.seat;
        let view = Desk::view(state, seat);
        let turn = Turn { seat, state, view: &view, attached };
        let mut text = Text::default();
        text.line(&salutation(state, seat));
        let (subject, digest) = match &self.told {
            Told::Receipt(paper, seq) => {
                let outcome = recorded(mail, (&yours(paper), seat, *seq), &mut text);
                (subject_of(paper, outcome), Some(paper.digest()))
            }
            Told::NotTaken(papers) => match papers.as_slice() {
                [only] => {
                    text.paragraph(&format!("{} was not taken: {}.", yours(only.paper), only.why()));
                    text.paragraph("Nothing of it is on record.");
                    (subject_of(only.paper, only.code()), Some(only.digest))
                }
                papers => {
                    list(papers, &mut text);
                    (format!("{} papers: not taken", papers.len()), None)
                }
            },
        };
        text.paragraph(&turn.waits());
        turn.offers(&mut text);
        if let Some(digest) = digest {
            text.paragraph("The digest of the paper is");
            text.block([digest.to_string().as_str()]);
        }
        (format!("[{}] {subject}", mail.game), text.into_string())
    }
}

/// Returns the digest that names a letter: that of its paper, and of several one of theirs and of what became of each.
fn answered(papers: &[NotTaken<'_>]) -> Digest {
    if let [only] = papers {
        return only.digest;
    }
    let told: Vec<_> = papers.iter().map(|paper| format!("{} {}", paper.digest, paper.code())).collect();
    Digest::new(blake3::derive_key("turnfold v1 answer", told.join("\n").as_bytes()))
}

fn yours(paper: &Paper) -> String {
    format!("your {} (paper {})", paper.content().kind(), paper.head().number)
}

fn subject_of(paper: &Paper, outcome: &str) -> String {
    format!("your {} {}: {outcome}", paper.content().kind(), paper.head().number)
}

/// Lists several papers that are not recorded.
fn list(papers: &[NotTaken<'_>], text: &mut Text) {
    text.paragraph(&format!("{} papers that came for you in one mail were not taken:", papers.len()));
    let listed = papers.iter().take(LISTED_MAX);
    let items: Vec<_> = listed
        .map(|paper| format!("{}, digest {:.16}: {}.", yours(paper.paper), paper.digest, paper.why()))
        .collect();
    text.items(&items);
    if let Some(more) = papers.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        text.item(&format!("and {more} more."));
    }
    text.paragraph("Nothing of them is on record.");
}

/// Describes the outcome of a paper that the desk has as this entry; returns it in a word.
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
