#!/bin/sh
# numpy rolls other dice one at a time than in one call if their type is uint8.
#
# `integers(1, 7)` of a seeded Generator gives the same dice in twelve calls as in one call for twelve: the calls seem to cut one
# stream into pieces. With `dtype=uint8`, which suits dice and cards, a call splits each 32 random bits into four numbers and
# discards the unused ones when it ends. Twelve calls use twelve draws, one call about three. int8, int16, uint16 and bool behave
# alike. A simulation that rolls in batches and a replay that rolls turn by turn differ from the second die on, and so does
# everything drawn later. The manual of `integers` does not mention it.
#
# numpy 2.4.6, default_rng(7). Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
cat > "$dir/dice.py" <<'PYTHON'
import numpy as np

for name in ("int64", "int32", "uint16", "uint8"):
    one_call = np.random.default_rng(7)
    calls = np.random.default_rng(7)
    print(name, "one call: ", *one_call.integers(1, 7, size=12, dtype=name), "then", one_call.integers(1, 1001))
    print(name, "12 calls: ", *(calls.integers(1, 7, dtype=name) for _ in range(12)), "then", calls.integers(1, 1001))
PYTHON
"$dir/venv/bin/python" "$dir/dice.py" | tee "$dir/seen"
different() { [ "$(grep "^$1 " "$dir/seen" | sed 's/.*:  //' | sort -u | wc -l)" = "$2" ]; }
different int64 1
different int32 1
different uint16 2
different uint8 2
grep -q '^uint8 one call:  4 2 6 6 4 2 1 4 4 3 1 5 then ' "$dir/seen"
grep -q '^uint8 12 calls:  4 4 4 5 3 3 2 2 2 4 2 6 then ' "$dir/seen"
