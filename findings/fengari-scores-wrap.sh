#!/bin/sh
# Lua in a browser counts to 2147483647: one point more is -2147483648.
#
# fengari runs Lua 5.3 in JavaScript. Lua 5.3 has integers of 64 bits, fengari has integers of 32.
# The same rules therefore play differently in a page and on a server: a score or a hash of more
# than 31 bits wraps without an error, and a larger number that is written in the program is a
# float, so `//` and `%d` with it behave differently, and as a key or in text it ends in `.0`.
# `math.maxinteger` is 2147483647, so rules can find out. Small games never reach it; milliseconds
# since 1970, seeds and Zobrist keys do at once.
#
# fengari 0.1.5 (npm), lua5.3 through lupa 2.8 (PyPI). Seen: 2147483647 + 1 is -2147483648 and
# 2147483648. Exits with 1 once that changes. Needs node, npm and python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund fengari@0.1.5
python3 -m venv env
env/bin/pip install --quiet lupa==2.8
cat > count.lua <<'LUA'
local score = 2147483647
local ms = 1764000000000
local hash = 17
for _, move in ipairs({101, 52, 101, 52}) do hash = hash * 31 + move * 65599 end
return table.concat({score + 1, ms, math.type(ms), hash, math.maxinteger}, " ")
LUA
cat > count.cjs <<'JS'
const { readFileSync } = require("fs");
const { lauxlib, lualib, to_luastring, to_jsstring } = require("fengari");

const lua = lauxlib.luaL_newstate();
lualib.luaL_openlibs(lua);
lauxlib.luaL_dostring(lua, to_luastring(readFileSync("count.lua", "utf8")));
console.log(`fengari: ${to_jsstring(lauxlib.luaL_tolstring(lua, -1))}`);
JS
cat > count.py <<'PY'
from lupa.lua53 import LuaRuntime

print("Lua 5.3:", LuaRuntime().execute(open("count.lua").read()))
PY
{ node count.cjs; env/bin/python count.py; } | tee seen
grep -qxF 'fengari: -2147483648 1764000000000.0 float -980607501 2147483647' seen
grep -qxF 'Lua 5.3: 2147483648 1764000000000 integer 200882855411 9223372036854775807' seen
