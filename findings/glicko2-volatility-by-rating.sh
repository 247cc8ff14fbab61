#!/bin/sh
# glicko2 of PyPI changes a rating by another amount at another level of ratings.
#
# Glicko-2 uses only differences between ratings, so the same wins against players 400 above should move a player as far at 2000
# as at 1500. In step 5 this package computes the volatility with the square of the player's rating where the paper has the
# square of the rating deviation. At 1500 the internal rating is 0, so the worked example of the paper, a player at 1500, comes
# out right to the digits that the paper prints. Away from 1500 surprising results hardly raise the volatility. A league that is
# rated again with another base rating, or by another library, gets other ratings from the same log. glicko2-lite of npm follows
# the paper.
#
# glicko2 2.1.0 (PyPI), glicko2-lite 5.0.0 (npm): five periods of 20 wins. Exits with 1 once that changes. Needs python3 with
# venv, node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check glicko2==2.1.0
npm install --silent --no-audit --no-fund glicko2-lite@5.0.0
cat > rate.py <<'PYTHON'
from glicko2 import Player

for base in (1000, 1500, 2000):
    player = Player(rating=base, rd=30, vol=0.06)
    for _ in range(5):
        player.update_player([base + 400] * 20, [30] * 20, [1] * 20)
    print(f"PyPI, from {base}: {player.rating - base:+.0f}, volatility {player.vol:.4f}")
PYTHON
cat > rate.mjs <<'JS'
import lite from "glicko2-lite";

for (const base of [1000, 1500, 2000]) {
  let player = { rating: base, rd: 30, vol: 0.06 };
  const wins = Array(20).fill([base + 400, 30, 1]);
  for (let period = 0; period < 5; period++) player = lite(player.rating, player.rd, player.vol, wins, { tau: 0.5 });
  console.log(`npm, from ${base}: +${(player.rating - base).toFixed(0)}, volatility ${player.vol.toFixed(4)}`);
}
JS
{ venv/bin/python rate.py; node rate.mjs; } | tee found
grep -qx 'PyPI, from 1000: +408, volatility 0.0601' found
grep -qx 'PyPI, from 1500: +421, volatility 0.0669' found
grep -qx 'PyPI, from 2000: +408, volatility 0.0600' found
[ "$(grep -cx 'npm, from .*: +431, volatility 0.0794' found)" = 3 ]
