//! The table drawn: the maya, then the players' boards. An energy is a disc in its color, with the color's letter and
//! its id.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use super::board::ROW_SIZE;
use super::energy::{Chakra, Color, Energy};
use super::query::{channels, moves};
use super::ranged::{EnergyId, Row};
use super::score::{score, winners};
use super::sequence::Offers;
use super::state::{Player, State};
use super::tokens::Token;
use super::view::phase_name;
use turnfold_core::picture::{Block, Picture, Piece, PieceRow, TextLine, Tint};
use turnfold_core::seat::{Perspective, Seat};

/// The width of a row's number and name.
const NAME_WIDTH: usize = 10;
/// How many offers stand in a line.
const OFFERS_A_LINE: usize = 4;
/// How many energies of the earth stand in a row of the picture.
const EARTH_WIDTH: usize = 3;

pub(super) fn picture(state: &State, viewer: Perspective) -> Picture {
    let offers = moves(state);
    let boards = state.seats().iter().zip(&state.players);
    let boards = boards.map(|(seat, player)| Block::Rows(board(state, viewer, *seat, player, &offers)));
    let table =
        [Block::Lines(heading(state)), Block::Rows(maya(state)), Block::Lines(prompt(state, &offers))];
    Picture { blocks: table.into_iter().chain(boards).chain([Block::Lines(legend())]).collect() }
}

/// The letter of a color; black is K, as B is blue.
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

/// What is offered to the active player, or who has won.
fn prompt(state: &State, offers: &Offers) -> Vec<TextLine> {
    let text = match state.sequence() {
        _ if state.is_over() => format!("won by {}", words(winners(state), " and ")),
        None => format!("channels on offer: {}", words(channels(state), " ")),
        Some(sequence) => {
            let moved = sequence.moved.len();
            let first = TextLine::plain(format!("channel {}, {moved} moved; offered:", sequence.channel));
            let offered = offers.iter().map(|(id, rows)| format!("{id} to {}", words(rows.values(), " or ")));
            let offered: Vec<String> = offered.collect();
            let lines = offered.chunks(OFFERS_A_LINE).map(|offers| TextLine::plain(words(offers, ", ")));
            return [first].into_iter().chain(lines).collect();
        }
    };
    [TextLine::plain(text)].into()
}

fn words(items: impl IntoIterator<Item: ToString>, separator: &str) -> String {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(separator)
}

fn heading_row(label: TextLine) -> PieceRow {
    PieceRow { label, ..PieceRow::default() }
}

fn maya(state: &State) -> Vec<PieceRow> {
    let heading = heading_row(TextLine::plain(format!("maya, {} in the bag", state.bag.len())));
    let row = |energies: &[Option<Energy>; ROW_SIZE]| {
        let pieces = energies.iter().map(|energy| piece(*energy, "")).collect();
        PieceRow { pieces, ..PieceRow::default() }
    };
    [heading].into_iter().chain(state.maya.iter().map(row)).collect()
}

/// Names an energy as commands have it that are clicked.
pub(super) fn energy_target(id: EnergyId) -> String {
    format!("energy {id}")
}

/// Names a row as commands have it that are clicked.
pub(super) fn row_target(row: impl Display) -> String {
    format!("row {row}")
}

/// Draws an energy or an empty column.
fn piece(energy: Option<Energy>, mark: &str) -> Piece {
    let Some(energy) = energy else {
        return Piece { text: String::new(), tint: Tint::Faint, mark: String::new(), target: String::new() };
    };
    let text = format!("{}{}", letter(energy.color), energy.id);
    Piece { text, tint: tint(energy.color), mark: mark.into(), target: energy_target(energy.id) }
}

/// Draws a player's board: whose it is, the score and the tokens, then the rows.
fn board(state: &State, viewer: Perspective, seat: Seat, player: &Player, offers: &Offers) -> Vec<PieceRow> {
    let mut moved = BTreeSet::new();
    if let Some(sequence) = state.sequence() {
        moved.extend(sequence.moved.iter().map(|moved| moved.id));
    }
    let mark = |energy: &Option<Energy>| match energy.map(|energy| energy.id) {
        Some(id) if offers.contains_key(&id) => "+",
        Some(id) if moved.contains(&id) => "'",
        _ => "",
    };
    let turn = if seat == state.active && !state.is_over() { "> " } else { "" };
    let name = TextLine::default().with(turn, Tint::Bright).with(seat.name(), seat_tint(seat));
    let mut rows = Vec::from([
        heading_row(name.with(format!("  score {}", score(state, player)), Tint::Plain)),
        heading_row(TextLine::plain(format!("tokens {}", player.tokens))),
    ]);
    for row in Row::all() {
        let parts = player.board.row(row).chunks(EARTH_WIDTH).enumerate();
        rows.extend(parts.map(|(part, energies)| PieceRow {
            label: if part == 0 { row_label(state, viewer, player, row) } else { TextLine::default() },
            pieces: energies.iter().map(|energy| piece(*energy, mark(energy))).collect(),
            target: if part == 0 { format!("{seat} {}", row_target(row)) } else { String::new() },
        }));
    }
    if player.yinyang_halves > 0 {
        rows.push(heading_row(TextLine::plain(format!("yin-yang halves {}", player.yinyang_halves))));
    }
    rows
}

/// Names a row, a chakra's with its plenitude as far as the viewer has seen it and the sign of its notch.
fn row_label(state: &State, viewer: Perspective, player: &Player, row: Row) -> TextLine {
    let Some(chakra) = Chakra::of_row(row) else {
        let name = if row == Row::EARTH { "earth" } else { "universe" };
        return TextLine::plain(format!("{row} {name}"));
    };
    let seen = state.plenitude_seen_by(viewer, chakra);
    let seen = seen.map_or_else(String::new, |value| value.to_string());
    let name = format!("{row} {chakra}");
    TextLine::default()
        .with(format!("{name:NAME_WIDTH$}"), tint(chakra.color()))
        .with(format!(" {seen:1} "), Tint::Plain)
        .with(notch(player, chakra), Tint::Bright)
}

/// The sign of a chakra's row: a token in the notch, or the row harmonised.
fn notch(player: &Player, chakra: Chakra) -> &'static str {
    match (player.tokens.at(Token::Notch(chakra)), player.board.is_harmonised(chakra)) {
        (Some(_), _) => "o",
        (None, true) => "=",
        (None, false) => " ",
    }
}

fn legend() -> Vec<TextLine> {
    let letters = |colors: &[Color]| {
        colors.iter().fold(TextLine::default(), |line, color| {
            line.with(format!("{} {color}", letter(*color)), tint(*color)).with("  ", Tint::Plain)
        })
    };
    let signs =
        ["+ may move  ' moved  o token in the notch", "= harmonised  > to play; a number is the plenitude"];
    let signs = signs.map(|signs| TextLine::default().with(signs, Tint::Faint));
    Color::ALL.chunks(5).map(letters).chain(signs).collect()
}
