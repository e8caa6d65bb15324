# SPDX-License-Identifier: Apache-2.0
"""What msprof says: lines with their kind, exports as they go, and the table of what was found."""
from __future__ import annotations

import json
import os
import sys
import time

from anynpu.msprof import options
from anynpu.msprof.export import export
from anynpu.msprof.recording import RecordingError, read_recording
from anynpu.msprof.timeline import REPORT_NAMES
from anynpu.msprof.work import Work
from anynpu.terminal import painted


def say(kind, text):
    colour = {"ERROR": "red", "WARNING": "yellow"}.get(kind)
    label = painted(f"[{kind}]", colour, sys.stdout) if colour else f"[{kind}]"
    print(f"{label} {text}", flush=True)


def layers_of(path):
    """The timeline layers that a --reports file keeps."""
    try:
        with open(path, encoding="utf-8") as file:
            wanted = json.load(file)["json_process"]
        off = {REPORT_NAMES[k] for k, v in wanted.items() if k in REPORT_NAMES and not v}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise options.UsageError(f"--reports={path}: {error}; expected a JSON file with "
                                 '{"json_process": {"cann": true, ...}}') from error
    return set(REPORT_NAMES.values()) - off


def export_all(paths, given):
    types = ("db",) if given.get("type") == "db" else ("text", "db")
    layers = layers_of(given["reports"]) if "reports" in given else None
    step = (int(given["model-id"]) if "model-id" in given else None,
            int(given["iteration-id"]) if "iteration-id" in given else None)
    failed = 0
    for path in paths:
        say("INFO", f"Start export data in {os.path.basename(path)}.")
        try:
            export(path, types, given.get("summary-format", "csv"), layers, step,
                   lambda sentence: say("WARNING", sentence))
        except (RecordingError, OSError) as error:
            say("ERROR", str(error))
            failed = 1
            continue
        say("INFO", f"Export all data in {os.path.basename(path)} done.")
    return failed


def query_rows(path):
    recording = read_recording(path)
    work = Work(recording)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(recording.begin_ns / 1e9))
    models = {}
    for device, model, number, _, duration, _ in work.iterations:
        models.setdefault((device, model), []).append((duration, number))
    name = os.path.basename(path)
    if not models:
        for device in work.device_ids or ["host"]:
            yield [recording.app, str(device), name, when, "N/A", "N/A", "N/A", "N/A"]
    for (device, model), found in sorted(models.items()):
        top = ",".join(str(n) for _, n in sorted(found, reverse=True)[:5])
        yield [recording.app, str(device), name, when, str(model), str(len(found)), top, "N/A"]


def query(paths):
    head = ["Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID", "Iteration Number",
            "Top Time Iteration", "Rank ID"]
    rows, failed = [head], 0
    for path in paths:
        try:
            rows += query_rows(path)
        except RecordingError as error:
            say("ERROR", str(error))
            failed = 1
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())
    return failed
