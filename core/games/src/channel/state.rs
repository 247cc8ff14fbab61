//! The state of a match: the maya, the bag, the players and the part of the turn.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::board::{Board, ROW_SIZE};
use super::energy::{Chakra, Color, Energy};
use super::ranged::EnergyId;
use super::sequence::Sequence;
use super::tokens::Tokens;
use turnfold_core::seat::{Perspective, Seat};

/// Everything the future of a match depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// One value for each chakra, in order.
    pub(super) plenitude: [u8; Chakra::COUNT],
    /// The shared board, row by row.
    pub(super) maya: [[Option<Energy>; ROW_SIZE]; 3],
    /// Gives its lowest id to the maya.
    pub(super) bag: BTreeMap<EnergyId, Color>,
    /// The energies that left the game.
    pub(super) out: BTreeSet<EnergyId>,
    /// In seat order.
    pub(super) players: Vec<Player>,
    /// The player whose turn it is or, once the match is over, whose turn was last.
    pub(super) active: Seat,
    pub(super) phase: Phase,
    /// CH-14: the match ends with this round.
    pub(super) last_round: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Player {
    pub(super) board: Board,
    pub(super) tokens: Tokens,
    /// The chakras whose plenitude this player has seen.
    pub(super) known: BTreeSet<Chakra>,
    pub(super) yinyang_halves: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// The active player chooses what to do.
    Take,
    /// CH-7: energies move. After the last move the sequence waits for `confirm` or `undo`.
    Channel(Sequence),
    /// CH-12: the active player picks a color for a black energy.
    PickColor,
    /// The match is over.
    Over,
}

/// A place of the maya. A column of the maya is a flow, and a take comes from one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MayaPlace {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl State {
    pub(super) fn seats(&self) -> &'static [Seat] {
        Seat::players(self.players.len())
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Returns the player of a seat; `None` if the seat does not play.
    pub(super) fn player(&self, seat: Seat) -> Option<&Player> {
        let index = self.seats().iter().position(|other| *other == seat)?;
        self.players.get(index)
    }

    pub(super) fn active_player_mut(&mut self) -> Option<&mut Player> {
        self.player_mut(self.active)
    }

    pub(super) fn player_mut(&mut self, seat: Seat) -> Option<&mut Player> {
        let index = self.seats().iter().position(|other| *other == seat)?;
        self.players.get_mut(index)
    }

    /// Returns the sequence under way or waiting to be confirmed.
    pub(super) fn sequence(&self) -> Option<&Sequence> {
        match &self.phase {
            Phase::Channel(sequence) => Some(sequence),
            Phase::Take | Phase::PickColor | Phase::Over => None,
        }
    }

    /// Returns the energies of a column of the maya with their places, from the top down.
    pub(super) fn flow(&self, column: usize) -> impl Iterator<Item = (MayaPlace, Energy)> {
        let placed = self.maya.iter().enumerate();
        placed.filter_map(move |(row, energies)| Some((MayaPlace { row, column }, (*energies.get(column)?)?)))
    }

    pub(super) fn find_in_maya(&self, id: EnergyId) -> Option<(MayaPlace, Energy)> {
        for (row, energies) in self.maya.iter().enumerate() {
            for (column, energy) in energies.iter().enumerate() {
                if let Some(energy) = energy
                    && energy.id == id
                {
                    return Some((MayaPlace { row, column }, *energy));
                }
            }
        }
        None
    }

    /// Returns the energies that everyone sees: first the maya's, then those on the boards.
    pub(super) fn visible_energies(&self) -> impl Iterator<Item = Energy> {
        let on_boards = self.players.iter().flat_map(|player| player.board.placed());
        self.maya.iter().flatten().flatten().copied().chain(on_boards.map(|(_, energy)| energy))
    }

    pub(super) fn maya_slot(&mut self, place: MayaPlace) -> Option<&mut Option<Energy>> {
        self.maya.get_mut(place.row)?.get_mut(place.column)
    }

    pub(super) fn plenitude_of(&self, chakra: Chakra) -> u8 {
        self.plenitude.get(chakra.index()).copied().unwrap_or(0)
    }

    /// CH-18: returns the plenitude of a chakra if the viewer knows it. The host knows all, as do all seats at the end.
    pub(super) fn plenitude_seen_by(&self, viewer: Perspective, chakra: Chakra) -> Option<u8> {
        if self.is_over() || viewer == Perspective::HOST {
            return Some(self.plenitude_of(chakra));
        }
        let player = self.player(viewer.seat()?)?;
        if player.known.contains(&chakra) { Some(self.plenitude_of(chakra)) } else { None }
    }
}
