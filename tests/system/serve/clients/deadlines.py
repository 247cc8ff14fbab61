"""Prints the events of a calendar as icalendar reads them."""

import json
import sys

from icalendar import Calendar

with open(sys.argv[1], "rb") as file:
    calendar = Calendar.from_ical(file.read())
assert calendar["version"] == "2.0" and calendar["prodid"], calendar
assert not calendar.errors, calendar.errors
events = []
for event in calendar.walk("VEVENT"):
    assert not event.errors, event.errors
    events.append(
        {
            "uid": str(event["uid"]),
            "sequence": event["sequence"],
            "stamp": event["dtstamp"].dt.isoformat(),
            "start": event["dtstart"].dt.isoformat(),
            "summary": str(event["summary"]),
            "url": str(event["url"]),
        }
    )
print(json.dumps(events))
