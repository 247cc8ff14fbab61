#!/bin/sh
# zipson overwrites the numbers that follow an empty object: `{"hand":{},"score":12}` comes back as `{"hand":{},"score":{}}`.
#
# zipson compresses JSON, is called a drop-in replacement, and is used for states in URLs and saved games. It writes neighbours
# that are objects with the same keys as one template and a row of values. For "has the same keys" it compares `Object.keys`, and
# those of a number, a boolean or an empty list are as empty as those of `{}`. So when the first value of an object is `{}`, the
# numbers after it become `{}`, until a text with letters, a filled list or a filled object comes; in a list they become null. A
# state with an empty hand at its start loses the score, the turn and the seed, and one with a card in the hand is right. Nothing
# fails. Only the rounding of decimals is documented.
#
# zipson 0.2.12. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund zipson@0.2.12
cat > trip.cjs <<'JS'
const { parse, stringify } = require("zipson");

for (const state of [
	{ hand: {}, score: 12, turn: 3, names: ["ann", "bo"], seed: 7 },
	{ hand: { ace: 1 }, score: 12, turn: 3, names: ["ann", "bo"], seed: 7 },
	{ score: 12, hand: {}, turn: 3, names: ["ann", "bo"], seed: 7 },
	[{}, 5],
]) {
	console.log(JSON.stringify(state), "->", JSON.stringify(parse(stringify(state))));
}
JS
node trip.cjs | tee seen
[ "$(sed -n '1s/.* -> //p' seen)" = '{"hand":{},"score":{},"turn":{},"names":["ann","bo"],"seed":7}' ]
[ "$(sed -n '2s/.* -> //p' seen)" = "$(sed -n '2s/ -> .*//p' seen)" ]
[ "$(sed -n '3s/.* -> //p' seen)" = "$(sed -n '3s/ -> .*//p' seen)" ]
[ "$(sed -n '4s/.* -> //p' seen)" = '[null,null]' ]
