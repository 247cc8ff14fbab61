#!/bin/sh
# hash-sum gives every Map the same hash, and every Set another one, whatever they hold.
#
# It promises "different hashes for different object types", and a Map, a Set and an object do differ. But it folds what
# `Object.keys` lists and what `valueOf` returns as text; for a Map that is nothing and "[object Map]". A board kept as a Map
# from squares to pieces has the same hash before and after each move, so a check of the peers for equal states never fails,
# and a count of repeated positions ends the game as a draw. json-hash has the same gap. object-hash and ohash, whose calls look
# the same, do read Maps and Sets.
#
# hash-sum 2.0.0, json-hash 1.2.0, object-hash 3.0.0, ohash 2.0.12. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund hash-sum@2.0.0 json-hash@1.2.0 object-hash@3.0.0 ohash@2.0.12
cat > position.mjs <<'JS'
import hashSum from "hash-sum";
import jsonHash from "json-hash";
import objectHash from "object-hash";
import { hash as ohash } from "ohash";

const asObject = (square) => ({ board: { [square]: "pawn" } });
const asMap = (square) => ({ board: new Map([[square, "pawn"]]) });
const asSet = (square) => ({ pawns: new Set([square]) });
for (const [name, hash] of [["hash-sum", hashSum], ["json-hash", jsonHash.digest], ["object-hash", objectHash], ["ohash", ohash]]) {
	const alike = (state) => (hash(state("e2")) === hash(state("e4")) ? "equal" : "different");
	console.log(`${name}: e2 and e4 in an object ${alike(asObject)}, in a Map ${alike(asMap)}, in a Set ${alike(asSet)}`);
}
JS
node position.mjs | tee seen
[ "$(grep -c '^\(hash-sum\|json-hash\): .* object different, in a Map equal, in a Set equal$' seen)" = 2 ]
[ "$(grep -c '^\(object-hash\|ohash\): .* object different, in a Map different, in a Set different$' seen)" = 2 ]
