#!/bin/sh
# swiss-pairing ignores what the player with the id 0 wins as the second of a pair.
#
# The readme allows as the id of a participant any value that has a method `toString`. A bye is a
# match whose second player has the id null, and the code takes each id that counts as false in
# JavaScript for a bye. So for a player with the id 0, usual in programs that number seats from 0,
# only the matches as the first of a pair count. The others give that player neither points nor
# losses, and the tiebreaker stays 0. Nothing warns. The winner of all matches can come third, and
# the list of the next pairs follows that order. With ids from 1 or with names the standings are
# right, so tests with names pass. Another program that computes the league from its log finds
# another champion.
#
# swiss-pairing 1.4.3. Seen: player 0 wins three matches and is third with one win and no loss; with
# ids from 1 the same player is first. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund swiss-pairing@1.4.3
cat > league.cjs <<'JS'
const { getStandings } = require("swiss-pairing")();

// By round: who was first of the pair, who was second, and which of them won.
const results = [
	[1, 0, 1, 0], [1, 2, 3, 2],
	[2, 2, 0, 0], [2, 1, 3, 1],
	[3, 3, 0, 0], [3, 1, 2, 1],
];
for (const firstId of [0, 1]) {
	const participants = [0, 1, 2, 3].map((player) => ({ id: player + firstId, seed: player + 1 }));
	const matches = results.map(([round, home, away, winner]) => ({
		round,
		home: { id: home + firstId, points: Number(winner === home) },
		away: { id: away + firstId, points: Number(winner === away) },
	}));
	const standings = getStandings(4, participants, matches);
	const lines = standings.map(({ id, wins, losses, tiebreaker }) => `${id}: ${wins}-${losses} (${tiebreaker})`);
	console.log(`ids from ${firstId}: ${lines.join(", ")}`);
}
JS
node league.cjs | tee seen
grep -qxF 'ids from 0: 1: 2-1 (4), 2: 1-2 (2), 0: 1-0 (0), 3: 0-3 (3)' seen
grep -qxF 'ids from 1: 1: 3-0 (3), 2: 2-1 (4), 3: 1-2 (2), 4: 0-3 (3)' seen
