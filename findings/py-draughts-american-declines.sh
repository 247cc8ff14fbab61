#!/bin/sh
# py-draughts lets a player of American checkers decline to capture.
#
# In English draughts, which is American checkers, a player who can capture must. `AmericanBoard` offers the other moves next to
# the captures, on purpose: a comment in the source says that captures are not mandatory there. The readme lists only "Max
# Capture: Not required", which is true of checkers and means the choice between captures; the Russian board has the same
# entry, and on that board captures are mandatory. A game played by the moves on offer may be illegal in every other program.
# No capture is possible in the first two plies, so a short count of move sequences is right. The third ply has 379, and the
# published count is 302.
#
# py-draughts 1.10.1. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile py-draughts==1.10.1
cat > moves.py <<'PYTHON'
from draughts import AmericanBoard, RussianBoard

for board in (AmericanBoard, RussianBoard):
    print(f"{board.VARIANT_NAME}:", *sorted(str(move) for move in board.from_fen("W:W22,32:B18").legal_moves))

def count(board, plies):
    if plies == 0:
        return 1
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += count(board, plies - 1)
        board.pop()
    return total

print("American sequences:", *(count(AmericanBoard(), plies) for plies in (1, 2, 3)))
PYTHON
venv/bin/python moves.py | tee found
grep -qx 'American checkers: 22-17 22x15 32-27 32-28' found
grep -qx 'Russian draughts: 22x15' found
grep -qx 'American sequences: 7 49 379' found
