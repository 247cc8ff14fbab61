# Makes a recording of a game of Go from its SGF file: python3 gnugo.py game.sgf > game.jsonl. GNU Go plays the moves.
import json, re, subprocess, sys

text = open(sys.argv[1], encoding="utf-8").read()
gtp = subprocess.Popen(["/usr/games/gnugo", "--mode", "gtp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def ask(command):
    print(command, file=gtp.stdin, flush=True)
    return " ".join(iter(lambda: gtp.stdout.readline().strip(), "")).removeprefix("= ").removeprefix("=")

def state():
    black, white = (sorted(ask(f"list_stones {color}").split()) for color in ("black", "white"))
    return {"black": black, "white": white, "captures": [int(ask(f"captures {color}")) for color in ("black", "white")]}

field = lambda name, other="": (re.search(rf"{name}\[(.*?)\]", text) or [0, other])[1]
size, moves = int(field("SZ", "19")), re.findall(r";([BW])\[(\w*)\]", text)
place = lambda move: "ABCDEFGHJKLMNOPQRST"[ord(move[0]) - 97] + str(size + 97 - ord(move[1])) if move else "pass"
ask(f"loadsgf {sys.argv[1]} 1")  # the position before the first move, with the stones of the handicap
print(json.dumps({"game": "go", "secrets": "none", "players": [field("PB", "black"), field("PW", "white")], "state": state()}))
for color, move in moves:
    ask(f"play {color} {place(move)}")
    print(json.dumps({"seat": {"B": "p1", "W": "p2"}[color], "command": place(move), "state": state()}))
if field("RE"):  # as the file's writer has it
    result = {"winners": {"B": ["p1"], "W": ["p2"]}.get(field("RE")[0], []), "reason": field("RE")}
    print(json.dumps({"status": {"over": True, "result": result}}))
