#!/bin/sh
# A seeded game of catanatron is another game in each process.
#
# `Game(players, seed=7)` takes its seed "for reproducing games", and in one process it does. But the moves that a player may
# make come out of Python sets, and the order of a set follows from the hash seed of the process. A player who draws one of
# them by a seeded number draws another move. On Python 3.11 and earlier `PYTHONHASHSEED=0` does not help: the moves hold
# `None`, whose hash is its address.
#
# catanatron 3.2.1, three random players, seed 7: five processes play five games, and one process plays one game twice.
# Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check catanatron==3.2.1
cat > "$dir/play.py" <<'PYTHON'
import hashlib
from catanatron import Color, Game, RandomPlayer

def play():
    game = Game([RandomPlayer(color) for color in (Color.RED, Color.BLUE, Color.WHITE)], seed=7)
    game.play()
    moves = [(action.color.value, action.action_type.value, str(action.value)) for action in game.state.actions]
    return f"{len(moves)} moves {hashlib.sha256(repr(moves).encode()).hexdigest()[:8]}"

first, second = play(), play()
print(first if first == second else f"{first} and then {second}")
PYTHON
for _ in 1 2 3 4 5; do "$dir/venv/bin/python" "$dir/play.py"; done | tee "$dir/games"
echo "different games: $(sort -u "$dir/games" | wc -l)"
[ "$(sort -u "$dir/games" | wc -l)" -gt 1 ] && ! grep -q "and then" "$dir/games"
