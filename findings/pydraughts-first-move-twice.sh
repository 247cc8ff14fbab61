#!/bin/sh
# pydraughts reads back its own PDN with the first move twice, if Black began.
#
# Black begins English draughts. The writer numbers the first move `1... 12-16`, as in chess, and always writes the FEN of the
# start. Where that FEN has Black to move, the reader puts the first move into its list twice. So every game of English
# draughts that the library wrote, and every game from a position with Black to move, comes back one move longer, and a program
# that plays the moves finds the second one illegal. If White begins, the round trip is right, so tests with the
# international game pass.
#
# pydraughts 0.6.7. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydraughts==0.6.7
cat > pdn.py <<'PYTHON'
from draughts.PDN import PDNReader, PDNWriter

for variant, moves in (("standard", ["32-28", "18-23", "34-29"]), ("english", ["12-16", "23-19", "16x23"])):
    PDNWriter(f"{variant}.pdn", moves=moves, variant=variant)
    read = PDNReader(filename=f"{variant}.pdn").games[0].moves
    print(f"{variant}: written: {' '.join(moves)}; read: {' '.join(read)}")
PYTHON
venv/bin/python pdn.py | tee found
grep -qx 'standard: written: 32-28 18-23 34-29; read: 32-28 18-23 34-29' found
grep -qx 'english: written: 12-16 23-19 16x23; read: 12-16 12-16 23-19 16x23' found
