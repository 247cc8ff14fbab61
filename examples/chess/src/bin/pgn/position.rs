//! The position that a game begins with, as programs write it.

use cozy_chess::{Board, Color, FenParseError, File, Piece, Rank, Square};

use super::notation::{Note, Tag};

/// Reads a position. The last two fields may be missing, and the number of the move may be 0. Rights to castle that the
/// pieces do not bear out are dropped.
///
/// # Errors
/// Why it is no position of standard chess.
pub fn read(tag: &Tag, notes: &mut Vec<Note>) -> Result<Board, String> {
    let fields: Vec<&str> = tag.value.split_whitespace().collect();
    let (pieces, turn, castling, en_passant, clock, number) = match fields.as_slice() {
        [pieces, turn, castling, en_passant] => (pieces, turn, castling, en_passant, "0", "1"),
        [pieces, turn, castling, en_passant, clock] => (pieces, turn, castling, en_passant, *clock, "1"),
        [pieces, turn, castling, en_passant, clock, number] => {
            let number = if *number == "0" { "1" } else { number };
            (pieces, turn, castling, en_passant, *clock, number)
        }
        fields => return Err(format!("expected 4 to 6 fields in the FEN, found {}", fields.len())),
    };
    let with = |castling: &str, en_passant: &str| {
        format!("{pieces} {turn} {castling} {en_passant} {clock} {number}").parse::<Board>()
    };
    let bare = with("-", "-").map_err(|error| described(&error))?;
    let mut note = |text: String| notes.push(Note { line: tag.line, text });
    let mut rights = String::new();
    for letter in castling.chars().filter(|letter| *letter != '-') {
        let Some(right) = standard_right(letter) else {
            return Err(format!("this is Chess960, which has castling rights such as `{letter}`"));
        };
        if is_borne_out(&bare, right) {
            if !rights.contains(right) {
                rights.push(right);
            }
        } else if is_shuffled(&bare) {
            return Err("this is Chess960, which begins with shuffled pieces".into());
        } else {
            note(format!("the right to castle `{letter}` is dropped: king or rook is elsewhere"));
        }
    }
    if rights.is_empty() {
        rights.push('-');
    }
    match with(&rights, en_passant) {
        Err(FenParseError::InvalidEnPassant) => {
            note(format!("the en passant square `{en_passant}` is dropped: no pawn has passed it"));
            with(&rights, "-")
        }
        board => board,
    }
    .map_err(|error| described(&error))
}

/// Returns a letter of castling as `KQkq`. Programs for Chess960 name the files of the rooks instead.
fn standard_right(letter: char) -> Option<char> {
    match letter {
        'K' | 'Q' | 'k' | 'q' => Some(letter),
        'H' => Some('K'),
        'A' => Some('Q'),
        'h' => Some('k'),
        'a' => Some('q'),
        _ => None,
    }
}

/// Returns `true` if king and rook stand where a right has them.
fn is_borne_out(board: &Board, right: char) -> bool {
    let color = if right.is_ascii_uppercase() { Color::White } else { Color::Black };
    let rank = Rank::First.relative_to(color);
    let rook = Square::new(if right.eq_ignore_ascii_case(&'k') { File::H } else { File::A }, rank);
    board.king(color) == Square::new(File::E, rank) && board.colored_pieces(color, Piece::Rook).has(rook)
}

/// Returns `true` if every piece is in the first row of its side and every pawn before it.
fn is_shuffled(board: &Board) -> bool {
    Color::ALL.into_iter().all(|color| {
        let rows = [Rank::First, Rank::Second].map(|rank| rank.relative_to(color).bitboard());
        board.colors(color) == rows[0] | rows[1] && board.colored_pieces(color, Piece::Pawn) == rows[1]
    })
}

fn described(error: &FenParseError) -> String {
    let text = error.to_string();
    let first = text.chars().next().unwrap_or_default().to_ascii_lowercase();
    format!("{first}{}", text.get(1..).unwrap_or_default().trim_end_matches('.'))
}
