#!/bin/sh
# python-shogi drops a move of a KIF file with variations, plays the variations after the game, and may name the other winner.
#
# KIF, the usual record of shogi, lists variations after the game, each under a line like `変化：3手` ("variation: move 3"), and
# many programs put a `+` after the move that has one. python-shogi takes the line for a tag, so the moves below it go on where the
# game ended. Its pattern for moves does not know the `+`, and a line that does not match is skipped. The side to move is then
# wrong, and who wins by a resignation follows from it. Nothing warns, and the library plays moves without checking them.
# cshogi stops at the line that names the result; where that is missing, as in files by tsshogi, it appends the variations too and
# has no winner. A file without variations is right in both, and neither manual mentions variations. tsshogi reads the game.
#
# python-shogi 1.1.1, cshogi 1.1.0 (PyPI), tsshogi 2.2.0 (npm). Exits with 1 once that changes. Needs python3 with venv, node and
# npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile python-shogi==1.1.1 cshogi==1.1.0
npm install --silent --no-audit --no-fund tsshogi@2.2.0
cat > write.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { exportKIF, importKIF, Record, SpecialMoveType } from "tsshogi";

const game = new Record();
const play = (...moves) => moves.forEach((move) => game.append(game.position.createMoveByUSI(move)));
play("7g7f", "3c3d", "2g2f", "4c4d");
game.append({ type: SpecialMoveType.RESIGN });
game.goto(2);
play("6g6f", "8c8d", "2h6h");
const kif = exportKIF(game);
console.log(kif);
writeFileSync("game.kif", kif);
const moves = importKIF(kif).moves.map(({ move }) => move.usi ?? move.type);
console.log("tsshogi:", ...moves.slice(1));
JS
cat > read.py <<'PYTHON'
import cshogi
import cshogi.KIF
import shogi.KIF

with open("game.kif", encoding="utf-8") as file:
    kif = file.read()
game = shogi.KIF.Parser.parse_str(kif)[0]
print("python-shogi:", *game["moves"], "winner", game["win"])
game = cshogi.KIF.Parser.parse_str(kif)
print("cshogi:", *(cshogi.move_to_usi(move) for move in game.moves), "winner", game.win)
PYTHON
{ node write.mjs; venv/bin/python read.py; } | tee seen
grep -qx 'tsshogi: 7g7f 3c3d 2g2f 4c4d resign' seen
grep -qx 'python-shogi: 7g7f 3c3d 4c4d 6g6f 8c8d 2h6h winner b' seen
grep -qx 'cshogi: 7g7f 3c3d 2g2f 4c4d 6g6f 8c8d 2h6h winner None' seen
