#!/bin/sh
# ical.js repeats "Monday of week number 20" and "every 20th Monday of the year" every week.
#
# Both rules are examples of RFC 5545 (3.8.5.3), which lists one day for each year. ical.js accepts
# the rules, but returns each Monday from then on, and of the first rule not even the start. It also
# ignores `INTERVAL` of months next to `BYMONTH`: every second month from March on has no October.
# And it ignores `BYSETPOS` of weeks: "the first of Friday and Sunday" gives both. python-dateutil
# returns what the RFC says. Common rules such as every second Friday are right in both, so tests
# with them pass, and nothing warns. A yearly deadline comes every week, and a replay with another
# library finds other moves late than the server did.
#
# ical.js 2.2.1 (npm), python-dateutil 4.0.0 (PyPI). Seen: the first four days of four rules differ.
# Exits with 1 once that changes. Needs node, npm, and python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund ical.js@2.2.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-compile python-dateutil==4.0.0
cat > rules <<'TEXT'
1997-05-12T09:00:00 FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO
1997-05-19T09:00:00 FREQ=YEARLY;BYDAY=20MO
2026-03-13T18:00:00 FREQ=MONTHLY;INTERVAL=2;BYMONTH=3,10;BYMONTHDAY=13
2026-01-09T18:00:00 FREQ=WEEKLY;BYDAY=FR,SU;BYSETPOS=1
2026-01-09T18:00:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=FR
TEXT
cat > days.mjs <<'JS'
import { readFileSync } from "node:fs";
import ICAL from "ical.js";

for (const line of readFileSync("rules", "utf8").trim().split("\n")) {
	const [start, rule] = line.split(" ");
	const days = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateTimeString(start));
	const first = Array.from({ length: 4 }, () => days.next().toString().slice(0, 10));
	console.log(`ical.js, ${rule}: ${first.join(" ")}`);
}
JS
cat > days.py <<'PYTHON'
from datetime import datetime
from itertools import islice

from dateutil.rrule import rrulestr

with open("rules", encoding="utf-8") as file:
    for line in file:
        start, rule = line.split()
        days = rrulestr(rule, dtstart=datetime.fromisoformat(start))
        print(f"dateutil, {rule}:", *(day.date() for day in islice(days, 4)))
PYTHON
{ node days.mjs; venv/bin/python days.py; } | tee seen
cat > expected <<'TEXT'
ical.js, FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO: 1997-05-19 1997-05-26 1997-06-02 1997-06-09
ical.js, FREQ=YEARLY;BYDAY=20MO: 1997-05-19 1997-05-26 1997-06-02 1997-06-09
ical.js, FREQ=MONTHLY;INTERVAL=2;BYMONTH=3,10;BYMONTHDAY=13: 2026-03-13 2026-10-13 2027-03-13 2027-10-13
ical.js, FREQ=WEEKLY;BYDAY=FR,SU;BYSETPOS=1: 2026-01-09 2026-01-11 2026-01-16 2026-01-18
ical.js, FREQ=WEEKLY;INTERVAL=2;BYDAY=FR: 2026-01-09 2026-01-23 2026-02-06 2026-02-20
dateutil, FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO: 1997-05-12 1998-05-11 1999-05-17 2000-05-15
dateutil, FREQ=YEARLY;BYDAY=20MO: 1997-05-19 1998-05-18 1999-05-17 2000-05-15
dateutil, FREQ=MONTHLY;INTERVAL=2;BYMONTH=3,10;BYMONTHDAY=13: 2026-03-13 2027-03-13 2028-03-13 2029-03-13
dateutil, FREQ=WEEKLY;BYDAY=FR,SU;BYSETPOS=1: 2026-01-09 2026-01-16 2026-01-23 2026-01-30
dateutil, FREQ=WEEKLY;INTERVAL=2;BYDAY=FR: 2026-01-09 2026-01-23 2026-02-06 2026-02-20
TEXT
cmp seen expected
