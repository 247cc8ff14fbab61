//! Draws the table: the maya, then the players' boards. An energy is a disc in its color, with the letter of the color
//! and the id of the energy.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;
use core::mem::take;

use super::energy::{Chakra, Color, Energy};
use super::ranged::{EnergyId, Row};
use super::score::{score, winners};
use super::sequence::Offers;
use super::state::{Player, State};
use super::tokens::Token;
use super::view::{channels, moves, phase_name};
use turnfold_core::prelude::*;
use turnfold_core::text::joined_by;

/// The width of a row's number and name.
const NAME_WIDTH: usize = 10;
/// The number of offers in a line of text.
const OFFERS_A_LINE: usize = 4;
/// The number of columns of the earth in a row of the picture.
const EARTH_WIDTH: usize = 3;

pub(super) fn picture(state: &State, viewer: Perspective) -> Picture {
    let offers = moves(state);
    let mut blocks = Vec::from([
        Block::Lines(heading(state)),
        Block::Rows(maya(state)),
        Block::Lines(prompt(state, &offers)),
    ]);
    for (seat, player) in state.seats().iter().zip(&state.players) {
        blocks.push(Block::Rows(board(state, viewer, *seat, player, &offers)));
    }
    blocks.push(Block::Lines(legend()));
    Picture { blocks }
}

/// Returns the letter of a color. Black is K because B is blue.
const fn letter(color: Color) -> char {
    match color {
        Color::Purple => 'P',
        Color::DarkBlue => 'D',
        Color::Blue => 'B',
        Color::Green => 'G',
        Color::Yellow => 'Y',
        Color::Orange => 'O',
        Color::Red => 'R',
        Color::Black => 'K',
        Color::White => 'W',
    }
}

const fn tint(color: Color) -> Tint {
    match color {
        Color::Purple => Tint::Rgb(0x00_a0_50_d0),
        Color::DarkBlue => Tint::Rgb(0x00_40_60_d0),
        Color::Blue => Tint::Rgb(0x00_30_a0_e0),
        Color::Green => Tint::Rgb(0x00_30_a0_40),
        Color::Yellow => Tint::Rgb(0x00_c0_a0_00),
        Color::Orange => Tint::Rgb(0x00_e0_80_20),
        Color::Red => Tint::Rgb(0x00_d0_30_30),
        Color::Black => Tint::Rgb(0x00_20_20_20),
        Color::White => Tint::Rgb(0x00_f4_f4_f4),
    }
}

const fn seat_tint(seat: Seat) -> Tint {
    match seat {
        Seat::P1 => Tint::First,
        Seat::P2 => Tint::Second,
        Seat::P3 => Tint::Third,
        Seat::P4 => Tint::Fourth,
        _ => Tint::Plain,
    }
}

fn heading(state: &State) -> Vec<TextLine> {
    let last_round = if state.last_round { ", last round" } else { "" };
    let phase = phase_name(state).replace('_', " ");
    let text = if state.is_over() { phase } else { format!("{}: {phase}{last_round}", state.active) };
    [TextLine::plain(text)].into()
}

/// Returns what is on offer to the active player or, at the end, who has won.
fn prompt(state: &State, offers: &Offers) -> Vec<TextLine> {
    let mut lines = Vec::new();
    match state.sequence() {
        _ if state.is_over() => lines.push(format!("won by {}", joined_by(" and ", winners(state)))),
        None => lines.push(format!("channels on offer: {}", joined_by(" ", channels(state)))),
        Some(sequence) => {
            lines.push(format!("channel {}, {} moved; offered:", sequence.channel, sequence.moved.len()));
            let mut offered = Vec::new();
            for (id, rows) in offers {
                offered.push(format!("{id} to {}", joined_by(" or ", rows.values())));
            }
            for some in offered.chunks(OFFERS_A_LINE) {
                lines.push(joined_by(", ", some));
            }
        }
    }
    lines.into_iter().map(TextLine::plain).collect()
}

fn heading_row(label: TextLine) -> PieceRow {
    PieceRow { label, ..PieceRow::default() }
}

fn maya(state: &State) -> Vec<PieceRow> {
    let heading = TextLine::plain(format!("maya, {} in the bag", state.bag.len()));
    let mut rows = Vec::from([heading_row(heading)]);
    for energies in &state.maya {
        let pieces = energies.iter().map(|energy| piece(*energy, "")).collect();
        rows.push(PieceRow { pieces, ..PieceRow::default() });
    }
    rows
}

/// Names an energy as a target of clicks.
pub(super) fn energy_target(id: EnergyId) -> String {
    format!("energy {id}")
}

/// Names a row as a target of clicks.
pub(super) fn row_target(row: impl Display) -> String {
    format!("row {row}")
}

fn piece(energy: Option<Energy>, mark: &str) -> Piece {
    let Some(energy) = energy else {
        return Piece { text: String::new(), tint: Tint::Faint, mark: String::new(), target: String::new() };
    };
    let text = format!("{}{}", letter(energy.color), energy.id);
    Piece { text, tint: tint(energy.color), mark: mark.into(), target: energy_target(energy.id) }
}

/// Draws a player's board: seat, score and tokens, then the rows.
fn board(state: &State, viewer: Perspective, seat: Seat, player: &Player, offers: &Offers) -> Vec<PieceRow> {
    let mut moved = BTreeSet::new();
    if let Some(sequence) = state.sequence() {
        moved.extend(sequence.moved.iter().map(|moved| moved.id));
    }
    let turn = if seat == state.active && !state.is_over() { "> " } else { "" };
    let name = TextLine::default().with(turn, Tint::Bright).with(seat.name(), seat_tint(seat));
    let mut rows = Vec::from([
        heading_row(name.with(format!("  score {}", score(state, player)), Tint::Plain)),
        heading_row(TextLine::plain(format!("tokens {}", player.tokens))),
    ]);
    for row in Row::all() {
        let mut label = row_label(state, viewer, player, row);
        let mut target = format!("{seat} {}", row_target(row));
        for energies in player.board.row(row).chunks(EARTH_WIDTH) {
            let mut pieces = Vec::new();
            for energy in energies {
                let mark = match energy {
                    Some(energy) if offers.contains_key(&energy.id) => "+",
                    Some(energy) if moved.contains(&energy.id) => "'",
                    _ => "",
                };
                pieces.push(piece(*energy, mark));
            }
            // Only the first part has the label and the target, so a click on it means the whole row.
            rows.push(PieceRow { label: take(&mut label), pieces, target: take(&mut target) });
        }
    }
    if player.yinyang_halves > 0 {
        rows.push(heading_row(TextLine::plain(format!("yin-yang halves {}", player.yinyang_halves))));
    }
    rows
}

/// Names a row. A chakra's row also shows its plenitude, if the viewer knows it, and the sign of its notch.
fn row_label(state: &State, viewer: Perspective, player: &Player, row: Row) -> TextLine {
    let Some(chakra) = Chakra::of_row(row) else {
        let name = if row == Row::EARTH { "earth" } else { "universe" };
        return TextLine::plain(format!("{row} {name}"));
    };
    let seen = match state.plenitude_seen_by(viewer, chakra) {
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let name = format!("{row} {chakra}");
    TextLine::default()
        .with(format!("{name:NAME_WIDTH$}"), tint(chakra.color()))
        .with(format!(" {seen:1} "), Tint::Plain)
        .with(notch(player, chakra), Tint::Bright)
}

/// Returns the sign of a chakra's row: `o` for a token in the notch, `=` for a row in harmony.
fn notch(player: &Player, chakra: Chakra) -> &'static str {
    match (player.tokens.at(Token::Notch(chakra)), player.board.is_harmonised(chakra)) {
        (Some(_), _) => "o",
        (None, true) => "=",
        (None, false) => " ",
    }
}

fn legend() -> Vec<TextLine> {
    let mut lines = Vec::new();
    for colors in Color::ALL.chunks(5) {
        let mut line = TextLine::default();
        for color in colors {
            line = line.with(format!("{} {color}", letter(*color)), tint(*color)).with("  ", Tint::Plain);
        }
        lines.push(line);
    }
    for signs in
        ["+ may move  ' moved  o token in the notch", "= harmonised  > to play; a number is the plenitude"]
    {
        lines.push(TextLine::default().with(signs, Tint::Faint));
    }
    lines
}
