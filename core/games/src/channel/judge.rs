//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::board::{Place, ROW_SIZE};
use super::command::{Command, Ids};
use super::energy::{Chakra, Color, Energy};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::reason::Rejection;
use super::sequence::{Variant, can_be_carried_out};
use super::state::{MayaPlace, Phase, Player, State};
use super::tokens::{Token, TokenNumber};
use turnfold_core::seat::Seat;

/// What to do for the active player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take {
        row: Row,
        places: Vec<MayaPlace>,
        /// The token for the notch of the chakra's row; `None` for the universe.
        token: Option<(TokenNumber, Chakra)>,
    },
    Open {
        channel: ChannelNumber,
        token: TokenNumber,
    },
    Move {
        from: Place,
        to: Row,
        variant: Variant,
    },
    Confirm,
    Undo,
    Cancel,
    Meditate(Chakra),
    Pick {
        /// The place of the energy that leaves the game.
        black: Place,
        color: Color,
        /// The energy of the bag that replaces it.
        id: EnergyId,
    },
}

pub(super) fn decide(state: &State, seat: Seat, command: &Command) -> Result<Plan, Rejection> {
    if !belongs_to_phase(state, command) {
        return Err(Rejection::WrongPhase);
    }
    if seat != state.active {
        return Err(Rejection::NotYourTurn);
    }
    let player = state.player(seat).ok_or(Rejection::NotYourTurn)?;
    plan(state, player, command).map(Plan)
}

fn belongs_to_phase(state: &State, command: &Command) -> bool {
    match (command, &state.phase) {
        (Command::Take { .. } | Command::Channel(_) | Command::Meditate(_), Phase::Take)
        | (Command::Cancel | Command::Pick(_), Phase::PickColor) => true,
        (Command::Move { .. }, Phase::Channel(sequence)) => !sequence.is_complete(),
        // CH-11: between its first and last move, a channel can be neither undone nor ended.
        (Command::Confirm | Command::Undo, Phase::Channel(sequence)) => sequence.is_complete(),
        (Command::Cancel, Phase::Channel(sequence)) => sequence.moved.is_empty(),
        _ => false,
    }
}

/// Plans a command that the phase allows and the active player gave.
fn plan(state: &State, player: &Player, command: &Command) -> Result<Step, Rejection> {
    match command {
        Command::Take { row, ids } => plan_take(state, player, *row, ids.as_slice()),
        // CH-5: the reasons are checked in the order of the rule.
        Command::Channel(channel) => {
            let token = player.tokens.next_free().ok_or(Rejection::NoToken)?;
            if player.tokens.at(Token::Channel(*channel)).is_some() {
                return Err(Rejection::ChannelUsed);
            }
            if !is_possible(state, player, *channel) {
                return Err(Rejection::Impossible);
            }
            Ok(Step::Open { channel: *channel, token })
        }
        // CH-10: offers include the look-ahead, so nothing else is checked.
        Command::Move { id, row } => {
            let sequence = state.sequence().ok_or(Rejection::WrongPhase)?;
            let offered = sequence.offered(&player.board, *id, *row);
            let (from, to, variant) = offered.ok_or(Rejection::NotOffered)?;
            Ok(Step::Move { from, to, variant })
        }
        Command::Confirm => Ok(Step::Confirm),
        Command::Undo => Ok(Step::Undo),
        Command::Cancel => Ok(Step::Cancel),
        // CH-6, CH-16: always possible in this phase.
        Command::Meditate(chakra) => Ok(Step::Meditate(*chakra)),
        Command::Pick(color) => {
            let (black, id) = exchange(state, player, *color).ok_or(Rejection::NotOffered)?;
            Ok(Step::Pick { black, color: *color, id })
        }
    }
}

/// CH-4: plans a take. The reasons are checked in the order of the ruling.
fn plan_take(state: &State, player: &Player, row: i32, ids: &[EnergyId]) -> Result<Step, Rejection> {
    // No list, because most of the candidates that are judged are no legal takes.
    let mut chosen: [Option<(MayaPlace, Energy)>; 3] = [None; 3];
    for (slot, id) in chosen.iter_mut().zip(ids) {
        *slot = Some(state.find_in_maya(*id).ok_or(Rejection::NotOneFlow)?);
    }
    let chosen = chosen.iter().flatten();
    let column = chosen.clone().next().ok_or(Rejection::NotOneFlow)?.0.column;
    if chosen.clone().any(|(place, _)| place.column != column) {
        return Err(Rejection::NotOneFlow);
    }
    for (index, (_, energy)) in chosen.clone().enumerate() {
        if chosen.clone().take(index).any(|(_, other)| other.color == energy.color) {
            return Err(Rejection::SameColour);
        }
    }
    let row = u16::try_from(row).ok().and_then(Row::new).ok_or(Rejection::BadRow)?;
    if row == Row::EARTH {
        return Err(Rejection::BadRow);
    }
    if player.board.room(row) < ids.len() {
        return Err(Rejection::RowFull);
    }
    let shows_either = state.flow(column).any(|(_, energy)| energy.color.is_black_or_white());
    match chosen.clone().filter(|(_, energy)| energy.color.is_black_or_white()).count() {
        0 if shows_either => return Err(Rejection::MustTakeBlackOrWhite),
        2 => return Err(Rejection::BlackAndWhite),
        _ => {}
    }
    let token = Chakra::of_row(row).map(|chakra| notch_token(player, chakra)).transpose()?;
    for (_, energy) in chosen.clone() {
        if !energy.color.is_black_or_white() && player.board.count_of(energy.color) >= 3 {
            return Err(Rejection::TooManyOfColour);
        }
    }
    if let Some((_, chakra)) = token
        && player.tokens.in_notches() == 4
    {
        let mut board = player.board;
        for (_, energy) in chosen.clone() {
            board.put(row, *energy);
        }
        if !board.is_harmonised(chakra) {
            return Err(Rejection::LastToken);
        }
    }
    let places = chosen.map(|(place, _)| *place).collect();
    Ok(Step::Take { row, places, token })
}

/// CH-4: returns the token that a take puts into the notch of a chakra's row.
fn notch_token(player: &Player, chakra: Chakra) -> Result<(TokenNumber, Chakra), Rejection> {
    if player.tokens.at(Token::Notch(chakra)).is_some() {
        return Err(Rejection::NotchBlocked);
    }
    let token = player.tokens.next_free().ok_or(Rejection::NoToken)?;
    Ok((token, chakra))
}

/// CH-5, CH-12: returns `true` if a channel could be carried out, regardless of tokens.
pub(super) fn is_possible(state: &State, player: &Player, channel: ChannelNumber) -> bool {
    if channel == ChannelNumber::EXCHANGE {
        Color::ALL.into_iter().any(|color| exchange(state, player, color).is_some())
    } else {
        can_be_carried_out(&player.board, channel)
    }
}

/// CH-12: returns the place of the black energy and the id of its replacement, if the color may be picked.
fn exchange(state: &State, player: &Player, color: Color) -> Option<(Place, EnergyId)> {
    let board = &player.board;
    let (black, _) = board.placed_in(Row::EARTH).rev().find(|(_, energy)| energy.color == Color::Black)?;
    if board.room(Row::UNIVERSE) == 0 || (color != Color::Black && board.count_of(color) >= 3) {
        return None;
    }
    let (id, _) = state.bag.iter().find(|(_, other)| **other == color)?;
    Some((black, *id))
}

/// Lists the commands worth trying; none for a seat that is not a player.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    let Some(player) = state.player(seat) else { return Vec::new() };
    let mut commands = vec![Command::Confirm, Command::Undo, Command::Cancel];
    commands.extend(takes(state));
    commands.extend(ChannelNumber::all().map(Command::Channel));
    commands.extend(Chakra::all().map(Command::Meditate));
    commands.extend(Color::ALL.map(Command::Pick));
    for (_, energy) in player.board.placed().filter(|(place, _)| place.row != Row::EARTH) {
        for row in Row::all().filter(|row| *row != Row::UNIVERSE) {
            commands.push(Command::Move { id: energy.id, row: i32::from(row.get()) });
        }
    }
    commands
}

/// Returns the takes of every choice from a flow, in every order, into rows 1 to 8: by row, flow, size and places.
pub(super) fn takes(state: &State) -> Vec<Command> {
    let mut choices = Vec::new();
    for column in 0..ROW_SIZE {
        push_choices(state, column, &mut choices);
    }
    let mut takes = Vec::with_capacity(choices.len() * Row::all().count());
    for row in Row::all().filter(|row| *row != Row::EARTH) {
        let row = i32::from(row.get());
        takes.extend(choices.iter().map(|ids| Command::Take { row, ids: *ids }));
    }
    takes
}

/// Appends every choice of one to three energies of a flow, in every order, shorter choices first.
fn push_choices(state: &State, column: usize, choices: &mut Vec<Ids>) {
    let flow: Vec<EnergyId> = state.flow(column).map(|(_, energy)| energy.id).collect();
    let mut last = choices.len();
    choices.extend(flow.iter().map(|id| Ids::one(*id)));
    for _ in 1..3 {
        let until = choices.len();
        for index in last..until {
            let Some(shorter) = choices.get(index).copied() else { break };
            for id in flow.iter().filter(|id| !shorter.as_slice().contains(id)) {
                choices.extend(shorter.with(*id));
            }
        }
        last = until;
    }
}
