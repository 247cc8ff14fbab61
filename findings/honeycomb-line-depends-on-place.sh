#!/bin/sh
# honeycomb-grid draws the line between two hexes by another side elsewhere on the board, and now and then another way back.
#
# A line that runs along the edges between hexes has to choose a side at each of them. The library moves both ends a millionth
# aside before it interpolates and rounds, which settles the choice for most lines. But it moves them by the same amount in q
# and in r, so where those two are tied, as along (1,1), the tie stays, and the rounding error of the absolute coordinates
# decides. The step (1,1) passes the hex on one side from some starts and the one on the other side from others. On a board of
# radius 8 the vector (3,3) has eight shapes, and for 243 of 23,436 pairs of hexes the line from A to B has other hexes than
# the one from B to A. A rule for a line of sight or of fire that takes its hexes from here may let A see B and not B see A, and
# a position moved by one hex plays differently.
#
# honeycomb-grid 4.1.5, hexes with a flat or a pointed top. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund honeycomb-grid@4.1.5
cat > lines.mjs <<'JS'
import { Grid, Orientation, defineHex, line, spiral } from "honeycomb-grid";

const RADIUS = 8;
for (const orientation of [Orientation.FLAT, Orientation.POINTY]) {
	const grid = new Grid(defineHex({ orientation }), spiral({ radius: RADIUS }));
	const hexes = grid.toArray().map(({ q, r }) => [q, r]);
	const between = (start, stop) => grid.traverse(line({ start, stop })).toArray().map(({ q, r }) => [q, r]);
	const isOnBoard = ([q, r]) => Math.max(Math.abs(q), Math.abs(r), Math.abs(q + r)) <= RADIUS;

	const shapesOf = ([q, r]) => {
		const shapes = new Set();
		for (const start of hexes) {
			const stop = [start[0] + q, start[1] + r];
			if (isOnBoard(stop)) shapes.add(between(start, stop).map(([x, y]) => `${x - start[0]},${y - start[1]}`).join(" "));
		}
		return [...shapes];
	};
	console.log(orientation, "shapes of (1,1):", shapesOf([1, 1]).join(" and "));
	console.log(orientation, "number of shapes of (3,3):", shapesOf([3, 3]).length);

	let pairs = 0;
	let unequal = 0;
	for (const [index, one] of hexes.entries()) {
		for (const other of hexes.slice(index + 1)) {
			pairs += 1;
			if (between(one, other).sort().join(" ") !== between(other, one).sort().join(" ")) unequal += 1;
		}
	}
	console.log(orientation, "lines that have other hexes on the way back:", unequal, "of", pairs);
}
JS
node lines.mjs | tee seen
test "$(grep -c "shapes of (1,1): 0,0 1,0 1,1 and 0,0 0,1 1,1" seen)" = 2 ||
  test "$(grep -c "shapes of (1,1): 0,0 0,1 1,1 and 0,0 1,0 1,1" seen)" = 2
test "$(grep -c "number of shapes of (3,3): 8" seen)" = 2
test "$(grep -c "on the way back: 243 of 23436" seen)" = 2
