#!/bin/sh
# cozy-chess reads the move `Kxh1` as castling.
#
# The generator writes castling as the king capturing its own rook, as programs for Chess960 do. Its reader of Standard
# Algebraic Notation looks for a king's move to h1 and finds that one, so a capture that is illegal in chess is castling. With
# an enemy piece on h1 the same text would be a capture.
#
# cozy-chess 0.3.4, Rust 1.95: `parse_san_move(board, "Kxh1")` is the move that is displayed as `O-O`. Exits with 1 once that
# changes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
cat > "$dir/src/main.rs" <<'RUST'
use cozy_chess::{Board, util::{display_san_move, parse_san_move}};

fn main() {
    let board: Board = "4k3/8/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
    match parse_san_move(&board, "Kxh1") {
        Ok(found) => println!("Kxh1 is read as {}", display_san_move(&board, found)),
        Err(error) => println!("Kxh1 is refused: {error}"),
    }
}
RUST
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\ncozy-chess = "=0.3.4"\n' > "$dir/Cargo.toml"
found=$(CARGO_TARGET_DIR="$dir/target" cargo run --quiet --manifest-path "$dir/Cargo.toml")
echo "$found"
[ "${found%[+#]}" = "Kxh1 is read as O-O" ]
