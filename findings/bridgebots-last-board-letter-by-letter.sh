#!/bin/sh
# bridgebots reads another auction and no play from the last board of a PBN file that does not end with an empty line.
#
# An empty line separates the boards of a PBN file, and not every program writes one after the last. bridgebots splits a board
# into lines when it comes to the empty line, and does not do so at the end of the file. It then goes through the last board
# letter by letter: the tags are still right, but each letter of the auction that can be a call is taken for one. The P of
# `Pass` is a pass, and the D of `1D` is a double. The contract and the tricks come from tags, so the score is right. Only the
# lost play leaves a warning in the log. The change log says that version 0.0.9 handles files that end with a single newline. In
# a folder with one file for each board, every board is the last.
#
# bridgebots 0.0.12. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile bridgebots==0.0.12
cat > board.pbn <<'PBN'
[Event "Club night"]
[Site "?"]
[Date "?"]
[Board "1"]
[West "W"]
[North "N"]
[East "E"]
[South "S"]
[Dealer "N"]
[Vulnerable "None"]
[Deal "N:AKQ.JT9.876.5432 JT9.AKQ.543.A876 876.876.AKQ.KQJ9 5432.5432.JT92.T"]
[Scoring "IMP"]
[Declarer "N"]
[Contract "3NT"]
[Result "9"]
[Auction "N"]
1C Pass 1D Pass
3NT Pass Pass Pass
[Play "E"]
HA H8 H2 H9
HK H7 H3 HT
HQ H6 H4 HJ
*
PBN
cp board.pbn separated.pbn
echo >> separated.pbn
cat > board.py <<'PYTHON'
import logging
from pathlib import Path
from bridgebots import parse_pbn

logging.disable()
for name in ("separated.pbn", "board.pbn"):
    record = parse_pbn(Path(name))[0].board_records[0]
    print(f"{name}:", *record.bidding_record, f"and {len(record.play_record)} cards, score {record.score}")
PYTHON
venv/bin/python board.py | tee found
grep -qx 'separated.pbn: 1C PASS 1D PASS 3NT PASS PASS PASS and 12 cards, score 400' found
grep -qx 'board.pbn: PASS X PASS PASS PASS PASS and 0 cards, score 400' found
