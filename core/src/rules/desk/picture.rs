//! The desk as lines of text: the turn, then a line for each seat and each open offer.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::State;
use super::view::{OfferView, SeatView, View};
use crate::picture::{Block, Picture, TextLine, Tint};
use crate::text::OrNone;

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
        lines.push(TextLine::plain(format!("the game stands on {} after entry {}", stand.line, stand.seq)));
    }
    if let Some(result) = &view.result {
        lines.push(TextLine::default().with(format!("result: {result}"), Tint::Bright));
    }
    lines
}

fn seat_line(seat: &SeatView) -> TextLine {
    let status = match (seat.gone, seat.status) {
        (true, _) => "gone",
        (false, None) => "not asked",
        (false, Some("none")) => "asked",
        (false, Some(status)) => status,
    };
    let misses = if seat.misses == 0 { String::new() } else { format!(", misses {}", seat.misses) };
    let name = seat.name.as_deref().unwrap_or("free");
    let tint = if seat.gone { Tint::Faint } else { Tint::Plain };
    TextLine::default().with(format!("{:3} {name}: {status}{misses}", seat.seat), tint)
}

fn offer_line(offer: &OfferView) -> TextLine {
    let agreed: Vec<&str> = offer.agreed.iter().map(|seat| seat.name()).collect();
    let OfferView { seat, digest, offer, .. } = offer;
    TextLine::plain(format!("{seat} offers {offer} ({digest:.8}), agreed by {}", agreed.join(", ")))
}
