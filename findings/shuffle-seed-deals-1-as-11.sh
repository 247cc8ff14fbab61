#!/bin/sh
# shuffle-seed deals the same cards for the seeds "1", "11" and "111".
#
# It passes the seed to seedrandom, whose default generator is keyed like RC4: the key is repeated until it fills 256 bytes, so a
# text and its repetitions are the same key. The end of seedrandom's manual mentions that, below its list of versions; the
# manual of shuffle-seed does not. Only the low eight bits of each character count, which neither mentions, so names that differ
# only in Ł and A get the same deal, too. The seeds 0 and "" are the seed "none". Numbers get an end mark, so 1 and 11 differ and
# a test with numbers passes; but a match id taken from a URL is text, and the matches 7 and 77 get the same cards. A number
# also deals other cards than its text, so a replay has to record which of the two the seed was.
#
# shuffle-seed 1.1.6 with seedrandom 2.4.4. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund shuffle-seed@1.1.6 seedrandom@2.4.4
cat > deal.cjs <<'JS'
const { shuffle } = require("shuffle-seed");

const deck = Array.from({ length: 52 }, (_, card) => card);
const deal = (seed) => shuffle(deck, seed).slice(0, 7).join(" ");
for (const seed of ["1", "11", "111", 1, 11]) console.log(`${typeof seed} ${seed}: ${deal(seed)}`);
for (const [one, other] of [["ab", "abab"], ["Łukasz", "Aukasz"], [0, "none"]]) {
	console.log(`${one} as ${other}: ${deal(one) === deal(other)}`);
}
JS
node deal.cjs | tee seen
[ "$(grep '^string ' seen | cut -d: -f2 | sort -u | wc -l)" = 1 ]
[ "$(head -n 5 seen | cut -d: -f2 | sort -u | wc -l)" = 3 ]
[ "$(grep -c ' as .*: true$' seen)" = 3 ]
