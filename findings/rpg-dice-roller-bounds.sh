#!/bin/sh
# rpg-dice-roller reports bounds that its own rolls exceed, if one of the dice is subtracted.
#
# `minTotal` and `maxTotal`, by their documentation "the minimum possible total" and the maximum, are in each exported roll. The
# library takes the lowest face of every die for one and the highest of every die for the other, also where a high face makes
# the total low. `1d20-1d4` is said to be 0 to 16 and rolls -3 to 19; `10-1d6` has a minimum of 9 and a maximum of 4. Additions
# and kept dice have the right bounds. A program that checks the rolls of a log by these fields rejects honest ones.
#
# @dice-roller/rpg-dice-roller 5.5.1, 2,000 rolls from a seeded generator. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @dice-roller/rpg-dice-roller@5.5.1
cat > bounds.mjs <<'JS'
import { DiceRoll, NumberGenerator } from "@dice-roller/rpg-dice-roller";

NumberGenerator.generator.engine = NumberGenerator.engines.MersenneTwister19937.seed(7);
for (const notation of ["1d20+1d4", "1d20-1d4", "10-1d6"]) {
  const rolls = Array.from({ length: 2000 }, () => new DiceRoll(notation));
  const totals = rolls.map(({ total }) => total);
  const outside = rolls.filter(({ total, minTotal, maxTotal }) => total < minTotal || total > maxTotal).length;
  const { minTotal, maxTotal } = rolls[0];
  const rolled = `${Math.min(...totals)} to ${Math.max(...totals)}`;
  console.log(`${notation}: minTotal ${minTotal}, maxTotal ${maxTotal}; rolled ${rolled}; outside: ${outside}`);
}
JS
node bounds.mjs | tee found
grep -qx '1d20+1d4: minTotal 2, maxTotal 24; rolled 2 to 24; outside: 0' found
grep -qx '1d20-1d4: minTotal 0, maxTotal 16; rolled -3 to 19; outside: 298' found
grep -qx '10-1d6: minTotal 9, maxTotal 4; rolled 4 to 9; outside: 2000' found
