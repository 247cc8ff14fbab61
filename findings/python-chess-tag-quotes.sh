#!/bin/sh
# python-chess writes a quotation mark in a PGN tag without the backslash that the standard asks for, and pgn-extract then
# makes three games of one.
#
# The PGN standard (8.1.1) writes `"` in a tag as `\"`. python-chess reads its own text back, so nothing is noticed until
# another program reads the file: pgn-extract ends the game in the middle of its tags, and the moves lose their names.
#
# python-chess 1.11.2, pgn-extract of Debian: one game goes in, three come out, and only one of them names White.
# Exits with 1 once that changes. Needs python3 with venv; the second half needs Debian's apt-get and dpkg.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check chess==1.11.2
"$dir/venv/bin/python" - > "$dir/game.pgn" <<'PYTHON'
import chess.pgn

game = chess.pgn.Game()
game.headers["White"] = 'Ann "the rook" Lee'
game.headers["Black"] = "Bo"
game.add_main_variation(game.board().parse_san("e4"))
print(game)
PYTHON
grep '^\[White ' "$dir/game.pgn"
[ "$(grep '^\[White ' "$dir/game.pgn")" = '[White "Ann "the rook" Lee"]' ]
if ! command -v apt-get >/dev/null || ! (cd "$dir" && apt-get download pgn-extract >/dev/null 2>&1); then
    echo "SKIPPED: pgn-extract cannot be downloaded here"
    exit 0
fi
dpkg -x "$dir"/pgn-extract_*.deb "$dir/root"
extract=$(find "$dir/root" -name pgn-extract -type f -perm -u+x | head -n 1)
"$extract" -s "$dir/game.pgn" > "$dir/out.pgn" 2> "$dir/errors" || true
head -n 2 "$dir/errors"
games=$(grep -c '^\[Event ' "$dir/out.pgn" || true)
named=$(grep -c 'Ann' "$dir/out.pgn" || true)
echo "games that come out: $games; with White's name: $named"
[ "$games" = 3 ] && [ "$named" = 1 ]
