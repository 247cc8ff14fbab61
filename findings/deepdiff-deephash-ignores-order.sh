#!/bin/sh
# deepdiff's DeepHash gives a shuffled deck the hash of the sorted one, and five coins the hash of one coin.
#
# DeepHash is documented as a hash of an object by its contents. It was made for `DeepDiff(ignore_order=True)`, and its own
# defaults are those of that mode: lists and tuples are hashed as sets, on every level. `DeepDiff` itself heeds order by default,
# so the two halves of one library disagree: it reports a difference where the hashes are equal. A pawn on (2, 3) has the hash of
# a pawn on (3, 2). A check of the peers for equal states passes after each shuffle, and a count of repeated positions ends the
# game early. Tests mostly change a value, and then the hash changes. The manual lists `ignore_repetition` among many options, and
# does not mention `ignore_iterable_order`; issues of the project do. With both set to False the hash tells them apart.
#
# deepdiff 9.1.0. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile deepdiff==9.1.0
cat > compare.py <<'PYTHON'
from deepdiff import DeepDiff, DeepHash

def compare(name, one, other):
    equal = DeepHash(one)[one] == DeepHash(other)[other]
    strict = dict(ignore_iterable_order=False, ignore_repetition=False)
    strictly_equal = DeepHash(one, **strict)[one] == DeepHash(other, **strict)[other]
    changed = bool(DeepDiff(one, other))
    print(f"{name}: DeepHash {equal}, with both options {strictly_equal}, DeepDiff {not changed}")

compare("deck", {"deck": ["ace", "king", "queen"]}, {"deck": ["queen", "ace", "king"]})
compare("coins", {"hand": ["coin"] * 5}, {"hand": ["coin"]})
compare("pawn", {"pawn": (2, 3)}, {"pawn": (3, 2)})
compare("turn", {"turn": 1}, {"turn": 2})
PYTHON
echo "Are they equal?"
venv/bin/python compare.py | tee seen
for name in deck coins pawn; do grep -qx "$name: DeepHash True, with both options False, DeepDiff False" seen; done
grep -qx 'turn: DeepHash False, with both options False, DeepDiff False' seen
