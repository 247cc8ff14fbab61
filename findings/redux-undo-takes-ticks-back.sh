#!/bin/sh
# redux-undo: actions that `filter` keeps out of the history are undone all the same.
#
# A game with a clock filters `tick`, so that undo takes back moves only. The state after a tick is
# shown, but the history keeps the state as the last move left it, and the next move stores that
# older one. So an undo does not only take back a move: it sets the clock to what it was right after
# the move before, and a redo does not lead back to where it began. The option `syncFilter: true`
# stores the state with the ticks. A test without ticks between the moves passes.
#
# redux-undo 1.1.1, redux 5.0.1. Seen: a move at clock 2, then a tick and an undo: clock 0; with
# `syncFilter` clock 2. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund redux-undo@1.1.1 redux@5.0.1
cat > clock.cjs <<'JS'
const { createStore } = require("redux");
const { default: undoable, ActionCreators } = require("redux-undo");

const play = (state = { moves: 0, clock: 0 }, { type }) => {
	if (type === "move") return { ...state, moves: state.moves + 1 };
	if (type === "tick") return { ...state, clock: state.clock + 1 };
	return state;
};
for (const syncFilter of [false, true]) {
	const store = createStore(undoable(play, { filter: ({ type }) => type !== "tick", syncFilter }));
	const seen = [];
	const see = () => seen.push(`${store.getState().present.moves}/${store.getState().present.clock}`);
	for (const type of ["move", "tick", "tick", "move", "tick"]) store.dispatch({ type });
	see();
	store.dispatch(ActionCreators.undo());
	see();
	store.dispatch(ActionCreators.redo());
	see();
	console.log(`syncFilter ${syncFilter}: moves/clock ${seen.join(" ")}`);
}
JS
node clock.cjs | tee seen
grep -qxF 'syncFilter false: moves/clock 2/3 1/0 2/2' seen
grep -qxF 'syncFilter true: moves/clock 2/3 1/2 2/3' seen
