#!/bin/sh
# jsondiff finds no difference between 1 and true.
#
# The library compares JSON documents and returns what has to change. It asks Python whether two
# values are equal, and in Python `True == 1`, `False == 0` and `1.0 == 1`. So when a flag of a
# state becomes a number, or a number a flag, the difference is empty, also deep inside, and
# `similarity` is 1. Applied to the old state, that difference gives the old state, whose JSON text
# and hash are not those of the new one. The three syntaxes behave alike. A test of golden states
# by this library passes although a client in another language reads something else. Compare the
# JSON texts first.
#
# jsondiff 2.2.1 (PyPI). Seen: an empty difference of two states with four unequal members. Exits
# with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv env
env/bin/pip install --quiet jsondiff==2.2.1
cat > compare.py <<'PY'
import json

import jsondiff

old = {"kingMoved": 0, "lastWords": [1, 0], "clock": {"left": 30}}
new = {"kingMoved": False, "lastWords": [True, False], "clock": {"left": 30.0}}
for syntax in ["compact", "symmetric", "explicit"]:
    print(f"{syntax}: {jsondiff.diff(old, new, syntax=syntax)}")
print(f"similarity: {jsondiff.similarity(old, new)}")
patched = jsondiff.patch(old, jsondiff.diff(old, new))
print(f"patched: {json.dumps(patched)}")
print(f"wanted: {json.dumps(new)}")
print(f"another number: {jsondiff.diff(old, {**old, 'kingMoved': 2})}")
PY
env/bin/python compare.py | tee seen
for syntax in compact symmetric explicit; do grep -qxF "$syntax: {}" seen; done
grep -qxF 'similarity: 1.0' seen
grep -qxF 'patched: {"kingMoved": 0, "lastWords": [1, 0], "clock": {"left": 30}}' seen
grep -qxF "another number: {'kingMoved': 2}" seen
