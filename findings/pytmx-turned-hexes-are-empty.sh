#!/bin/sh
# pytmx reads a hex of a Tiled map as empty if its tile is turned by 120 or 180 degrees.
#
# The Tiled editor turns a tile with Z, and stores the turns in the upper bits of its number. A tile of a square map has three such
# bits, and one of a hexagonal map four: 60 degrees are bit 30, 120 degrees bit 29, and 180 degrees both. pytmx reads the
# orientation and the stagger of hexagonal maps, but takes only the upper three bits off. The rest is the number of a tile that
# no tileset has, so there is neither an image nor a property, as on a hex without a tile. A road that bends another way loses
# its pieces, and so do rules that read terrain or the cost of a move from the properties. Nothing warns, and hexes turned by 60
# degrees are there. The manual of Tiled documents the bit, and says to clear it in square maps too.
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
<map version="1.10" tiledversion="1.11.0" orientation="hexagonal" renderorder="right-down" width="5" height="1" tilewidth="14"
 tileheight="12" infinite="0" hexsidelength="6" staggeraxis="y" staggerindex="odd" nextlayerid="2" nextobjectid="1">
 <tileset firstgid="1" name="terrain" tilewidth="14" tileheight="12" tilecount="1" columns="1">
  <image source="terrain.png" width="14" height="12"/>
  <tile id="0"><properties><property name="cost" type="int" value="3"/></properties></tile>
 </tileset>
 <layer id="1" name="ground" width="5" height="1">
  <data encoding="csv">1,536870913,268435457,805306369,0</data>
 </layer>
</map>
XML
cat > costs.py <<'PYTHON'
import logging
from pytmx import TiledMap

logging.disable()
road = TiledMap("road.tmx")
for x, turn in enumerate(("0 degrees", "60 degrees", "120 degrees", "180 degrees", "no tile")):
    properties = road.get_tile_properties(x, 0, 0)
    image = "an image" if road.get_tile_image(x, 0, 0) else "no image"
    print(f"{turn}: {image}, cost {properties and properties['cost']}")
PYTHON
venv/bin/python costs.py 2>errors | tee seen
grep -qx '0 degrees: an image, cost 3' seen
grep -qx '60 degrees: an image, cost 3' seen
grep -qx '120 degrees: no image, cost None' seen
grep -qx '180 degrees: no image, cost None' seen
grep -qx 'no tile: no image, cost None' seen
