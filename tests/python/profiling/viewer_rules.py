# SPDX-License-Identifier: Apache-2.0
"""What MindStudio Insight, Perfetto and chrome://tracing need of a timeline and of tables, as far
as it is known: no trace processor can be had without a network. Checks raise AssertionError."""
import csv
import json
import os

PHASES = {"M", "X", "I", "C", "s", "t", "f"}
METADATA = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index",
            "thread_name": "name", "thread_sort_index": "sort_index"}
SAFE_ID = 1 << 53  # beyond it, numbers of JavaScript are not exact
SLACK_NS = 1  # of three decimals of a microsecond
TABLES = {
    "kernel_details": {"Accelerator Core", "Duration(us)", "Name", "Start Time(us)", "Type",
                       "Wait Time(us)"},
    "op_summary": {"OP Type", "Op Name", "Task Duration(us)", "Task Start Time(us)", "Task Type",
                   "Task Wait Time(us)"},
    "operator_memory": {"Name", "Allocation Time(us)", "Size(KB)", "Duration(us)"},
    "memory_record": {"Component", "Timestamp(us)"},
    "static_op_mem": {"Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start",
                      "Node Index End", "Size(KB)"},
    "npu_module_mem": {"Component", "Timestamp(us)", "Device"},
}


def ns(value):
    """Microseconds, as text with three decimals or as a number, in whole nanoseconds."""
    if isinstance(value, str):
        whole, _, part = value.partition(".")
        assert len(part) == 3, value
        return int(whole) * 1000 + int(part)
    return round(value * 1000)


def events_of(text):
    """The events of a file's text. Control characters, which end Perfetto's import, stand in it as
    JSON writes them."""
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    value = json.loads(text)
    return value if isinstance(value, list) else value["traceEvents"]


def check_metadata(events):
    """Every process and thread that shows something has its name; threads are sorted all or not at
    all."""
    found = {name: set() for name in METADATA}
    for event in events:
        if event["ph"] == "M":
            assert METADATA[event["name"]] in event["args"], event
            found[event["name"]].add((event["pid"], event.get("tid", 0)))
    shown = [e for e in events if e["ph"] != "M"]
    assert {e["pid"] for e in shown} <= {pid for pid, _ in found["process_name"]}
    threads = {(e["pid"], e["tid"]) for e in shown if e["ph"] == "X"}
    assert threads <= found["thread_name"], threads - found["thread_name"]
    assert not found["thread_sort_index"] or threads <= found["thread_sort_index"]


def lanes_of(events):
    """(pid, tid) -> (begin, end) of its slices, by begin, the longer first."""
    lanes = {}
    for event in events:
        if event["ph"] == "X":
            begin = ns(event["ts"])
            lanes.setdefault((event["pid"], event["tid"]), []).append(
                (begin, begin + ns(event["dur"])))
    return {key: sorted(lane, key=lambda s: (s[0], -s[1])) for key, lane in lanes.items()}


def check_nesting(lanes):
    for lane in lanes.values():
        stack = []
        for begin, end in lane:
            assert end >= begin
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1] + SLACK_NS, (begin, end, stack[-1])
            stack.append(end)


def check_flows(events, lanes, most_id):
    """An arrow has one start and ends that are not earlier, one category and one name, an id that
    no other has, and slices under its ends."""
    arrows = {}
    for event in events:
        if event["ph"] in "sft":
            arrows.setdefault(str(event["id"]), []).append(event)
            assert event["ph"] != "f" or event["bp"] == "e", event
            at, lane = ns(event["ts"]), lanes.get((event["pid"], event["tid"]), ())
            assert any(begin - SLACK_NS <= at <= end + SLACK_NS for begin, end in lane), event
    for number, parts in arrows.items():
        starts = [e for e in parts if e["ph"] == "s"]
        ends = [e for e in parts if e["ph"] == "f"]
        assert len(starts) == 1 and ends, parts
        assert len({(e["cat"], e["name"]) for e in parts}) == 1, parts
        assert all(ns(e["ts"]) >= ns(starts[0]["ts"]) for e in ends), parts
        assert most_id is None or int(number) < most_id, number
    return len(arrows)


def check_timeline(events, first_us=1e15, most_id=None):
    """The events of a file; how many arrows it has. Times begin at first_us or later: a single
    event at 0 wrecks Insight's axis."""
    assert {e["ph"] for e in events} <= PHASES
    check_metadata(events)
    for event in events:
        if event["ph"] != "M":
            assert ns(event["ts"]) >= first_us * 1000, event
        if event["ph"] == "C":
            assert event["args"] and all(
                isinstance(float(v), float) for v in event["args"].values()), event
    lanes = lanes_of(events)
    check_nesting(lanes)
    return check_flows(events, lanes, most_id)


def check_tables(folder):
    """The tables that Insight knows have the columns it needs; which ones there are."""
    found = set()
    for file_name in os.listdir(folder):
        name = next((n for n in TABLES if file_name.startswith(n) and file_name.endswith(".csv")),
                    None)
        if name is None:
            continue
        with open(os.path.join(folder, file_name), newline="", encoding="utf-8") as file:
            header = set(next(csv.reader(file)))
        assert TABLES[name] <= header, (name, TABLES[name] - header)
        if name in ("kernel_details", "op_summary"):
            assert header & {"Block Dim", "Block Num"}, name
        found.add(name)
    assert ("operator_memory" in found) == ("memory_record" in found)
    return found
