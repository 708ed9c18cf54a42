# SPDX-License-Identifier: BSD-3-Clause
# trace.py FILE - reads a trace as a viewer does: every end is that of the newest call of its
# thread, by name and arguments, at a later time, and nothing stays open.
import json
import sys

open_calls = {}
for event in json.load(open(sys.argv[1])):
    calls = open_calls.setdefault((event["pid"], event.get("tid")), [])
    if event["ph"] == "B":
        calls.append(event)
    elif event["ph"] == "E":
        begin = calls.pop() if calls else sys.exit(f"an end without a beginning: {event}")
        if any(begin[key] != event[key] for key in ("name", "args")) or begin["ts"] > event["ts"]:
            sys.exit(f"{begin} ends as {event}")
left = [call for calls in open_calls.values() for call in calls]
if left:
    sys.exit(f"{len(left)} calls do not end, such as {left[0]}")
