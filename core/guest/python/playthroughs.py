"""Replays OpenSpiel's own playthrough files by openspiel.py: `python3 playthroughs.py FILE…`.

Each file lists the legal actions at each of its states, and the returns. Both must be those that the referee answers.
"""

import ast
import json
import os
import re
import sys

import pyspiel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openspiel import OpenSpiel, weights_of  # noqa: E402
from turnfold import answer  # noqa: E402


def steps_of(text):
    """The states of a file, each with its lines `Name() = value` and what is applied then."""
    for part in re.split(r"^# State \d+$", text, flags=re.M)[1:]:
        found = {name: value for name, value in re.findall(r"^(\w+\(\d*\)) = (.*)$", part, re.M)}
        applied = re.search(r"^actions?: (.*)$", part, re.M)
        yield found, ast.literal_eval(applied[1]) if applied else None


def replay(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    game = OpenSpiel(re.search(r"^game: (.*)$", text, re.M)[1])
    ask = lambda op, **args: answer(game, {"id": 1, "op": op, "args": args})["ok"]  # noqa: E731
    started = ask("start", setup={})
    state, status = started["state"], started["status"]
    count = 0
    for found, applied in steps_of(text):
        count += 1
        seats = status["players"]
        legal = ask("legal", state=state, seats=seats)
        for seat in seats:
            of_player = found.get(f"LegalActions({int(seat[1:]) - 1})")
            if of_player is None and found.get("CurrentPlayer()") == str(int(seat[1:]) - 1):
                of_player = found.get("LegalActions()")
            if of_player is not None and seat in status["active"]:
                expected = [f"act {action}" for action in ast.literal_eval(of_player)]
                assert legal[seat] == expected, f"state {count - 1}: {seat} may {legal[seat]}, not {expected}"
        if found.get("IsTerminal()") == "True":
            returns = ast.literal_eval(found["Returns()"])  # of six digits
            scores = [status["result"]["scores"][seat] for seat in seats]
            assert all(abs(a - b) < 1e-4 for a, b in zip(scores, returns)), f"returns {scores}, not {returns}"
        if applied is None:
            return count
        if isinstance(applied, list):
            entries = [{"seat": seat, "command": f"act {action}"} for seat, action in zip(seats, applied) if seat in status["active"]]
        elif "due" in status:
            outcomes, chances = zip(*game.at(state).chance_outcomes())
            value = sum(weights_of(chances)[: outcomes.index(applied) + 1])
            entries = [{"roll": [value]}]
        else:
            entries = [{"seat": status["active"][0], "command": f"act {applied}"}]
        folded = ask("fold", state=state, entries=entries)
        assert len(folded["steps"]) == len(entries), folded.get("stop")
        state, status = folded["state"], folded["status"]
    return count


if __name__ == "__main__":
    total, failed = 0, 0
    for path in sys.argv[1:]:
        try:
            total += replay(path)
        except (AssertionError, SystemExit, pyspiel.SpielError, KeyError) as error:
            failed += 1
            print(f"{os.path.basename(path)}: {str(error).strip().splitlines()[-1][:200]}")
    print(json.dumps({"files": len(sys.argv) - 1, "failed": failed, "states": total}))
