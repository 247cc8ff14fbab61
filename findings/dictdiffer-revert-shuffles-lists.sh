#!/bin/sh
# dictdiffer's `revert` brings removed list items back in another order once there are three.
#
# `diff` removes items from the end of a list to its start, so that the indexes stay valid. `revert` inserts them in the same
# sequence instead of the reverse one: the first insertion has an index past the end of the shortened list, and later ones push
# it back by too little. Python's `list.insert` accepts such an index, so nothing fails. `patch` is right, and so is `revert` for
# one or two items, so a test with a short list passes. Undoing "discard the hand" returns the cards in another order. The manual
# gives `revert` as the way back; an issue of the project reports the order.
#
# dictdiffer 0.10.0: 1 2 3 4 come back as 1 4 2 3. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check dictdiffer==0.10.0
cat > "$dir/undo.py" <<'PYTHON'
from dictdiffer import diff, patch, revert

for count in range(1, 6):
    before = {"hand": list(range(1, count + 1))}
    after = {"hand": []}
    changes = list(diff(before, after))
    assert patch(changes, before) == after
    print(*before["hand"], "come back as", *revert(changes, after)["hand"])
PYTHON
"$dir/venv/bin/python" "$dir/undo.py" | tee "$dir/seen"
grep -q '^1 2 come back as 1 2$' "$dir/seen"
grep -q '^1 2 3 come back as 1 3 2$' "$dir/seen"
grep -q '^1 2 3 4 come back as 1 4 2 3$' "$dir/seen"
