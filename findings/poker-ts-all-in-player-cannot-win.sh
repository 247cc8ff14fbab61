#!/bin/sh
# In poker-ts, a player who is all-in cannot win the pot while two others play on.
#
# A player without chips stays in the hand for the pot that they paid into. poker-ts drops such a player from its list of seats
# after the betting round, as it does with one who folded, and the next round fills the list of those who can win the pot from
# those seats. So the others share the pot, whatever the cards are and whether they bet or check. Nothing warns, and no chip is
# missing. `pots()` of a log shows the seat in one round and not in the next. If at most one of the others has chips left, no
# further round is played and the pot is right, so tests with two players or with equal stacks pass. An open pull request of the
# project describes this, among similar cases.
#
# poker-ts 1.5.0: 300 hands of three players, the first all-in before the flop, the others checking. Exits with 1 once that
# changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund poker-ts@1.5.0
cat > play.cjs <<'JS'
const { Table } = require("poker-ts");

const wins = [0, 0, 0];
const rounds = new Set();
const chips = new Set();
for (let hand = 0; hand < 300; hand += 1) {
	const table = new Table({ smallBlind: 1, bigBlind: 2 });
	[10, 100, 100].forEach((buyIn, seat) => table.sitDown(seat, buyIn));
	table.startHand(0);
	const eligible = [];
	table.actionTaken("raise", 10);
	while (table.isHandInProgress()) {
		while (table.isBettingRoundInProgress()) {
			table.actionTaken(table.legalActions().actions.includes("check") ? "check" : "call");
		}
		table.endBettingRound();
		eligible.push(table.pots().map((pot) => pot.eligiblePlayers.join("")).join("+"));
		if (table.areBettingRoundsCompleted()) table.showdown();
	}
	rounds.add(eligible.join(" "));
	chips.add(table.seats().reduce((sum, seat) => sum + (seat?.totalChips ?? 0), 0));
	for (const winners of table.winners()) for (const [seat] of winners) wins[seat] += 1;
}
console.log("seats that can win, by round:", ...rounds);
console.log("chips after each hand:", ...chips);
console.log(`pots won by the player who was all-in: ${wins[0]}, by the others: ${wins[1] + wins[2] >= 300 ? "all" : "some"}`);
JS
node play.cjs | tee seen
grep -qx 'seats that can win, by round: 012 12 12 12' seen
grep -qx 'pots won by the player who was all-in: 0, by the others: all' seen
