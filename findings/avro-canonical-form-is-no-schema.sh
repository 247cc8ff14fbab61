#!/bin/sh
# Apache's Avro for Python writes a canonical form of a schema that it cannot read itself.
#
# Avro defines a canonical form of schemas, and fingerprints of it that can stand for the schema in
# front of a message. A schema may define a name only once. The package `avro` repeats the
# definition where the schema only names a type, and then refuses its own text, because the name is
# in use. The canonical form of a primitive type is "long" and never {"type":"long"}; `avro` keeps
# the object around each type with a logical type, such as a time. So these schemas have another
# fingerprint than in fastavro and avsc, which agree. Plain schemas are right, so simple tests pass.
# A program that looks up the schema of a logged event by its fingerprint does not find it if
# another library registered it.
#
# avro 1.12.2, fastavro 1.13.1 (PyPI), avsc 5.7.9 (npm). Seen: three equal MD5 fingerprints of a
# plain schema; of a schema with a time, and of one that uses a type twice, avro's differs. Exits
# with 1 once that changes. Needs python3 with venv, node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile avro==1.12.2 fastavro==1.13.1
npm install --silent --no-audit --no-fund avsc@5.7.9
cat > schemas.json <<'JSON'
{
	"plain": { "type": "record", "name": "Move", "fields": [{ "name": "at", "type": "long" }] },
	"time": {
		"type": "record",
		"name": "Move",
		"fields": [{ "name": "at", "type": { "type": "long", "logicalType": "timestamp-millis" } }]
	},
	"twice": {
		"type": "record",
		"name": "Move",
		"fields": [
			{ "name": "from", "type": { "type": "fixed", "name": "Square", "size": 2 } },
			{ "name": "to", "type": "Square" }
		]
	}
}
JSON
cat > forms.py <<'PYTHON'
import json

import avro.errors
import avro.schema
from fastavro.schema import fingerprint, to_parsing_canonical_form

with open("schemas.json", encoding="utf-8") as file:
    schemas = json.load(file)
for name, schema in schemas.items():
    parsed = avro.schema.parse(json.dumps(schema))
    try:
        avro.schema.parse(parsed.canonical_form)
        readable = "reads it again"
    except avro.errors.SchemaParseException as error:
        readable = "cannot read it: " + str(error).rpartition(": ")[2]
    form = to_parsing_canonical_form(schema)
    print(f"{name}, avro: {parsed.fingerprint('md5').hex()} {parsed.canonical_form}, {readable}")
    print(f"{name}, fastavro: {fingerprint(form, 'md5')} {form}")
PYTHON
cat > forms.cjs <<'JS'
const { Type } = require("avsc");
const schemas = require("./schemas.json");

for (const [name, schema] of Object.entries(schemas)) {
	const type = Type.forSchema(schema);
	console.log(`${name}, avsc: ${type.fingerprint("md5").toString("hex")} ${JSON.stringify(type.schema())}`);
}
JS
{ venv/bin/python forms.py; node forms.cjs; } | tee seen
fingerprint() { sed -n "s/^$1, $2: \([0-9a-f]*\) .*/\1/p" seen; }
for name in plain time twice; do [ "$(fingerprint $name fastavro)" = "$(fingerprint $name avsc)" ]; done
[ "$(fingerprint plain avro)" = "$(fingerprint plain avsc)" ]
[ "$(fingerprint time avro)" = 2bdbe239ab495333b7588d70e4caaf41 ]
[ "$(fingerprint time avsc)" = 389205e724869568ac47fdcc8671726f ]
[ "$(fingerprint twice avro)" = 739999b10ccbb38f3ebb7f57d1a4f163 ]
[ "$(fingerprint twice avsc)" = e167c8ae137e9d3b701018fe28c8f366 ]
grep -q '^twice, avro: .*, cannot read it: The name "Square" is already in use' seen
