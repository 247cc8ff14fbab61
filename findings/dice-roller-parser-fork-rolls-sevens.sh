#!/bin/sh
# The fork @3d-dice/dice-roller-parser rolls a seven with `1d6`, as often as a one: one time in twelve each.
#
# A die is a draw between 0 and 1, times the sides, rounded down, plus 1. The fork rounds to the nearest whole number, so the
# lowest face comes up half as often, and one face too many the other half. Its purpose are animated dice: a physics engine has
# rolled, and the parser is given (face - 1) / sides as its draw, which rounding down may turn into the face below. With
# `Math.random`, which is the default and in the readme, or a seeded generator, a d20 rolls 21 and a d1 rolls 2, and the average
# is half a point too high. Logs of one and the same seed also differ from those of dice-roller-parser, the original. A test of
# the parser with the draw 0 passes. An open issue of the project reports it.
#
# @3d-dice/dice-roller-parser 0.2.6, dice-roller-parser 0.1.8, 12,000 evenly spaced draws. Exits with 1 once that changes. Needs
# node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @3d-dice/dice-roller-parser@0.2.6 dice-roller-parser@0.1.8
cat > roll.cjs <<'JS'
for (const name of ["dice-roller-parser", "@3d-dice/dice-roller-parser"]) {
	const { DiceRoller } = require(name);
	let draw = 0;
	const roller = new DiceRoller(() => (draw++ + 0.5) / 12000);
	const faces = {};
	for (let roll = 0; roll < 12000; roll += 1) {
		const face = roller.rollValue("1d6");
		faces[face] = (faces[face] ?? 0) + 1;
	}
	console.log(`${name}: ${Object.entries(faces).map(([face, count]) => `${count}x${face}`).join(" ")}`);
}
JS
node roll.cjs | tee seen
grep -qx 'dice-roller-parser: 2000x1 2000x2 2000x3 2000x4 2000x5 2000x6' seen
grep -qx '@3d-dice/dice-roller-parser: 1000x1 2000x2 2000x3 2000x4 2000x5 2000x6 1000x7' seen
