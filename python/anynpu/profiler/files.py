# SPDX-License-Identifier: Apache-2.0
"""The files of ASCEND_PROFILER_OUTPUT: names, columns and units of mindspore.profiler."""
from __future__ import annotations

import bisect
import json
import os
import struct
from dataclasses import dataclass

import numpy as np

from anynpu.msprof import copy_rates, tables
from anynpu.msprof.export import csv_text
from anynpu.msprof.recording import EVENTS_FILE, RecordingError
from anynpu.msprof.timeline import Timeline, make_timeline, merged, ts, us
from anynpu.msprof.work import Work
from anynpu.whole_file import write_whole

LEVEL0_DROPS = {"Mix Block Num", "HF32 Eligible", "Input Shapes", "Input Data Types",
                "Input Formats", "Output Shapes", "Output Data Types", "Output Formats",
                "Context ID"}
RENAMED = {"Op Name": "Name", "OP Type": "Type", "Task Type": "Accelerator Core",
           "Task Start Time(us)": "Start Time(us)", "Task Duration(us)": "Duration(us)",
           "Task Wait Time(us)": "Wait Time(us)"}


def clock_offset(path):
    """Nanoseconds between the steady clock and the calendar's, from the raw data's header."""
    try:
        with open(os.path.join(path, EVENTS_FILE), "rb") as file:
            steady, calendar = struct.unpack_from("<QQ", file.read(32), 16)
    except (OSError, struct.error) as error:
        raise RecordingError(f"the raw data of '{path}' cannot be read: {error}; record "
                             "again") from error
    return calendar - steady


def shifted(rows, offset):
    return [(thread, depth, begin + offset, duration, name)
            for thread, depth, begin, duration, name in rows]


def keep_steps(recording, steps, wanted):
    """Leaves only the steps of the list, in the recording too."""
    kept = [s for s in steps if s[4].rpartition("#")[2] in {str(n) for n in wanted}]
    if not kept:
        raise ValueError(f"no step of {wanted} was recorded; there are "
                         f"{[s[4] for s in steps] or 'none'}")
    begin, end = min(s[2] for s in kept), max(s[2] + s[3] for s in kept)
    events = recording.events
    recording.events = events[(events["t"] >= begin) & (events["t"] <= end)]
    return kept


@dataclass
class Profile:
    work: Work
    info: dict
    steps: list  # (thread, depth, begin, duration, name)
    stacks: list
    pretty: bool = False

    @property
    def parameters(self):
        return self.info["profiler_parameters"]

    def has(self, activity):
        return activity in self.parameters.get("activities", [])

    def step_of(self, start):
        """The number of the step in which something started; "" outside of all. Steps follow each
        other."""
        at = bisect.bisect_right(self.steps, start, key=lambda step: step[2]) - 1
        if at < 0 or start >= self.steps[at][2] + self.steps[at][3]:
            return ""
        return self.steps[at][4].rpartition("#")[2]


def _slice(pid, thread, begin, duration, name):
    return (f'{{"ph":"X","name":{json.dumps(name)},"pid":{pid},"tid":{thread},"ts":{ts(begin)},'
            f'"dur":"{us(duration)}","args":{{}}}}')


def _process(pid, name, sort, threads):
    yield json.dumps({"ph": "M", "name": "process_name", "pid": pid, "tid": 0,
                      "args": {"name": name}})
    yield json.dumps({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0,
                      "args": {"labels": "CPU"}})
    yield json.dumps({"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0,
                      "args": {"sort_index": sort}})
    for thread in sorted(threads):
        yield json.dumps({"ph": "M", "name": "thread_name", "pid": pid, "tid": thread,
                          "args": {"name": f"Thread {thread}"}})
        yield json.dumps({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": thread,
                          "args": {"sort_index": thread}})


def _as_text(line):
    """A line of msprof's timeline in the spelling of trace_view: dur as text, flows with bp."""
    at = line.find('"dur":')
    if at >= 0:
        end = line.index(",", at)
        return f'{line[:at]}"dur":"{line[at + 6:end]}"{line[end:]}'
    if '"ph":"s"' in line:
        return line[:-1] + ',"bp":"e"}'
    return line


def trace_view(profile):
    lines = []
    if profile.steps:
        lines += _process(1, "MindSpore", 1, {s[0] for s in profile.steps})
        lines += [_slice(1, thread, begin, duration, name)
                  for thread, _, begin, duration, name in profile.steps]
    if profile.stacks:
        lines += _process(4, "Python", 3, {s[0] for s in profile.stacks})
        lines += [_slice(4, thread, begin, duration, name)
                  for thread, _, begin, duration, name in profile.stacks]
    lines += [_as_text(line) for line in make_timeline(profile.work)]
    return lines + copy_counters(profile)


def kernel_details(profile):
    header, rows = tables.op_summary(profile.work)
    drops = LEVEL0_DROPS if profile.parameters["profiler_level"] == "Level0" else set()
    keep = [i for i, h in enumerate(header) if h != "Device_id" and h not in drops]
    out = [[row[i] for i in keep] for row in rows]
    names = [RENAMED.get(header[i], header[i]) for i in keep]
    if profile.steps:
        starts = tables.op_rows(profile.work)["start"]
        names = ["Step ID", *names]
        out = [[profile.step_of(start), *row] for start, row in zip(starts, out)]
    return names, out


def step_trace_time(profile):
    work = profile.work
    device = work.device_ids[0] if work.device_ids else 0
    busy = merged(work, device)
    steps = profile.steps or [(0, 0, work.recording.begin_ns,
                               work.recording.end_ns - work.recording.begin_ns, "#0")]
    rows = []
    for _, _, begin, duration, name in steps:
        end = begin + duration
        mine = busy[(busy[:, 0] >= begin) & (busy[:, 0] < end)] if len(busy) else busy
        computing = int((mine[:, 1] - mine[:, 0]).sum()) if len(mine) else 0
        inside = np.clip(busy, begin, end) if len(busy) else busy
        free = duration - int((inside[:, 1] - inside[:, 0]).sum()) if len(busy) else duration
        preparing = int(mine[0, 0]) - begin if len(mine) and profile.has("CPU") else 0
        rows.append([name.rpartition("#")[2], us(computing), "0.000", "0.000", "0.000", us(free),
                     "0.000", "0.000", "0.000", us(preparing)])
    return ["Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication",
            "Free", "Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)",
            "Preparing"], rows


def memory_record(profile):
    _, rows = tables.memory_record(profile.work)
    out = [[r[1], r[2], f"{float(r[3]) / 1024:.3f}", f"{float(r[4]) / 1024:.3f}",
            f"{float(r[3]) / 1024:.3f}", r[5]] for r in rows]
    return ["Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)",
            "Total Active(MB)", "Device Type"], out


def operator_memory(profile):
    def mb(value):
        return "N/A" if value is None else f"{value / (1 << 20):.3f}"

    out = []
    for device, name, size, begin, end, used, left in tables.allocations(profile.work):
        lasted = us(end - begin) if begin is not None and end is not None else "N/A"
        begin, end = (us(x) + "\t" if x is not None else "N/A" for x in (begin, end))
        out.append([name, f"{size / 1024:.3f}", begin, end, end, lasted, lasted, mb(used), mb(used),
                    mb(used), mb(left), mb(left), mb(left), "N/A", f"NPU:{device}"])
    return ["Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)",
            "Active Release Time(us)", "Duration(us)", "Active Duration(us)",
            "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
            "Allocation Total Active(MB)", "Release Total Allocated(MB)",
            "Release Total Reserved(MB)", "Release Total Active(MB)", "Stream Ptr",
            "Device Type"], out


def copy_counters(profile):
    """The rates of hbm.csv and pcie.csv over time, where they were asked for."""
    timeline = Timeline(profile.work)
    for asked, layer, series in (
            ("hbm_ddr", "HBM", {"Read(MB/s)": ("d2h", "d2d"), "Write(MB/s)": ("h2d", "d2d")}),
            ("pcie", "PCIe", {"Tx(MB/s)": ("h2d",), "Rx(MB/s)": ("d2h",)})):
        if not profile.parameters.get(asked):
            continue
        for device in profile.work.device_ids:
            copies = copy_rates.of_device(profile.work, device)
            pid = timeline.head(layer, [(0, "copies of AnyNPU", 0)], device)
            for key, engines in series.items():
                rates = dict(copy_rates.windows(copies, engines))
                # Back to nothing where no copy follows.
                ends = {window + 1: 0.0 for window in rates if window + 1 not in rates}
                for window, rate in sorted({**rates, **ends}.items()):
                    timeline._counter(f"{key[:-6]} (copies of AnyNPU)", pid,
                                      window * copy_rates.WINDOW_NS, key, rate)
    return timeline.lines


def dataset(profile):
    """Stages of data preparation: ranges of the program, by message and domain."""
    rows = []
    if profile.parameters.get("data_process"):
        stamps = profile.work.stamps
        ranges = stamps[stamps["duration"] > 0]
        keys = ((profile.work.name(n), profile.work.name(d) or "default")
                for n, d in zip(ranges["name"].tolist(), ranges["d_first"].tolist()))
        found = tables.statistics(keys, ranges["duration"].tolist())
        rows = [[name, stage, str(count), us(mean), ""]
                for (name, stage), (count, _, _, mean, _, _) in found.items()]
    return ["Operation", "Stage", "Occurrences", "Avg. time (us)", "Custom Info"], rows


PIPELINE_RAW = ["op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size",
                "output_queue_length", "output_queue_usage_rate", "sample_interval", "parent_id",
                "children_id"]
PIPELINE_SUMMARY = ["op_ids", "op_names", "pipeline_ops", "num_workers", "queue_average_size",
                    "queue_utilization_pct", "queue_empty_freq_pct", "children_ids", "parent_id",
                    "avg_cpu_pct", "per_pipeline_time", "per_push_queue_time", "per_batch_time",
                    "avg_cpu_pct_per_worker", "cpu_analysis_details", "queue_analysis_details",
                    "bottleneck_warning", "bottleneck_suggestion"]


STAGES = "ais_bench"  # the domain of the ranges that are stages of a pipeline


def _stages(profile):
    """(name, threads, count, mean in ns) of the stages of ais_bench, in the order they came."""
    work = profile.work
    ranges = work.stamps[work.stamps["duration"] > 0]
    found = {}
    for name, domain, thread, duration in zip(ranges["name"].tolist(), ranges["d_first"].tolist(),
                                              ranges["thread"].tolist(),
                                              ranges["duration"].tolist()):
        if work.name(domain) == STAGES:
            found.setdefault(work.name(name), []).append((thread, duration))
    return [(name, len({t for t, _ in calls}), len(calls), sum(d for _, d in calls) / len(calls))
            for name, calls in found.items()]


def _children(index, count):
    """Data goes from the last number to the first."""
    return [index + 1] if index + 1 < count else []


def pipeline_raw(profile):
    stages = _stages(profile)[::-1]
    rows = []
    for index, (name, threads, _, _) in enumerate(stages):
        rows.append([str(index), name, str(threads), *["N/A"] * 5, str(index - 1) if index else "",
                     _children(index, len(stages)) or ""])
    return PIPELINE_RAW, rows


def pipeline_summary(profile):
    """By key, what each stage has; what no stage knows of itself (queues, CPU) is N/A."""
    stages = _stages(profile)[::-1]
    if not stages:
        return {}
    count = len(stages)
    names = [s[0] for s in stages]
    values = {key: ["N/A"] for key in PIPELINE_SUMMARY}
    values.update(
        op_ids=list(range(count)), op_names=names,
        pipeline_ops=[f"{name}(id={i})" for i, name in enumerate(names)],
        num_workers=[s[1] for s in stages], parent_id=list(range(-1, count - 1)),
        children_ids=[_children(i, count) for i in range(count)],
        per_pipeline_time=[round(s[3] / 1e6, 3) for s in stages])
    return values


def _csv_files(profile):
    """(file name, header, rows); MindSpore writes no file without rows."""
    parameters = profile.parameters
    rank, asked = profile.info["rank"], parameters.get
    if profile.has("NPU") and parameters["profiler_level"] != "LevelNone":
        yield "kernel_details.csv", *kernel_details(profile)
        yield "step_trace_time.csv", *step_trace_time(profile)
        yield "op_statistic.csv", *tables.op_statistic(profile.work)
        yield "api_statistic.csv", *tables.api_statistic(profile.work)
    if asked("profile_memory"):
        yield "memory_record.csv", *memory_record(profile)
        yield "operator_memory.csv", *operator_memory(profile)
        yield "npu_module_mem.csv", *tables.npu_module_mem(profile.work)
        yield "static_op_mem.csv", *tables.static_op_mem(profile.work)
    if asked("hbm_ddr") or asked("profile_memory"):
        yield "hbm.csv", *copy_rates.hbm(profile.work)
    if asked("pcie") or asked("sys_interconnection"):
        yield "pcie.csv", *copy_rates.pcie(profile.work)
    if profile.has("CPU"):
        yield "dataset.csv", *dataset(profile)
    if asked("record_shapes"):
        rows = tables.op_rows(profile.work)
        texts = [[profile.work.name(n), profile.work.text(t).inputs[0]]
                 for n, t in zip(rows["name"], rows["text"])]
        yield "operator_details.csv", ["Name", "Input Shapes"], texts
    if asked("data_process"):
        yield f"minddata_pipeline_raw_{rank}.csv", *pipeline_raw(profile)
        summary = [[key, *values] for key, values in pipeline_summary(profile).items()]
        if summary:  # a key in each row and no header
            yield f"minddata_pipeline_summary_{rank}.csv", summary[0], summary[1:]


def write_text_files(profile, folder):
    lines = trace_view(profile)
    if profile.pretty:
        text = json.dumps([json.loads(line) for line in lines], indent=4)
    else:
        text = "[" + ",\n".join(lines) + "]"
    write_whole(os.path.join(folder, "trace_view.json"), text)
    summary = pipeline_summary(profile) if profile.parameters.get("data_process") else {}
    if summary:
        write_whole(os.path.join(folder, f"minddata_pipeline_summary_{profile.info['rank']}.json"),
                    json.dumps(summary))
    for name, header, rows in _csv_files(profile):
        if rows:
            write_whole(os.path.join(folder, name), csv_text(header, rows))
