//! The table drawn: the maya, then the players' boards side by side. An energy is the letter of its color and its id.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::energy::{Chakra, Color, Energy};
use super::query::{channels, moves};
use super::ranged::{EnergyId, Row};
use super::score::{score, winners};
use super::sequence::Offers;
use super::state::{Player, State};
use super::tokens::Token;
use super::view::phase_name;
use crate::picture::{Block, Picture, TextLine, Tint};
use crate::seat::Seat;

/// The width of the names of the rows.
const NAMES_WIDTH: usize = 12;
/// The width of an energy: letter, id and mark.
const ENERGY_WIDTH: usize = 6;
/// The width of a player's board: the notch and three energies.
const BOARD_WIDTH: usize = 4 + 3 * ENERGY_WIDTH;

pub(super) fn picture(state: &State, viewer: Seat) -> Picture {
    let offers = moves(state);
    let blocks = [heading(state, &offers), maya(state), boards(state, viewer, &offers), legend()];
    Picture { blocks: blocks.into_iter().map(Block::Lines).collect() }
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
        Color::Black => Tint::Faint,
        Color::White => Tint::Bright,
    }
}

fn heading(state: &State, offers: &Offers) -> Vec<TextLine> {
    let last_round = if state.last_round { ", last round" } else { "" };
    if state.is_over() {
        return [TextLine::plain(format!("over, won by {}", words(winners(state), " and ")))].into();
    }
    let phase = phase_name(state).replace('_', " ");
    let first = format!("{}: {phase}{last_round}", state.active);
    let second = state.sequence().map_or_else(
        || format!("channels on offer: {}", words(channels(state), " ")),
        |sequence| {
            let moved = sequence.moved.len();
            let offered = offers.iter().map(|(id, rows)| format!("{id} to {}", words(rows.values(), " or ")));
            format!("channel {}, {moved} moved; offered: {}", sequence.channel, words(offered, ", "))
        },
    );
    [TextLine::plain(first), TextLine::plain(second)].into()
}

fn words(items: impl IntoIterator<Item: ToString>, separator: &str) -> String {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(separator)
}

fn maya(state: &State) -> Vec<TextLine> {
    let mut lines = Vec::from([TextLine::plain(format!("maya, {} in the bag", state.bag.len()))]);
    lines.extend(
        state.maya.iter().map(|row| {
            row.iter().fold(TextLine::plain("  "), |line, energy| with_energy(line, *energy, None))
        }),
    );
    lines
}

/// What marks an energy of the active player's board.
#[derive(Clone, Copy)]
enum Mark {
    /// It may move.
    Selectable,
    /// It has moved in this sequence.
    Moved,
}

/// Adds an energy or an empty place.
fn with_energy(line: TextLine, energy: Option<Energy>, mark: Option<Mark>) -> TextLine {
    let Some(energy) = energy else { return line.with(format!("{:ENERGY_WIDTH$}", "."), Tint::Faint) };
    let mark = match mark {
        Some(Mark::Selectable) => "*",
        Some(Mark::Moved) => "'",
        None => "",
    };
    let text = format!("{}{}{mark}", letter(energy.color), energy.id);
    line.with(format!("{text:ENERGY_WIDTH$}"), tint(energy.color))
}

fn boards(state: &State, viewer: Seat, offers: &Offers) -> Vec<TextLine> {
    let moved: BTreeSet<EnergyId> =
        state.sequence().into_iter().flat_map(|sequence| &sequence.moved).map(|moved| moved.id).collect();
    let mark = |energy: &Energy| match energy.id {
        id if offers.contains_key(&id) => Some(Mark::Selectable),
        id if moved.contains(&id) => Some(Mark::Moved),
        _ => None,
    };
    let mut lines = Vec::from(summaries(state));
    for row in Row::all() {
        // The earth's eight columns are drawn in three lines.
        let energies = state.players.iter().map(|player| player.board.row(row).chunks(3));
        let height = if row == Row::EARTH { 3 } else { 1 };
        for part in 0..height {
            let name = if part == 0 { row_name(state, row, viewer) } else { String::new() };
            let mut line = TextLine::plain(format!("{name:NAMES_WIDTH$}"));
            for (player, mut chunks) in state.players.iter().zip(energies.clone()) {
                line = line.with(notch(player, row), Tint::Plain);
                let chunk = chunks.nth(part).unwrap_or_default();
                line = chunk
                    .iter()
                    .fold(line, |line, energy| with_energy(line, *energy, energy.as_ref().and_then(mark)));
            }
            lines.push(line);
        }
    }
    lines
}

/// Above each board: whose it is, the score, and the tokens that are not in notches.
fn summaries(state: &State) -> [TextLine; 3] {
    let across = |text: &dyn Fn(Seat, &Player) -> String| {
        let names = format!("{:NAMES_WIDTH$}", "");
        let players = state.seats().iter().zip(&state.players);
        players.fold(TextLine::plain(names), |line, (seat, player)| {
            line.with(format!("{:BOARD_WIDTH$}", text(*seat, player)), Tint::Plain)
        })
    };
    [
        across(&|seat, player| {
            let turn = if seat == state.active && !state.is_over() { ">" } else { " " };
            format!("{turn} {seat}  score {}", score(state, player))
        }),
        across(&|_, player| format!("  tokens {}", player.tokens)),
        across(&|_, player| match player.yinyang_halves {
            0 => String::new(),
            halves => format!("  yin-yang halves {halves}"),
        }),
    ]
}

/// Names a row, a chakra's with its plenitude as far as the viewer has seen it.
fn row_name(state: &State, row: Row, viewer: Seat) -> String {
    let Some(chakra) = Chakra::of_row(row) else {
        return format!("{row} {}", if row == Row::EARTH { "earth" } else { "universe" });
    };
    let seen = state.plenitude_seen_by(viewer, chakra);
    format!("{row} {chakra} {}", seen.map_or_else(String::new, |value| value.to_string()))
}

/// The sign before a row: a token in the notch, or the row harmonised.
fn notch(player: &Player, row: Row) -> &'static str {
    let Some(chakra) = Chakra::of_row(row) else { return "    " };
    match (player.tokens.at(Token::Notch(chakra)), player.board.is_harmonised(chakra)) {
        (Some(_), _) => "  o ",
        (None, true) => "  = ",
        (None, false) => "    ",
    }
}

fn legend() -> Vec<TextLine> {
    let letters = Color::ALL.into_iter().fold(TextLine::default(), |line, color| {
        line.with(format!("{} {color}  ", letter(color)), tint(color))
    });
    let signs = "* may move  ' moved  o token in the notch  = harmonised  > to play; a number after a row is its plenitude";
    [letters, TextLine::default().with(signs, Tint::Faint)].into()
}
