# Makes a recording of autosaves of freeciv (set compresstype PLAIN): python3 freeciv.py game-T*.sav > game.jsonl
import csv, json, os, re, sys

# Rows of maps, one a line, are left out of saves that are longer than an entry of a match.
left_out = r"\w+\d{4}=" if os.path.getsize(sys.argv[1]) > 60_000 else r"\Z."

def cells(text):
    found = next(csv.reader([text], escapechar="\\"))
    return [int(cell) if re.fullmatch(r"-?\d{1,15}", cell) else cell for cell in found]

def read(path):
    text = open(path, encoding="utf-8").read().splitlines()
    state, lines = {}, (line for line in text if not re.match(left_out, line))
    for line in lines:
        if line.startswith("["):
            section = state.setdefault(line.strip("[]"), {})
        elif "={" in line:  # a table: its header, then a row a line
            (name, header), rows = line.split("={", 1), iter(lambda: next(lines), "}")
            section[name] = [dict(zip(cells(header), cells(row))) for row in rows]
        elif "=" in line:
            found = cells(line.split("=", 1)[1])
            section[line.split("=", 1)[0]] = found if len(found) > 1 else found[0]
    return state

states = [read(path) for path in sys.argv[1:]]
players = [states[0][name]["name"] for name in states[0] if re.fullmatch(r"player\d+", name)]
ignore = ["/game/last_turn_change_time", "/event_cache/events/*/timestamp"]  # wall-clock times
print(json.dumps({"game": "freeciv", "secrets": "none", "players": players, "ignore": ignore, "state": states[0]}))
for state in states[1:]:
    print(json.dumps({"command": f"turn {state['game']['turn']}", "state": state}))
