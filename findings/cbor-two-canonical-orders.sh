#!/bin/sh
# "Canonical" CBOR of a state has other bytes in Python than in JavaScript, once a map has numbers for keys.
#
# RFC 7049 sorted the keys of a map by the length of their encoding first. Its successor RFC 8949 sorts them by the bytes alone.
# cbor2 of PyPI still writes the old order where it is asked for `canonical=True`; cborg, and cbor2 of npm with its options for
# deterministic encoding, write the new one. For keys that are all text, or all numbers that are not negative, both orders are
# the same, so tests with such states pass. A map whose keys are columns of a board or changes of a score, -1 among them, gets
# another order as soon as one of the others needs two bytes: then the hashes of equal states differ between two programs that
# both call their encoding canonical.
#
# cbor2 6.3.0 (PyPI), cbor2 2.3.0 and cborg 6.1.5 (npm). Exits with 1 once that changes. Needs python3 with venv, node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cbor2==6.3.0
npm install --silent --no-audit --no-fund cbor2@2.3.0 cborg@6.1.5
cat > encode.py <<'PYTHON'
import cbor2

print("PyPI cbor2, canonical, words:", cbor2.dumps({"turn": 7, "b": 1, "aa": 2}, canonical=True).hex())
print("PyPI cbor2, canonical, numbers:", cbor2.dumps({10: 1, -1: 2, 100: 3}, canonical=True).hex())
PYTHON
cat > encode.mjs <<'JS'
import { cdeEncodeOptions, encode as encode2 } from "cbor2";
import { encode } from "cborg";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const words = new Map([["turn", 7], ["b", 1], ["aa", 2]]);
const numbers = new Map([[10, 1], [-1, 2], [100, 3]]);
for (const [name, map] of [["words", words], ["numbers", numbers]]) {
	console.log(`npm cbor2, deterministic, ${name}:`, hex(encode2(map, cdeEncodeOptions)));
	console.log(`npm cborg, ${name}:`, hex(encode(map)));
}
JS
{ venv/bin/python encode.py; node encode.mjs; } | tee seen
test "$(grep "words:" seen | sed 's/.*: //' | sort -u | wc -l)" = 1
grep -q "^PyPI cbor2, canonical, numbers: a30a012002186403$" seen
test "$(grep -c "^npm .* numbers: a30a011864032002$" seen)" = 2
