#!/bin/sh
# tsshogi gives a shogi game that ended by a foul to the player who committed it.
#
# The CSA format ends a game with `%+ILLEGAL_ACTION` if Black fouled, so that White wins, and with `%-ILLEGAL_ACTION` if White
# did. Programs that play matches write it, for example after a perpetual check. tsshogi writes both as the standard has them,
# and reads them the other way round: its reader takes the sign for the winner's side, its writer for the loser's. Nothing
# warns, and a record that is read as CSA and written as CSA or KIF names the other winner. json-kifu-format reads the meaning
# of the standard. `%ILLEGAL_MOVE`, `%TORYO` and KIF are right in tsshogi, so tests with common endings pass.
#
# tsshogi 2.2.0, json-kifu-format 5.5.0. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund tsshogi@2.2.0 json-kifu-format@5.5.0
cat > foul.mjs <<'JS'
import kifu from "json-kifu-format";
import { exportCSA, importCSA } from "tsshogi";

for (const end of ["%+ILLEGAL_ACTION", "%-ILLEGAL_ACTION"]) {
  const text = `V2.2\nPI\n+\n+7776FU\nT1\n${end}\n`;
  const record = importCSA(text);
  record.goto(2);
  const winner = { foulWin: "White", foulLose: "Black" }[record.current.move.type]; // as White is to move
  const written = exportCSA(record).match(/^%.*$/m)[0];
  const player = kifu.JKFPlayer.parseCSA(text);
  player.goto(2);
  const loser = { "先手反則負け": "Black", "後手反則負け": "White" }[player.getReadableKifu()];
  console.log(`${end}: tsshogi: ${winner} wins, written again as ${written}; json-kifu-format: ${loser} loses`);
}
JS
node foul.mjs | tee found
grep -qxF '%+ILLEGAL_ACTION: tsshogi: Black wins, written again as %ILLEGAL_MOVE; json-kifu-format: Black loses' found
grep -qxF '%-ILLEGAL_ACTION: tsshogi: White wins, written again as %+ILLEGAL_ACTION; json-kifu-format: White loses' found
