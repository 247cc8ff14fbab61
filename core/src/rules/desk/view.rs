//! What everyone sees of a desk (PM-24): the view, the answer to `who`, and the view as lines of text. Orders are not
//! part of it, so every seat sees the same.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::state::{Phase, SeatState, State};
use crate::digest::Digest;
use crate::names::BranchName;
use crate::paper::DeskTime;
use crate::picture::{Block, Picture, TextLine, Tint};
use crate::rules::Answer;
use crate::seat::Seat;
use crate::text::OrNone;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub phase: &'static str,
    pub turn: u32,
    pub clock: Option<DeskTime>,
    pub deadline: Option<DeskTime>,
    pub stand: Option<StandView>,
    pub seats: Vec<SeatView>,
    pub offers: Vec<OfferView>,
    pub result: Option<String>,
}

/// The position of the game when the turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct StandView {
    #[serde(rename = "line")]
    pub branch: BranchName,
    pub seq: u64,
    pub link: Digest,
    pub state: Option<Digest>,
}

/// A seat and its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct SeatView {
    pub seat: Seat,
    pub name: Option<String>,
    pub status: Option<&'static str>,
    pub misses: u32,
    pub gone: bool,
    pub plain: bool,
    pub absent: Option<DeskTime>,
}

/// An open offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct OfferView {
    pub seat: Seat,
    pub nth: u32,
    pub digest: Digest,
    pub offer: String,
    pub agreed: Vec<Seat>,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
        let stand = state.stands.last().zip(state.stand).map(|(standing, stand)| StandView {
            branch: standing.branch.clone(),
            seq: standing.seq,
            link: stand.link,
            state: stand.state,
        });
        let mut offers = Vec::new();
        for (seat, open) in &state.offers {
            offers.push(OfferView {
                seat: *seat,
                nth: open.nth,
                digest: open.digest,
                offer: open.offer.to_string(),
                agreed: open.agreed.iter().copied().collect(),
            });
        }
        Self {
            phase: phase_word(state.phase),
            turn: state.turn(),
            clock: state.clock,
            deadline: state.deadline(),
            stand,
            seats: state.named_seats().map(|(seat, own)| SeatView::of(state, seat, own)).collect(),
            offers,
            result: if let Phase::Over(result) = state.phase { Some(result.to_string()) } else { None },
        }
    }
}

impl SeatView {
    fn of(state: &State, seat: Seat, own: &SeatState) -> Self {
        Self {
            seat,
            name: state.name_of(seat).map(Into::into),
            status: own.asked.word(),
            misses: own.misses,
            gone: own.gone,
            plain: own.is_plain(),
            absent: state.clock.and_then(|clock| own.absent_beyond(clock)),
        }
    }

    /// Returns the status of its player in the turn.
    #[must_use]
    pub fn in_words(&self) -> &'static str {
        match (self.gone, self.status) {
            (true, _) => "gone",
            (false, None) => "not asked",
            (false, Some("none")) => "asked",
            (false, Some(status)) => status,
        }
    }
}

const fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Joining => "joining",
        Phase::Open => "open",
        Phase::Ready => "ready",
        Phase::Over(_) => "over",
    }
}

/// Whom the match waits for.
#[derive(Serialize)]
struct Who {
    seats: Vec<Seat>,
    since: Option<DeskTime>,
    until: Option<DeskTime>,
}

pub(super) fn query(state: &State, question: &str) -> Option<Answer> {
    if question != "who" {
        return None;
    }
    let mut who = Who { seats: state.awaited(), since: None, until: None };
    if matches!(state.phase, Phase::Open | Phase::Ready) {
        who.since = state.since();
    }
    if state.phase == Phase::Open {
        who.until = state.deadline();
    }
    let names: Vec<&str> = who.seats.iter().map(|seat| seat.name()).collect();
    let mut text = if names.is_empty() { String::from("no one") } else { names.join(", ") };
    for (word, time) in [("since", who.since), ("until", who.until)] {
        if let Some(time) = time {
            text.extend([" ", word, " ", &time.to_string()]);
        }
    }
    Some(Answer::new(text, &who))
}

pub(super) fn picture(state: &State) -> Picture {
    let view = View::of(state);
    let mut lines = heading(&view);
    lines.extend(view.seats.iter().map(seat_line));
    lines.extend(view.offers.iter().map(offer_line));
    Picture { blocks: [Block::Lines(lines)].into() }
}

fn heading(view: &View) -> Vec<TextLine> {
    let mut lines = Vec::from([TextLine::plain(format!("turn {}, {}", view.turn, view.phase))]);
    if let Some(clock) = view.clock {
        lines.push(TextLine::plain(format!("clock {clock}, deadline {}", OrNone(view.deadline))));
    }
    if let Some(stand) = &view.stand {
        lines.push(TextLine::plain(format!("the game stands on {} after entry {}", stand.branch, stand.seq)));
    }
    if let Some(result) = &view.result {
        lines.push(TextLine::default().with(format!("result: {result}"), Tint::Bright));
    }
    lines
}

fn seat_line(seat: &SeatView) -> TextLine {
    let status = seat.in_words();
    let misses = if seat.misses == 0 { String::new() } else { format!(", misses {}", seat.misses) };
    let name = seat.name.as_deref().unwrap_or("free");
    let tint = if seat.gone { Tint::Faint } else { Tint::Plain };
    TextLine::default().with(format!("{:3} {name}: {status}{misses}", seat.seat), tint)
}

fn offer_line(offer: &OfferView) -> TextLine {
    let agreed: Vec<&str> = offer.agreed.iter().map(|seat| seat.name()).collect();
    let OfferView { seat, nth, offer, .. } = offer;
    TextLine::plain(format!("offer {nth} by {seat}: {offer}, agreed by {}", agreed.join(", ")))
}
