#!/bin/sh
# Automerge returns 1e24 as 9223372036854775807, and each whole number from 2^53 - 1 on as a BigInt.
#
# Its documents know integers and floats; JavaScript has one kind of number. The package stores each whole number as an integer of
# 64 bits, and one that does not fit as the largest there is: the value is lost, and nothing fails. One that fits comes back as
# a BigInt from `Number.MAX_SAFE_INTEGER` on, but -2^53 stays a number. A weight, a hash or a bitboard that is put in as a
# number changes its type with its size, and `weight + 1` and `JSON.stringify` of the document throw only in the matches that
# have a large one. An issue of the project reports the lost value.
#
# @automerge/automerge 3.5.0. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @automerge/automerge@3.5.0
cat > store.mjs <<'JS'
import * as Automerge from "@automerge/automerge";

for (const value of [2 ** 53 - 2, 2 ** 53 - 1, -(2 ** 53), 2 ** 62, 1e24, 0.5]) {
	const document = Automerge.load(Automerge.save(Automerge.from({ value })));
	console.log(`${value} -> ${typeof document.value} ${document.value}`);
}
JS
node store.mjs | tee seen
grep -q '^9007199254740990 -> number 9007199254740990$' seen
grep -q '^9007199254740991 -> bigint 9007199254740991$' seen
grep -q '^-9007199254740992 -> number -9007199254740992$' seen
grep -q '^1e+24 -> bigint 9223372036854775807$' seen
grep -q '^0.5 -> number 0.5$' seen
