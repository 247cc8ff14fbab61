#!/bin/sh
# A `number` of Colyseus reaches the client rounded to 32 bits if it is small, and exact if it is large.
#
# The table of types says that `number` chooses between integer and float. For a decimal it chooses again: if the nearest
# single-precision value is less than 0.0001 away, it sends that value, otherwise the double. So 1234567.891 arrives unchanged,
# 0.1 as 0.10000000149011612, and a probability of 1e-50 as 0. Up to 2048 this affects every decimal that single precision cannot
# hold. The server keeps its own value: a client that applies the same rule, compares with `===`, or hashes its state for a check
# against the server gets another result. The manual documents how NaN and Infinity are sent, but not this; a comment in the
# source calls it acceptable loss. `float64` is exact.
#
# @colyseus/schema 5.0.34. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @colyseus/schema@5.0.34
cat > send.cjs <<'JS'
const { Decoder, Encoder, schema, t } = require("@colyseus/schema");

const State = schema({ number: t.number(), double: t.float64() });
const received = (value) => {
	const server = new State();
	server.number = value;
	server.double = value;
	const client = new State();
	new Decoder(client).decode(new Encoder(server).encodeAll());
	return client;
};
for (const value of [0.1, 1662.3, 1234567.891, 1e-50, 3, 2 ** 52 + 1]) {
	const { number, double } = received(value);
	console.log(`${value} as number: ${number}, as float64: ${double}`);
}
JS
node send.cjs | tee seen
grep -q '^0.1 as number: 0.10000000149011612, as float64: 0.1$' seen
grep -q '^1234567.891 as number: 1234567.891, as float64: 1234567.891$' seen
grep -q '^1e-50 as number: 0, as float64: 1e-50$' seen
grep -q '^4503599627370497 as number: 4503599627370497, ' seen
