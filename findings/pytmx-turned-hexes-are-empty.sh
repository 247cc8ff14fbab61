#!/bin/sh
# pytmx reads a hex of a Tiled map as empty if its tile is turned by 120 or 300 degrees.
#
# The Tiled editor turns a tile with Z, and stores the turn in the upper bits of the tile's number. Tiles of a square map have
# three such bits, and those of a hexagonal map a fourth, bit 29, for 120 degrees; 300 degrees are bit 29 and two flips. pytmx
# reads the orientation and the stagger of hexagonal maps, but clears only three bits. The rest is the number of a tile that no
# tileset has, so there is neither an image nor a property, as on a hex without a tile. A road loses the pieces that run in one of
# three directions, and so do rules that read terrain or the cost of a move from the properties. Nothing warns, and hexes turned
# by another angle are there. The manual of Tiled documents the bit, and says to clear it in square maps too.
#
# PyTMX 3.32. Exits with 1 once that changes. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile PyTMX==3.32
cat > road.tmx <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" tiledversion="1.11.0" orientation="hexagonal" renderorder="right-down" width="7" height="1" tilewidth="14"
 tileheight="12" infinite="0" hexsidelength="6" staggeraxis="y" staggerindex="odd" nextlayerid="2" nextobjectid="1">
 <tileset firstgid="1" name="terrain" tilewidth="14" tileheight="12" tilecount="1" columns="1">
  <image source="terrain.png" width="14" height="12"/>
  <tile id="0"><properties><property name="cost" type="int" value="3"/></properties></tile>
 </tileset>
 <layer id="1" name="ground" width="7" height="1">
  <data encoding="csv">1,536870913,268435457,3221225473,3758096385,3489660929,0</data>
 </layer>
</map>
XML
cat > costs.py <<'PYTHON'
import logging
from pytmx import TiledMap

logging.disable()
road = TiledMap("road.tmx")
for x, turn in enumerate(("0", "60", "120", "180", "240", "300", "no tile")):
    properties = road.get_tile_properties(x, 0, 0)
    image = "an image" if road.get_tile_image(x, 0, 0) else "no image"
    print(f"{turn}: {image}, cost {properties and properties['cost']}")
PYTHON
venv/bin/python costs.py 2>errors | tee seen
for turn in 0 60 180 240; do grep -qx "$turn: an image, cost 3" seen; done
for turn in 120 300 "no tile"; do grep -qx "$turn: no image, cost None" seen; done
