// A trivial game for boardgame.io's client: two players add to a total in turn. Prints the processor time of the given
// number of moves in microseconds.
import { createRequire } from 'node:module';

const { Client } = createRequire(import.meta.url)('boardgame.io/client');

const game = {
  setup: () => ({ total: 0 }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    add: ({ G }, number) => {
      G.total += number;
    },
  },
};

const moves = Number(process.argv[2]);
const client = Client({ game, numPlayers: 2, debug: false });
client.start();
const before = process.cpuUsage();
for (let move = 0; move < moves; move += 1) {
  client.moves.add(1 + (move % 3));
}
const { user, system } = process.cpuUsage(before);
const { G, ctx } = client.getState();
let expected = 0;
for (let move = 0; move < moves; move += 1) {
  expected += 1 + (move % 3);
}
if (G.total !== expected || ctx.turn !== moves + 1) {
  throw new Error(`the total is ${G.total} in turn ${ctx.turn}, expected ${expected} in turn ${moves + 1}`);
}
console.log(user + system);
