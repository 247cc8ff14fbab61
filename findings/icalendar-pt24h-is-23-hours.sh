#!/bin/sh
# Three iCalendar libraries end `DURATION:PT24H` and `P1D` at the same moment, even in the night of the clock change.
#
# RFC 5545 (3.3.6) tells them apart: hours are exact, days are nominal. From Saturday 18:00 in Berlin, before the clocks go
# forward, PT24H ends on Sunday at 19:00 and P1D at 18:00. icalendar of PyPI and ical.js add both to the local time, so a
# deadline of 24 hours is over after 23, and in autumn after 25. node-ical adds both to UTC, so a day ends an hour off. A host
# and a player who use different libraries disagree about a deadline twice a year. icalendar quotes the rule in its
# documentation, reads both as one `timedelta`, and writes PT24H back as P1D. Only a `DTEND`, best in UTC, is read alike.
#
# icalendar 7.3.2 (PyPI), ical.js 2.2.1 and node-ical 0.26.1 (npm). Exits with 1 once that changes. Needs python3 with venv, node
# and npm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check icalendar==7.3.2
npm install --silent --no-audit --no-fund ical.js@2.2.1 node-ical@0.26.1
event() {
    printf '%s\r\n' BEGIN:VCALENDAR VERSION:2.0 PRODID:-//example//deadline//EN \
        BEGIN:VTIMEZONE TZID:Europe/Berlin \
        BEGIN:DAYLIGHT TZOFFSETFROM:+0100 TZOFFSETTO:+0200 DTSTART:19700329T020000 'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU' END:DAYLIGHT \
        BEGIN:STANDARD TZOFFSETFROM:+0200 TZOFFSETTO:+0100 DTSTART:19701025T030000 'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU' END:STANDARD \
        END:VTIMEZONE \
        BEGIN:VEVENT UID:deadline@club.example DTSTAMP:20250301T000000Z 'DTSTART;TZID=Europe/Berlin:20250329T180000' "DURATION:$1" END:VEVENT \
        END:VCALENDAR
}
event PT24H > PT24H.ics
event P1D > P1D.ics
cat > end.py <<'PYTHON'
from datetime import timezone
from icalendar import Calendar

for name in ("PT24H", "P1D"):
    calendar = Calendar.from_ical(open(f"{name}.ics", "rb").read())
    event = calendar.walk("VEVENT")[0]
    print("icalendar", name, "ends", event.end.astimezone(timezone.utc).strftime("%d %H:%M"))
    print("icalendar", name, "is written as", event["DURATION"].to_ical().decode())
PYTHON
cat > end.mjs <<'JS'
import { readFileSync } from "node:fs";
import ICAL from "ical.js";
import ical from "node-ical";

const shown = (date) => date.toISOString().slice(8, 16).replace("T", " ");
for (const name of ["PT24H", "P1D"]) {
	const text = readFileSync(`${name}.ics`, "utf8");
	const calendar = new ICAL.Component(ICAL.parse(text));
	ICAL.TimezoneService.register(calendar.getFirstSubcomponent("vtimezone"));
	console.log("ical.js", name, "ends", shown(new ICAL.Event(calendar.getFirstSubcomponent("vevent")).endDate.toJSDate()));
	console.log("node-ical", name, "ends", shown(ical.parseICS(text)["deadline@club.example"].end));
}
JS
{ venv/bin/python end.py; node end.mjs; } | tee seen
[ "$(grep -c '^ical.* ends 30 16:00$' seen)" = 4 ]
[ "$(grep -c '^node-ical .* ends 30 17:00$' seen)" = 2 ]
grep -q '^icalendar PT24H is written as P1D$' seen
