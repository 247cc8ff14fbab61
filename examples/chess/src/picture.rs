//! The board as each player sees it, with the attack on a king in check.

use cozy_chess::{Color, Piece};
use turnfold_core::picture::{Arrow, Block, BoardPiece, Picture, SquareCell, SquareGrid, TextLine, Tint};
use turnfold_core::{Perspective, Seat, Square, SquareBoard};

use crate::{State, seat_of};

pub const fn name(piece: Piece) -> &'static str {
    match piece {
        Piece::Pawn => "pawn",
        Piece::Knight => "knight",
        Piece::Bishop => "bishop",
        Piece::Rook => "rook",
        Piece::Queen => "queen",
        Piece::King => "king",
    }
}

const fn side(color: Color) -> (&'static str, Tint) {
    match color {
        Color::White => ("white", Tint::Rgb(0xff_ff_ff)),
        Color::Black => ("black", Tint::Rgb(0x26_26_26)),
    }
}

/// Draws a piece: the full figure in the color of its side. Its letter is a capital for white.
fn drawn(piece: Piece, color: Color) -> BoardPiece {
    let glyph = match piece {
        Piece::Pawn => "♟",
        Piece::Knight => "♞",
        Piece::Bishop => "♝",
        Piece::Rook => "♜",
        Piece::Queen => "♛",
        Piece::King => "♚",
    };
    let letter: char = piece.into();
    let letter = if color == Color::White { letter.to_ascii_uppercase() } else { letter };
    let (of, tint) = side(color);
    BoardPiece { glyph: glyph.into(), letter: letter.into(), name: format!("{of} {}", name(piece)), tint }
}

pub fn square(at: cozy_chess::Square) -> Option<Square> {
    Square::new(at.file() as u8, at.rank() as u8)
}

pub fn picture(state: &State, viewer: Perspective) -> Picture {
    let board = state.board();
    let king = board.king(board.side_to_move());
    let is_checked = |at| at == king && !board.checkers().is_empty();
    let cell = |at: cozy_chess::Square| {
        let piece = drawn(board.piece_on(at)?, board.color_on(at)?);
        let (mark, tint) = if is_checked(at) { ("+", Tint::Second) } else { ("", Tint::Plain) };
        Some(SquareCell { at: square(at)?, piece: Some(piece), mark: mark.into(), tint })
    };
    let attack = |from| Some(Arrow { tint: Tint::Second, path: vec![square(from)?, square(king)?] });
    let grid = SquareGrid {
        board: SquareBoard::new(8, 8),
        flipped: viewer.is_seat(Seat::P2),
        cells: cozy_chess::Square::ALL.into_iter().filter_map(cell).collect(),
        arrows: board.checkers().into_iter().filter_map(attack).collect(),
    };
    Picture {
        blocks: vec![Block::Lines(vec![heading(state)]), Block::Grid(grid), Block::Lines(notes(state))],
    }
}

fn heading(state: &State) -> TextLine {
    let position = &state.position;
    let line = match state.ending() {
        Some((by, Some(winner))) => return TextLine::plain(format!("{winner} wins by {by}")),
        Some((by, None)) => return TextLine::plain(format!("a draw by {}", by.replace('_', " "))),
        None => TextLine::plain(format!("move {}: {} to move", position.number, side(position.to_move()).0)),
    };
    let checkers = state.board().checkers().into_iter().map(|at| at.to_string());
    match checkers.collect::<Vec<_>>().as_slice() {
        [] => line,
        by => line.with(format!(", check by {}", by.join(" and ")), Tint::Bright),
    }
}

fn notes(state: &State) -> Vec<TextLine> {
    let clock = state.clock.iter().flat_map(|clock| [Color::White, Color::Black].into_iter().zip(clock.left));
    let clock = clock.map(|(color, left)| {
        TextLine::plain(format!("{} ({}): {left} ticks", side(color).0, seat_of(color)))
    });
    let offer = state
        .for_draw
        .first()
        .map(|by| TextLine::default().with(format!("{by} offers a draw"), Tint::Bright));
    clock.chain(offer).collect()
}
