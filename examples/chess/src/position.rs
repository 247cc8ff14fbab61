//! A position in small numbers, as the state keeps it, and as the move generator takes it.

use cozy_chess::util::parse_uci_move;
use cozy_chess::{BitBoard, Board, BoardBuilder, Color, File, Move, Piece, Rank, Square};
use serde::{Deserialize, Serialize};

/// What is on the board and whose turn it is. Nothing of the move generator is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// A number for each square from a1 to h8: 0 for nothing, 1 to 6 for white pieces from pawn to king, 7 to 12 for black.
    squares: Vec<u8>,
    black_to_move: bool,
    /// Rights to castle: 1 and 2 for white, short and long, 4 and 8 for black.
    castling: u8,
    /// CS-4: the square behind a pawn that a move can capture en passant.
    en_passant: Option<u8>,
    /// CS-4: half-moves since a pawn moved or a piece was captured.
    halfmoves: u8,
    /// The number of the move, from 1.
    pub number: u16,
    /// CS-4: from where and to where pieces went since the last position that cannot come again.
    since: Vec<(u8, u8)>,
}

impl Position {
    /// Takes what matters of a board.
    pub fn of(board: &Board) -> Self {
        let from = BoardBuilder::from_board(board);
        let code = |(piece, color): (Piece, Color)| 1 + piece as u8 + 6 * color as u8;
        let rights = from.castle_rights.iter().rev().flat_map(|rights| [rights.long, rights.short]);
        let can_capture = |target: &Square| {
            let pawns = board.colored_pieces(board.side_to_move(), Piece::Pawn);
            board.generate_moves_for(pawns, |moves| moves.to.has(*target))
        };
        Self {
            squares: from.board.iter().map(|piece| piece.map_or(0, code)).collect(),
            black_to_move: from.side_to_move == Color::Black,
            castling: rights.fold(0, |bits, right| bits << 1 | u8::from(right.is_some())),
            en_passant: from.en_passant.filter(can_capture).map(|square| square as u8),
            halfmoves: from.halfmove_clock,
            number: from.fullmove_number,
            since: Vec::new(),
        }
    }

    /// Returns the position for the move generator; `None` for one that no game has.
    pub fn board(&self) -> Option<Board> {
        let mut builder = BoardBuilder::empty();
        for (code, slot) in self.squares.iter().zip(&mut builder.board) {
            let color = if *code > 6 { Color::Black } else { Color::White };
            let piece = code.checked_sub(1).and_then(|index| Piece::try_index(usize::from(index % 6)));
            *slot = piece.map(|piece| (piece, color));
        }
        for (rights, bits) in builder.castle_rights.iter_mut().zip([self.castling, self.castling >> 2]) {
            rights.short = (bits & 1 != 0).then_some(File::H);
            rights.long = (bits & 2 != 0).then_some(File::A);
        }
        builder.side_to_move = self.to_move();
        builder.en_passant = self.en_passant.and_then(|square| Square::try_index(usize::from(square)));
        builder.halfmove_clock = self.halfmoves.min(100);
        builder.fullmove_number = self.number;
        builder.build().ok()
    }

    pub const fn is_black(&self) -> bool {
        self.black_to_move
    }

    pub const fn to_move(&self) -> Color {
        if self.black_to_move { Color::Black } else { Color::White }
    }

    /// Returns the position after a legal move on its board.
    pub fn after(&self, board: &Board, chosen: Move) -> Self {
        let mut played = board.clone();
        played.play(chosen);
        let mut next = Self::of(&played);
        let can_come_again =
            next.halfmoves > 0 && next.castling == self.castling && self.en_passant.is_none();
        if can_come_again {
            next.since.clone_from(&self.since);
            next.since.push((chosen.from as u8, chosen.to as u8));
        }
        next
    }

    /// CS-4: returns `true` if the position is there for the third time.
    pub fn is_repeated(&self) -> bool {
        let (mut earlier, mut times) = (self.squares.clone(), 1);
        for (count, (from, to)) in (1..).zip(self.since.iter().rev()) {
            if usize::from(*from.max(to)) < earlier.len() {
                earlier.swap(usize::from(*from), usize::from(*to)); // where the piece was, nothing is
            }
            times += u8::from(count % 2 == 0 && earlier == self.squares);
        }
        times >= 3
    }

    /// CS-4: returns `true` after fifty moves of each player without a capture or a move of a pawn.
    pub const fn is_stale(&self) -> bool {
        self.halfmoves >= 100
    }
}

/// CS-3: returns `true` if neither player can give checkmate, whatever happens.
pub fn is_dead(board: &Board) -> bool {
    let [knights, bishops, kings] =
        [Piece::Knight, Piece::Bishop, Piece::King].map(|piece| board.pieces(piece));
    let minor = knights | bishops;
    let dark = bishops & BitBoard::DARK_SQUARES;
    let one_shade = knights.is_empty() && (dark.is_empty() || dark == bishops);
    board.occupied() == kings | minor && (minor.len() <= 1 || one_shade)
}

/// CS-2: returns the legal moves as people write them.
pub fn legal_moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::new();
    board.generate_moves(|of_piece| {
        moves.extend(of_piece.into_iter().map(|found| standard(board, found)));
        false
    });
    moves
}

/// CS-2: returns a legal move as the generator has it, which castles by capturing the own rook.
pub fn legal(board: &Board, text: Move) -> Option<Move> {
    let found = parse_uci_move(board, &text.to_string()).ok()?;
    (board.is_legal(found) && standard(board, found) == text).then_some(found)
}

/// CS-2: returns a move of the generator as people write it.
pub fn standard(board: &Board, mut found: Move) -> Move {
    if board.color_on(found.to) == Some(board.side_to_move()) {
        let file = if found.to.file() > found.from.file() { File::G } else { File::C };
        found.to = Square::new(file, Rank::First.relative_to(board.side_to_move()));
    }
    found
}
