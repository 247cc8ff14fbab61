#!/bin/sh
# tournament-organizer breaks the ties of a double round-robin by its first half alone, and may rank the wrong player first.
#
# The Sonneborn-Berger score, the usual tiebreak of round-robins, adds the points of the opponent for each win. The library goes
# through the opponents instead of the matches, and looks up one match with each of them, which is the first. In a double
# round-robin, one of its formats, the second match with each opponent has no effect on the score; the Koya system has the
# same gap. Points count all matches, and a single round-robin is right, so a test of that passes. Nothing warns. A league that
# recomputes its standings from the log of results with another program gets another champion.
#
# tournament-organizer 4.1.1. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund tournament-organizer@4.1.1
cat > league.mjs <<'JS'
import TournamentOrganizer from "tournament-organizer";

// The winner of the first match of each pair, and of the second.
const winners = { AB: "BA", AC: "AA", AD: "DA", BC: "BC", BD: "BB", CD: "CC" };
const league = new TournamentOrganizer().createTournament("League", {
	sorting: "none",
	scoring: { tiebreaks: ["sonneborn berger"] },
	stageOne: { format: "double-round-robin" },
});
for (const player of "ABCD") league.createPlayer(player, player);
league.startTournament();
const results = [];
for (let round = 1; round <= 6; round += 1) {
	if (round > 1) league.nextRound();
	for (const match of league.getMatchesByRound(round)) {
		const players = [match.getPlayer1().id, match.getPlayer2().id];
		const winner = winners[[...players].sort().join("")][round > 3 ? 1 : 0];
		league.enterResult(match.getId(), Number(winner === players[0]), Number(winner === players[1]));
		results.push({ winner, loser: players.find((player) => player !== winner) });
	}
}
const standings = league.getStandings();
const points = Object.fromEntries(standings.map(({ player, matchPoints }) => [player.getId(), matchPoints]));
for (const { player, matchPoints, tiebreaks } of standings) {
	const wins = results.filter(({ winner }) => winner === player.getId());
	const score = wins.reduce((sum, { loser }) => sum + points[loser], 0);
	console.log(`${player.getId()}: ${matchPoints} points, Sonneborn-Berger ${tiebreaks.sonnebornBerger} instead of ${score}`);
}
JS
node league.mjs | tee seen
test "$(sed -n 1p seen)" = "B: 4 points, Sonneborn-Berger 8 instead of 9"
test "$(sed -n 2p seen)" = "A: 4 points, Sonneborn-Berger 3 instead of 11"
