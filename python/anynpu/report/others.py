# SPDX-License-Identifier: Apache-2.0
"""The forms of other viewers: Perfetto and speedscope.

Perfetto reads numbers as doubles: times are relative to the start of the trace, so that they keep
their nanoseconds, and numbers of arrows are small. Slices of a lane nest.
"""
from __future__ import annotations

import json

from anynpu.whole_file import write_whole


def _write(path, value):
    write_whole(path, json.dumps(value, separators=(",", ":")))


def _nested(slices):
    """(start, end, name, link) in ns, cut so that no slice ends after its parent."""
    ends = []
    for t, duration, name, link in zip(slices["t"].tolist(), slices["duration"].tolist(),
                                       slices["name"].tolist(), slices["link"].tolist()):
        while ends and ends[-1] <= t:
            ends.pop()
        end = min(t + round(duration), ends[-1] if ends else float("inf"))
        ends.append(end)
        yield t, end, name, link


def write_perfetto(path, source):
    events, calls, arrows = [], {}, 0
    groups = {}
    for tid, lane in enumerate(source.lanes, 1):
        pid = groups.setdefault(lane.group, len(groups) + 1)
        for name, args in (("process_name", {"name": lane.group}),
                           ("process_sort_index", {"sort_index": pid}),
                           ("thread_name", {"name": lane.title}),
                           ("thread_sort_index", {"sort_index": tid})):
            events.append({"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args})
        for t, end, name, link in _nested(lane.slices):
            events.append({"ph": "X", "name": source.names[name], "pid": pid, "tid": tid,
                           "ts": t / 1000, "dur": (end - t) / 1000})
            if link and lane.group == "Host":
                calls.setdefault(link, (pid, tid, t))
            elif link and link in calls:
                arrows += 1
                from_pid, from_tid, start = calls[link]
                common = {"cat": "HostToDevice", "name": "HostToDevice", "id": arrows}
                events.append({**common, "ph": "s", "pid": from_pid, "tid": from_tid,
                               "ts": start / 1000})
                events.append({**common, "ph": "f", "bp": "e", "pid": pid, "tid": tid,
                               "ts": t / 1000})
    _write(path, {"traceEvents": events, "displayTimeUnit": "ns",
                  "otherData": {"begin_ns_since_1970": str(source.begin)}})


def write_speedscope(path, source):
    profiles = []
    for lane in source.lanes:
        events, open_slices = [], []
        for t, end, name, _ in _nested(lane.slices):
            while open_slices and open_slices[-1][0] <= t:
                at, frame = open_slices.pop()
                events.append({"type": "C", "frame": frame, "at": at})
            events.append({"type": "O", "frame": name, "at": t})
            open_slices.append((end, name))
        while open_slices:
            at, frame = open_slices.pop()
            events.append({"type": "C", "frame": frame, "at": at})
        if events:
            profiles.append({"type": "evented", "name": f"{lane.group}, {lane.title}",
                             "unit": "nanoseconds", "startValue": 0,
                             "endValue": max(e["at"] for e in events), "events": events})
    _write(path, {"$schema": "https://www.speedscope.app/file-format-schema.json",
                  "shared": {"frames": [{"name": n} for n in source.names]},
                  "profiles": profiles, "name": source.title, "exporter": "AnyNPU"})
