"""Times referees by a release build: python3 tests/bench/referees.py target/release/turnfold

Prints rows of the section "Referees" of BENCHMARKS.md. Each is the fastest of three runs by the clock, start included.
"""
import json, os, resource, subprocess, sys, tempfile, time

TURNFOLD, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(f"{os.path.dirname(__file__)}/../..")
SETUP = 'full = 3\n[[units]]\nname = "ann"\nhp = 1000000\n[[units]]\nname = "bob"\nhp = 1000000\n'

def ran(*args, **more):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert done.returncode == 0, (args, done.stderr.decode()[-400:])

def fastest(*args, before=lambda: None, **more):
    times = []
    for _ in range(3):
        before()
        begun = time.monotonic()
        ran(*args, **more)
        times.append(time.monotonic() - begun)
    return min(times)

def row(what, subject, seconds, entries=0):
    rate = f"{entries / seconds / 1000:.1f} k/s" if entries else ""
    print(f"| {what} | {subject} | {seconds:.2f} s | {rate} |", flush=True)

def meter(program, file):
    def turnfold(*args):
        return (TURNFOLD, "--referee", f"charge={program} {ROOT}/fixtures/referees/{file}", *args)
    started = fastest(*turnfold("game", "perft", "--rules", "charge", "--depth", "1"))
    row("start of a child", program, started)
    for steps, name in ("20000", "long.tfl"), ("300", "short.tfl"):
        play = ["--rules", "charge", "--setup", "meter.toml", "--seed", "1", "--steps", steps]
        ran(*turnfold("simulate", *play, "-o", f"{program}-{name}"))
    long, short = f"{program}-long.tfl", f"{program}-short.tfl"
    row("fold of 20,000 entries, start taken off", program, fastest(*turnfold("show", long)) - started, 20_000)
    row("`check` of 20,000 entries, by two children", program, fastest(*turnfold("check", long)))
    row("`shrink` of 300 entries", program, fastest(*turnfold("shrink", short, "--when", "/units/0/charge == 3")))

def lifecycle():
    with open(f"{ROOT}/fixtures/referees/lifecycle.js") as file: rules = file.read()
    rules = rules.replace('name: "lifecycle"', 'name: "ported"').replace("../../core", f"file://{ROOT}/core")
    with open("ported.mjs", "w") as file: file.write(rules)
    for name, folder, referee in ("lifecycle", "native", []), ("ported", "node", ["--referee", "node ported.mjs"]):
        play = ["--setup", f"{ROOT}/fixtures/lifecycle/skirmish.toml", "--seed", "1", "--steps", "300", "--count", "30"]
        ran(TURNFOLD, *referee, "simulate", "--rules", name, *play, "-o", folder)
        read = [line for log in os.listdir(folder) for line in open(f"{folder}/{log}")]
        entries = sum(line.split(" ", 1)[0].isdecimal() for line in read)
        row(f"`stats` of {entries:,} entries of `lifecycle` in 30 matches", folder,
            fastest(TURNFOLD, *referee, "stats", folder), entries)

def recording():
    def state(turn):
        ann, bob = {"name": "ann", "hp": turn % 40, "charge": turn % 7}, {"name": "bob", "hp": 12, "charge": turn % 5}
        return {"turn": turn, "full": 7, "units": [ann, bob], "log": [f"turn {turn}"]}
    with open("meter.jsonl", "w") as file:
        first = {"game": "meter", "secrets": "none", "players": ["ann", "bob"], "state": state(0)}
        file.write(f"{json.dumps(first)}\n")
        for turn in range(1, 100_001):
            move = {"seat": f"p{turn % 2 + 1}", "command": f"charge {turn % 7}", "effects": [{"effect": "charged"}]}
            file.write(f"{json.dumps({**move, 'state': state(turn)})}\n")
    took = fastest(TURNFOLD, "--store", "imported", "import", "--recording", "meter.jsonl",
                   before=lambda: subprocess.run(["rm", "-rf", "imported"]))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    row("`import --recording` of 100,000 lines", f"turnfold, {most // 1024} MiB at most", took, 100_000)
    row("`jq -c .` of the same file", "jq", fastest("jq", "-c", ".", "meter.jsonl"), 100_000)

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("meter.toml", "w") as file: file.write(SETUP)
    recording()
    meter("node", "charge.js")
    meter("python3", "charge.py")
    lifecycle()
