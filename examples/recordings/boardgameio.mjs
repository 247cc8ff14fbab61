// Makes a recording of a match that boardgame.io stored: node boardgameio.mjs game.mjs match.json > match.jsonl
//
// match.json has `initialState`, `log` and `state`, as a server's database has them; a client has
// `getInitialState()`, `log` and `getState()`. The game is the default export of its file.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { recording } from "../../core/guest/js/boardgame.mjs";

const [, , file, path] = process.argv;
const print = process.stdout.write.bind(process.stdout);
console.log = console.info = console.error; // games print
const match = JSON.parse(readFileSync(path, "utf8"));
const { default: game } = await import(pathToFileURL(file));
process.chdir(dirname(file)); // where boardgame.io is
for (const line of recording(game, match)) print(`${JSON.stringify(line)}\n`);
