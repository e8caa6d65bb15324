# SPDX-License-Identifier: Apache-2.0
"""From the raw data of a PROF_* directory to the files that people and viewers read."""
from __future__ import annotations

import csv
import io
import os
import time

from anynpu.msprof import timeline
from anynpu.msprof.database import write_database
from anynpu.msprof.recording import RecordingError, read_recording
from anynpu.msprof.tables import TABLES
from anynpu.msprof.work import Work
from anynpu.terminal import Progress
from anynpu.whole_file import whole, write_whole

OUTPUT = "mindstudio_profiler_output"
SLICE_ROWS = 1_000_000
# What only a card or a cluster can fill.
ABSENT = """\
Files of msprof that are not here, because nothing on this machine can fill them:
  aicpu, aicpu_mi, dp              there is no AI CPU and no data preparation on a card
  l2_cache, soc_pmu, page_fault    counters of the chip
  ai_core_utilization, ai_vector_core_utilization, ai_core_freq   counters of the chip
  ddr, llc_read_write, hccs, nic, roce, ub, qos                   links and memory of the chip
  communication_statistic, communication*.json                    one process has no peers
Written only where it was asked for from outside: os_runtime_statistic (msprof --host-sys=osrt
starts the program with a library before it; locks that are free are not in it),
hbm (--sys-hardware-mem=on) and pcie (aclprofSetConfig), which count the program's own copies.
Columns that stand for the chip (cycles, ratios, bandwidths, Block Num) hold N/A or 0. Task Type
AI_CORE means an operator that AnyNPU ran on the CPU in the place of an AI Core.
"""


# What takes time, in microseconds for each event of a kind: the time left is estimated by these,
# because the timeline takes as long as most tables together. Everything else counts as LEAST.
COSTS = {"reading": {"events": 1}, "stamps": {"stamps": 2}, "msprof": {"others": 4, "stamps": 0.5},
         "op_summary": {"ops": 8}, "task_time": {"tasks": 3}, "api_statistic": {"apis": 1},
         "msprof_tx": {"stamps": 3}, "database": {"events": 2}}
LEAST = 100


def costs(work, types):
    """Steps of each part of the export."""
    count = {"events": len(work.recording.events), "stamps": len(work.stamps),
             "ops": len(work.ops), "tasks": len(work.tasks), "apis": len(work.apis)}
    count["others"] = count["events"] - count["stamps"]
    parts = ["reading"]
    if "text" in types:
        parts += ["stamps", "msprof", "msprof_tx.json", "step_trace.json", *TABLES]
    if "db" in types:
        parts.append("database")
    return {part: LEAST + int(sum(each * count[kind] for kind, each in COSTS.get(part, {}).items()))
            for part in parts}


def write_json(path, lines):
    """Lines of JSON objects as one array; written whole or not at all."""
    with whole(path) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write("[")
        for at in range(0, len(lines), 10000):
            file.write((",\n" if at else "\n") + ",\n".join(lines[at:at + 10000]))
        file.write("\n]\n")
    return path


def csv_text(header, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def write_csv(folder, name, stamp, header, rows):
    """One file, or slices of a million rows; their paths."""
    paths = []
    for part in range(0, max(len(rows), 1), SLICE_ROWS):
        middle = f"_slice_{part // SLICE_ROWS}" if len(rows) > SLICE_ROWS else ""
        path = os.path.join(folder, f"{name}{middle}_{stamp}.csv")
        paths.append(write_whole(path, csv_text(header, rows[part:part + SLICE_ROWS])))
    return paths


def readme(work, written):
    recording = work.recording
    lines = ["Made by AnyNPU's msprof from " + os.path.basename(recording.path) + ".", "",
             f"Events: {len(recording.events)}; lost while recording: {recording.lost}.", ""]
    if recording.warnings:
        lines += ["What is missing:", *("  " + w for w in recording.warnings), ""]
    lines += ["Files:", *("  " + os.path.basename(p) for p in written), "", ABSENT]
    return "\n".join(lines)


def keep_step(recording, model, number):
    """Only what happened during one iteration of a model."""
    spans = [(start, start + duration) for _, m, n, start, duration, _ in Work(recording).iterations
             if model in (None, m) and number in (None, n)]
    if not spans:
        raise RecordingError(f"'{recording.path}' has no iteration {number or 'at all'} of model "
                             f"{'any' if model is None else model}; 'msprof --query=on' lists them")
    begin, end = min(s[0] for s in spans), max(s[1] for s in spans)
    events = recording.events
    recording.events = events[(events["t"] >= begin) & (events["t"] <= end)]


def export(path, types=("text", "db"), summary_format="csv", layers=None, step=(None, None),
           warn=lambda sentence: None):
    """Writes everything the recording in `path` has. Returns the paths.

    `step` = (model, iteration) keeps one iteration; `warn` is called for missing data.
    """
    with Progress(os.path.basename(path), 0, "steps") as progress:
        recording = read_recording(path)
        for warning in recording.warnings:
            warn(warning)
        if step != (None, None):
            keep_step(recording, *step)
        work = Work(recording)
        stamp = time.strftime("%Y%m%d%H%M%S")
        cost = costs(work, types)
        progress.total = sum(cost.values())

        def done(part):
            progress.step(cost[part])

        done("reading")
        written = []
        if "text" in types:
            written += export_timelines(work, path, stamp, layers, done)
            written += export_tables(work, path, stamp, summary_format, done)
        if "db" in types:
            written.append(write_database(work, os.path.join(path, f"msprof_{stamp}.db")))
            done("database")
    if "text" in types:
        target = os.path.join(path, OUTPUT, "README.txt")
        written.append(write_whole(target, readme(work, written)))
    _mark_parsed(path)
    return written


def export_timelines(work, path, stamp, layers, done):
    folder, written = os.path.join(path, OUTPUT), []
    os.makedirs(folder, exist_ok=True)
    os.makedirs(os.path.join(path, "mindstudio_profiler_log"), exist_ok=True)
    marks = timeline.make_tx(work)
    done("stamps")
    known = marks if layers is None else None
    for name, part, make in (
            ("msprof", "msprof", lambda: timeline.make_timeline(work, layers, known)),
            ("msprof_tx", "msprof_tx.json", lambda: marks + timeline.make_device_tx(work)),
            ("step_trace", "step_trace.json",
             lambda: timeline.make_steps(work) if work.iterations else [])):
        lines = make()
        if lines:
            written.append(write_json(os.path.join(folder, f"{name}_{stamp}.json"), lines))
        done(part)
    return written


def export_tables(work, path, stamp, summary_format, done):
    folder, written = os.path.join(path, OUTPUT), []
    for name, table in TABLES.items():
        header, rows = table(work)
        if rows and summary_format == "json":
            import json
            lines = [json.dumps(dict(zip(header, row))) for row in rows]
            written.append(write_json(os.path.join(folder, f"{name}_{stamp}.json"), lines))
        elif rows:
            written += write_csv(folder, name, stamp, header, rows)
        done(name)
    return written


def _mark_parsed(path):
    for name in os.listdir(path):
        if name == "host" or name.startswith("device_"):
            data = os.path.join(path, name, "data")
            if os.path.isdir(data):
                open(os.path.join(data, "all_file.complete"), "w").close()
