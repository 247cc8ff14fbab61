#!/bin/sh
# Canonical JSON of a board with gaps: json-canonicalize moves the pieces, canonicalize writes no JSON.
#
# A board in JavaScript is often an array that is filled square by square, so it has gaps.
# `JSON.stringify` writes null for each. Both libraries for RFC 8785 walk arrays by a method that
# passes over gaps. json-canonicalize then writes the rest side by side: a rook on any square of an
# empty board is `["rook"]`, so different states have one text, one hash and one signature.
# canonicalize leaves the commas, so a gap at the beginning gives a text that no parser reads. Both
# write a method of an object as `undefined`, which is no JSON either. A board that was read from
# JSON has no gaps, so a test that saves and loads first passes. Fill the board with null.
#
# json-canonicalize 3.0.1, canonicalize 4.0.0. Seen: one text for a rook on square 0, 1 and 3; a text
# that begins with `[,`. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund json-canonicalize@3.0.1 canonicalize@4.0.0
cat > board.mjs <<'JS'
import canonicalize from "canonicalize";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";

const writers = { "JSON.stringify": JSON.stringify, "json-canonicalize": jsonCanonicalize, canonicalize };
const rookOn = (square) => {
	const board = [];
	board[square] = "rook";
	return board;
};
for (const [name, write] of Object.entries(writers)) {
	console.log(`${name}: ${[0, 1, 3].map((square) => write(rookOn(square))).join(" ")}`);
	console.log(`${name}, null on square 0: ${write([null, "rook"])}`);
	console.log(`${name}, a method: ${write({ turn: 1, move: () => {} })}`);
}
JS
node board.mjs | tee seen
grep -qxF 'JSON.stringify: ["rook"] [null,"rook"] [null,null,null,"rook"]' seen
grep -qxF 'json-canonicalize: ["rook"] ["rook"] ["rook"]' seen
grep -qxF 'canonicalize: ["rook"] [,"rook"] [,,,"rook"]' seen
[ "$(grep -cF 'null on square 0: [null,"rook"]' seen)" = 3 ]
[ "$(grep -cF 'a method: {"move":undefined,"turn":1}' seen)" = 2 ]
