#!/bin/sh
# The first die of Prando shows a 4 for each of the seeds 0 to 2687.
#
# Prando is a generator for games. It takes a number as its state without mixing it, and one step of a 32-bit xorshift moves
# the bits of a small number only a little way up. The first draw is the middle of the range plus 0.00006 of the range per unit
# of the seed, so neighbouring seeds begin with nearly the same draw. A server that seeds by match number and draws the starting
# player or the first roll gets the same result in thousands of matches. Later draws differ, so a test of one long sequence
# passes. The seeds 0, 1 and 1.5 even give one and the same match. The manual does not mention this; an issue of the project
# does. A text as the seed, or a few draws thrown away, helps.
#
# prando 6.0.1. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund prando@6.0.1
cat > roll.cjs <<'JS'
const Prando = require("prando").default ?? require("prando");

const rolls = (seed) => {
	const dice = new Prando(seed);
	return Array.from({ length: 8 }, () => dice.nextInt(1, 6)).join(" ");
};
for (const seed of [1, 2, 3, 1000, 2000]) console.log(`seed ${seed}:`, rolls(seed));
let seed = 0;
while (rolls(seed).startsWith("4")) seed += 1;
console.log("first seed with another first roll:", seed);
console.log("0 and 1.5 as 1:", rolls(0) === rolls(1) && rolls(1.5) === rolls(1));
JS
node roll.cjs | tee seen
[ "$(grep -c '^seed [0-9]*: 4 ' seen)" = 5 ]
[ "$(grep '^seed ' seen | cut -d: -f2 | sort -u | wc -l)" = 5 ]
grep -q '^first seed with another first roll: 2688$' seen
grep -q '^0 and 1.5 as 1: true$' seen
