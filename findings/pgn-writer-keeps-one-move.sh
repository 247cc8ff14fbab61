#!/bin/sh
# pgn-writer writes only the first move of a game that pgn-parser has read.
#
# Both packages have one author, and the readme of the writer says that its input is what pgn-parser produces. But the writer
# goes from move to move by `next`, a field that only pgn-reader adds. Without it the game ends after its first move, and the
# text is valid PGN with the right tags and the right result. Nothing warns: whoever filters or normalizes a database with the
# two keeps one move of each game.
#
# @mliebelt/pgn-writer 1.0.5, pgn-parser 1.4.19, pgn-reader 1.2.30. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @mliebelt/pgn-writer@1.0.5 @mliebelt/pgn-parser@1.4.19 @mliebelt/pgn-reader@1.2.30
cat > write.mjs <<'JS'
import { parse } from "@mliebelt/pgn-parser";
import reader from "@mliebelt/pgn-reader";
import { writeGame } from "@mliebelt/pgn-writer";

const text = '[White "Ann"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n';
const moves = (pgn) => pgn.trim().split("\n").at(-1);
const parsed = parse(text, { startRule: "game" });
console.log(`parsed: ${parsed.moves.length} moves, written: ${moves(writeGame(parsed))}`);
console.log(`by pgn-reader, written: ${moves(writeGame(new reader.PgnReader({ pgn: text }).getGame(0)))}`);
JS
node write.mjs | tee found
grep -qx 'parsed: 6 moves, written: 1. e4 1-0' found
grep -qx 'by pgn-reader, written: 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0' found
