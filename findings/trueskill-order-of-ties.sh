#!/bin/sh
# TrueSkill gives players who share a place different ratings, by their order in the list.
#
# `rate` takes ranks, and equal ranks mean a tie. Of four new players one wins and three share second place: the three get three
# ratings. The algorithm compares only neighbours in the sorted list, so the first of the tied players is compared with the
# winner and the next ones with each other. The sort is stable, so the order of the arguments decides. Rounding is not the cause:
# `min_delta=1e-12` changes nothing, and the port to TypeScript computes the same numbers. Who computes ratings again from
# results that a database returns in another order gets other ratings.
#
# trueskill 0.4.5 (PyPI), ts-trueskill 5.1.0 (npm). Exits with 1 once that changes. Needs python3 with venv, node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check trueskill==0.4.5
npm install --silent --no-audit --no-fund ts-trueskill@5.1.0
cat > rate.py <<'PYTHON'
import trueskill

def show(name, teams):
    print(name, *(f"{player.mu:.3f}" for player, in teams))

ranks = [0, 1, 1, 1]
new = [(trueskill.Rating(),) for _ in ranks]
show("trueskill:", trueskill.rate(new, ranks))
show("trueskill, converged:", trueskill.rate(new, ranks, min_delta=1e-12))
PYTHON
cat > rate.mjs <<'JS'
import { Rating, rate } from "ts-trueskill";

const ranks = [0, 1, 1, 1];
const rated = rate(ranks.map(() => [new Rating()]), ranks);
console.log("ts-trueskill:", ...rated.map(([player]) => player.mu.toFixed(3)));
JS
{ venv/bin/python rate.py; node rate.mjs; } | tee found
[ "$(grep -c 'skill.*: 30.434 23.182 23.190 23.194$' found)" = 3 ]
