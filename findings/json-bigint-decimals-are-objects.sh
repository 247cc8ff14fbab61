#!/bin/sh
# json-bigint reads 99 of 100 doubles as objects, and `rating + 1` then appends a digit to a text.
#
# The package is meant for integers past 2^53, such as event ids. But it decides by length: a number of more than 15 characters
# becomes a BigNumber, even a decimal, and a double written by another program mostly has 16 to 18. Ratings, odds and clock times
# of one log are then numbers in some entries and objects in others. `>` and `Math.max` convert the object, so most code works;
# `+` joins texts, and the result looks like a number: 1662.3108949301773 + 1 is "1662.31089493017731". The option
# `useNativeBigInt` throws at the first such decimal. The manual speaks of integers only; issues of the project report it, and
# its repository has had a repair for years that no release contains.
#
# json-bigint 1.0.0. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund json-bigint@1.0.0
cat > read.cjs <<'JS'
const JSONbig = require("json-bigint");

const entry = JSONbig.parse('{"short":1500.5,"long":1662.3108949301773}');
console.log("short + 1:", JSON.stringify(entry.short + 1), "| long + 1:", JSON.stringify(entry.long + 1));
console.log("long > 1600:", entry.long > 1600);
try {
	console.log("native:", JSONbig({ useNativeBigInt: true }).parse('{"long":1662.3108949301773}').long);
} catch (error) {
	console.log("native:", error.message);
}
let seed = 1n;
let objects = 0;
for (let count = 0; count < 10000; count += 1) {
	seed = (seed * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
	const rating = (Number(seed >> 11n) / 2 ** 53) * 100;
	if (typeof JSONbig.parse(JSON.stringify({ rating })).rating === "object") objects += 1;
}
console.log("objects among 10000 random doubles:", objects);
JS
node read.cjs | tee seen
grep -q '^short + 1: 1501.5 | long + 1: "1662.31089493017731"$' seen
grep -q '^long > 1600: true$' seen
grep -q '^native: Cannot convert 1662.3108949301773 to a BigInt$' seen
grep -q '^objects among 10000 random doubles: 9915$' seen
