#!/bin/sh
# The log of boardgame.io lacks events that change the game, so a replay of it is another game.
#
# boardgame.io keeps the actions of a match in its log, and its debug panel goes back in time by running them again. An event
# that a client calls is logged by the step that ends a turn, phase or stage, not where it is applied. `setActivePlayers` ends
# none of them, so it leaves no entry: the next move of a player whom it let in is refused in the replay. Nothing warns;
# `_stateID` counts on in both, and the reducer only prints that the move is disallowed.
#
# boardgame.io 0.50.2, node: the match counts two moves, its own log run through its own reducer one.
# Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund boardgame.io@0.50.2
cat > replay.cjs <<'JS'
const { Client } = require("boardgame.io/dist/cjs/client.js");
const { CreateGameReducer } = require("boardgame.io/dist/cjs/internal.js");
console.error = () => {};

const game = () => ({
  name: "counter",
  setup: () => ({ count: 0 }),
  moves: { add: ({ G }) => { G.count += 1; } },
});
const client = Client({ game: game(), numPlayers: 2, debug: false });
client.start();
const first = client.getInitialState();
client.updatePlayerID("0");
client.moves.add();
client.events.setActivePlayers({ all: null });
client.updatePlayerID("1");
client.moves.add();

const reduce = CreateGameReducer({ game: game() });
const replayed = client.log.filter(({ automatic }) => !automatic).reduce((state, { action }) => reduce(state, action), first);
process.stdout.write(`logged: ${client.log.map(({ action }) => action.payload.type).join(" ")}\n`);
process.stdout.write(`count of the match: ${client.getState().G.count}, of its log: ${replayed.G.count}\n`);
JS
node replay.cjs | tee found
grep -q "^count of the match: 2, of its log: 1$" found
