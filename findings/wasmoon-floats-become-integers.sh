#!/bin/sh
# A whole number of Lua that goes through wasmoon to JavaScript and back is another kind of number, and its products wrap.
#
# Lua 5.4 has integers of 64 bits, which wrap, and floats. JavaScript has one kind, and wasmoon pushes each whole number as an
# integer. So the state that a script of rules returned and gets back is equal, and counts differently: the float 4e9 squared was
# 1.6e19, and is -2446744073709551616 after the trip. `//` by zero was infinite and is an error, `..` writes 3 instead of
# 3.0, and 1e19, which has no integer, arrives as -8446744073709551616 although nobody counted. A match that runs on and one that
# was saved and loaded part ways. The manual does not mention it. `x + 0.0` in the script makes a float again, except
# for numbers from 2^63 on.
#
# wasmoon 1.16.0 with Lua 5.4. Exits with 1 once that changes. Needs node and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund wasmoon@1.16.0
cat > trip.mjs <<'JS'
import { LuaFactory } from "wasmoon";

const lua = await new LuaFactory().createEngine();
const describe = "(function(x) return math.type(x) .. ' ' .. x .. ', squared ' .. (x * x) end)";
for (const number of ["3.0", "4e9", "1e19"]) {
	const returned = await lua.doString(`return ${number}`);
	lua.global.set("x", returned);
	console.log(`${number} in Lua: ${await lua.doString(`return ${describe}(${number})`)}`);
	console.log(`${number} through JavaScript (${returned}): ${await lua.doString(`return ${describe}(x)`)}`);
}
JS
node trip.mjs | tee seen
grep -q '^3.0 in Lua: float 3.0, squared 9.0$' seen
grep -q '^3.0 through JavaScript (3): integer 3, squared 9$' seen
grep -q '^4e9 in Lua: float 4000000000.0, squared 1.6e+19$' seen
grep -q '^4e9 through JavaScript (4000000000): integer 4000000000, squared -2446744073709551616$' seen
grep -q '^1e19 in Lua: float 1e+19, ' seen
grep -q '^1e19 through JavaScript (10000000000000000000): integer -8446744073709551616, ' seen
