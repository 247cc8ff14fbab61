//! Boards as the state keeps them, in small numbers, and as each player sees them.

use cozy_chess::{BitBoard, Board, BoardBuilder, CastleRights, Color, File, Piece, Rank, Square};
use serde::{Deserialize, Serialize};
use turnfold_core::prelude::{self, *};

use crate::{Chess, State, mover};

/// A board that is stored as [`Numbers`], with nothing of the move generator in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Position(pub Board);

/// What matters of a board: the squares of each kind of piece, from pawns to kings, and the squares of white, with a bit
/// for each square; whether black is to move; whether white and black may castle, to the short side and the long one; the
/// square behind a pawn that went two squares; half-moves without a capture or a pawn's move; and the number of the move.
type Numbers = ([u64; 6], u64, bool, [[Option<u8>; 2]; 2], Option<u8>, u8, u16);

impl From<Position> for Numbers {
    fn from(Position(board): Position) -> Self {
        let pieces = Piece::ALL.map(|kind| board.pieces(kind).0);
        let white = board.colors(Color::White).0;
        let is_black = board.side_to_move() == Color::Black;
        let castling = Color::ALL.map(|color| {
            let CastleRights { short, long } = *board.castle_rights(color);
            [short, long].map(|file| Some(file? as u8))
        });
        let behind = Rank::Third.relative_to(!board.side_to_move());
        let en_passant = board.en_passant().map(|file| Square::new(file, behind) as u8);
        (pieces, white, is_black, castling, en_passant, board.halfmove_clock(), board.fullmove_number())
    }
}

impl TryFrom<Numbers> for Position {
    type Error = cozy_chess::BoardBuilderError;

    fn try_from(numbers: Numbers) -> Result<Self, Self::Error> {
        let (pieces, white, is_black, castling, en_passant, halfmoves, number) = numbers;
        let mut to = BoardBuilder::empty();
        for (kind, squares) in Piece::ALL.into_iter().zip(pieces) {
            for at in BitBoard(squares) {
                let color = if BitBoard(white).has(at) { Color::White } else { Color::Black };
                *to.square_mut(at) = Some((kind, color));
            }
        }
        to.side_to_move = if is_black { Color::Black } else { Color::White };
        let file = |file: Option<u8>| File::try_index(file?.into());
        to.castle_rights =
            castling.map(|[short, long]| CastleRights { short: file(short), long: file(long) });
        to.en_passant = en_passant.and_then(|square| Square::try_index(square.into()));
        (to.halfmove_clock, to.fullmove_number) = (halfmoves, number);
        to.build().map(Self)
    }
}

/// Returns a board in Forsyth–Edwards Notation. The square behind a pawn is there only if a pawn may capture on it, as
/// most programs write it.
pub fn fen(board: &Board) -> String {
    let mut shown = BoardBuilder::from_board(board);
    shown.en_passant = shown.en_passant.filter(|square| {
        let pawns = board.colored_pieces(board.side_to_move(), Piece::Pawn);
        board.generate_moves_for(pawns, |moves| moves.to.has(*square))
    });
    shown.build().map_or_else(|_| board.to_string(), |board| board.to_string())
}

/// CS-3: returns `true` if neither player can give checkmate, whatever happens.
pub fn is_dead(board: &Board) -> bool {
    let (others, bishops) = (board.occupied() ^ board.pieces(Piece::King), board.pieces(Piece::Bishop));
    let is_one_knight = others.len() == 1 && others.is_subset(board.pieces(Piece::Knight));
    let mut shades = [BitBoard::DARK_SQUARES, BitBoard::LIGHT_SQUARES].into_iter();
    is_one_knight || shades.any(|shade| others.is_subset(bishops & shade))
}

/// The names and figures of the pieces, from pawns to kings.
pub const NAMES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];
const GLYPHS: [&str; 6] = ["♟", "♞", "♝", "♜", "♛", "♚"];

pub fn square(at: Square) -> Option<prelude::Square> {
    prelude::Square::new(at.file() as u8, at.rank() as u8)
}

/// Draws a piece: the full figure in the color of its side. Its letter is a capital for white.
fn drawn(kind: Piece, color: Color) -> BoardPiece {
    let (side, tint, letter) = match color {
        Color::White => ("white", Tint::Rgb(0xff_ff_ff), kind.to_string().to_uppercase()),
        Color::Black => ("black", Tint::Rgb(0x26_26_26), kind.to_string()),
    };
    let (glyph, name) = (GLYPHS[kind as usize].into(), format!("{side} {}", NAMES[kind as usize]));
    BoardPiece { glyph, letter, name, tint }
}

pub fn picture(state: &State, viewer: Perspective) -> Picture {
    let Position(board) = &state.position;
    let (king, checkers) = (board.king(board.side_to_move()), board.checkers());
    let cell = |at: Square| {
        let piece = Some(drawn(board.piece_on(at)?, board.color_on(at)?));
        let (mark, tint) =
            if at == king && !checkers.is_empty() { ("!", Tint::Second) } else { ("", Tint::Plain) };
        Some(SquareCell { at: square(at)?, piece, mark: mark.into(), tint })
    };
    let attack = |from| Some(Arrow { tint: Tint::Second, path: vec![square(from)?, square(king)?] });
    let grid = SquareGrid {
        board: SquareBoard::new(8, 8),
        flipped: viewer.is_seat(Seat::P2),
        cells: Square::ALL.into_iter().filter_map(cell).collect(),
        arrows: checkers.into_iter().filter_map(attack).collect(),
    };
    let turn = || format!("move {}: {} to move", board.fullmove_number(), mover(board));
    let heading = TextLine::plain(Chess::result(state).map_or_else(turn, |result| result.to_string()));
    let checks = checkers.into_iter().map(|from| format!("check by {from}"));
    let offers = state.agreement.offered_by().map(|seat| format!("{seat} offers a draw"));
    let time = |seat: &Seat| Some(format!("{seat}: {} ticks", state.clock.left(*seat)?));
    let times = Seat::players(2).iter().filter_map(time).map(TextLine::plain);
    let notes = checks.chain(offers).map(|note| TextLine::default().with(note, Tint::Bright)).chain(times);
    Picture { blocks: vec![Block::Lines(vec![heading]), Block::Grid(grid), Block::Lines(notes.collect())] }
}
