#!/bin/sh
# endplay counts a bridge contract as made if the defenders take every trick, once the LIN file has all 13 tricks.
#
# LIN, the format of Bridge Base Online, states the tricks of a claim in `mc|13|`. A board that is played to the end has no such
# field, and a reader counts the tricks. endplay assumes there that one player leads to each trick, so what it counts are the
# tricks won by the side that led to them, and the defenders' tricks go to the declarer. The contract then has a wrong result
# and a wrong score, and both are written to PBN. Nothing warns, and claimed boards are right. An issue of the project reports
# the count, without what becomes of it.
#
# endplay 0.5.12. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile endplay==0.5.12
cat > board.py <<'PYTHON'
from endplay.parsers import lin

RANKS = "AKQJT98765432"
START = f"pn|S,W,N,E|md|1S{RANKS},H{RANKS},D{RANKS},C{RANKS}|ah|Board 1|sv|o|"  # a suit for each player

def show(title, bid, tricks, claim=""):
    play = "".join("".join(f"pc|{card}|" for card in trick.split()) + "pg||" for trick in tricks)
    board = lin.loads(f"{START}mb|{bid}|mb|p|mb|p|mb|p|pg||{play}{claim}")[0]
    print(f"{title}: {board.contract.result:+d}, {board.contract.score(board.vul):+d} points")

west_leads = [f"H{rank} D{rank} C{rank} S{rank}" for rank in RANKS]
show("1NT, West takes 13 tricks", "1N", west_leads)
show("1NT, the same after a claim", "1N", west_leads[:1], "mc|0|")
south_leads = [f"S{RANKS[i]} H{RANKS[i + 1]} D{RANKS[i + 1]} C{RANKS[i + 1]}" for i in range(12)]
ruffed = ["HA DA CA S2"] + south_leads
show("7S, South takes 13 tricks", "7S", ruffed)
show("7S, the same after a claim", "7S", ruffed[:1], "mc|13|")
PYTHON
venv/bin/python board.py | tee found
grep -qx '1NT, West takes 13 tricks: +6, +270 points' found
grep -qx '1NT, the same after a claim: -7, -350 points' found
grep -qx '7S, South takes 13 tricks: -1, -50 points' found
grep -qx '7S, the same after a claim: +0, +1510 points' found
