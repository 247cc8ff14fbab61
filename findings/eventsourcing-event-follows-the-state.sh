#!/bin/sh
# A list in an event of eventsourcing goes on changing until the event is saved, and a replay then applies each move twice.
#
# An event of this library is a frozen dataclass, and its values are the very objects that the method was called with. If the
# aggregate keeps such a list and later events append to it, the waiting event has the longer list too, because `save` turns
# values into JSON and nothing copies them before. A match that is made and played before its first `save` comes back with its
# moves twice, and version 1 of it already has them. The object in memory is right, and so is a match that was saved right after
# it was made, so the log depends on when a program saves. Nothing warns. `self.moves = list(moves)` avoids it.
#
# eventsourcing 9.5.6. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile eventsourcing==9.5.6
cat > match.py <<'PYTHON'
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

class Match(Aggregate):
    @event("Created")
    def __init__(self, moves):
        self.moves = moves

    @event("Moved")
    def move(self, move):
        self.moves.append(move)

def play(title, saved_first):
    app = Application()
    match = Match(moves=[])
    if saved_first:
        app.save(match)
    match.move("e4")
    match.move("e5")
    app.save(match)
    loaded = app.repository.get(match.id)
    first = app.repository.get(match.id, version=1)
    print(f"{title}: {match.moves}, loaded {loaded.moves}, version 1 {first.moves}")

play("saved after creation", True)
play("saved at the end", False)
PYTHON
venv/bin/python match.py | tee found
grep -qxF "saved after creation: ['e4', 'e5'], loaded ['e4', 'e5'], version 1 []" found
grep -qxF "saved at the end: ['e4', 'e5'], loaded ['e4', 'e5', 'e4', 'e5'], version 1 ['e4', 'e5']" found
