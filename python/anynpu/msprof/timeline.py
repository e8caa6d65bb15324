# SPDX-License-Identifier: Apache-2.0
"""msprof_*.json: the timeline as trace events, in the layers and with the spelling of msprof.

A bare array; `ts` is a text of microseconds since 1970 with three decimals, `dur` a number. Slices
of one thread nest; tasks of one stream follow each other.
"""
from __future__ import annotations

import json

import numpy as np

from anynpu.msprof.work import (
    ENGINES,
    OPERATIONS,
    STAMP_KINDS,
    number_of,
    stamp_kind,
    stream_of,
    task_type,
)

HOST = 31
# layer -> (sort index, label); the sort index is also the layer's number in the process id
LAYERS = {"msproftx": (6, "CPU"), "CANN": (7, "CPU"), "CPU Usage": (9, "CPU"),
          "Memory Usage": (10, "CPU"), "Network Usage": (11, "CPU"), "Disk Usage": (12, "CPU"),
          "OS Runtime API": (13, "CPU"),
          "Ascend Hardware": (14, "NPU"), "NPU MEM": (17, "NPU"), "PCIe": (23, "NPU"),
          "HBM": (24, "NPU"), "Overlap Analysis": (31, "NPU")}
# --reports: names of the layers in its "json_process"
REPORT_NAMES = {"ascend": "Ascend Hardware", "cann": "CANN", "msproftx": "msproftx",
                "overlap_analyse": "Overlap Analysis", "npu_mem": "NPU MEM",
                "cpu_usage": "CPU Usage", "memory_usage": "Memory Usage",
                "network_usage": "Network Usage", "disk_usage": "Disk Usage",
                "os_runtime_api": "OS Runtime API"}


_DECIMALS = [f".{n:03d}" for n in range(1000)]


def us(ns):
    """Microseconds as text: of whole nanoseconds exactly, since a time since 1970 has more digits
    than a float."""
    if isinstance(ns, float):
        return f"{ns / 1000:.3f}"
    whole, rest = divmod(ns, 1000)
    return f"{whole}{_DECIMALS[rest]}" if whole >= 0 else f"-{us(-ns)}"


def ts(ns):
    return f'"{us(ns)}"'


class Timeline:
    """Lines of JSON, layer by layer."""

    def __init__(self, work, wanted=None):
        self.work = work
        self.wanted = wanted  # names of layers, or None for all
        self.lines = []
        self._names = {}
        self._heads = set()

    def wants(self, layer):
        return self.wanted is None or layer in self.wanted

    def quoted(self, number):
        text = self._names.get(number)
        if text is None:
            text = self._names[number] = json.dumps(self.work.name(number))
        return text

    def pid(self, layer, device=HOST):
        return self.work.recording.pid << 10 | LAYERS[layer][0] << 5 | device

    def head(self, layer, threads, device=HOST):
        """Metadata of a layer and its threads: (id, name, sort index)."""
        pid = self.pid(layer, device)
        sort, label = LAYERS[layer]
        name = self.work.recording.app if layer == "msproftx" else layer
        label = f"{label} {device}" if label == "NPU" else label
        for key, args in (("process_name", {"name": name}), ("process_labels", {"labels": label}),
                          ("process_sort_index", {"sort_index": sort})):
            self._meta(key, pid, 0, args)
        for tid, thread, order in threads:
            self._meta("thread_name", pid, tid, {"name": thread})
            self._meta("thread_sort_index", pid, tid, {"sort_index": order})
        return pid

    def _meta(self, name, pid, tid, args):
        self.lines.append(json.dumps({"name": name, "pid": pid, "tid": tid, "ph": "M",
                                      "args": args}))

    def cann(self):
        """API calls, and below them what the runtime did in them."""
        work = self.work
        events = np.concatenate([work.apis, work.copies, work.memory, work.callbacks,
                                 work.tasks[work.is_model]])
        if not len(events) or not self.wants("CANN"):
            return
        pid = self.head("CANN", [(int(t), f"Thread {t}", int(t))
                                 for t in np.unique(events["thread"])])
        levels = [("AscendCL", "acl", "ACL_OTHERS"), ("Model", "model", "ModelExecute")] \
            + [("Runtime", "runtime", "runtime")] * 8
        columns = zip(events["category"].tolist(), events["name"].tolist(), events["t"].tolist(),
                      events["duration"].tolist(), events["thread"].tolist(),
                      events["correlation"].tolist(), events["arg"].tolist())
        for category, name, t, duration, thread, correlation, arg in columns:
            level, short, mode = levels[category]
            title = '"ModelExecute"' if category == 1 else self.quoted(name)
            self.lines.append(
                f'{{"name":"{level}@{title[1:]},"pid":{pid},"tid":{thread},"ts":{ts(t)},'
                f'"dur":{us(duration)},"ph":"X","args":{{"Thread Id":{thread},"Mode":"{mode}",'
                f'"level":"{short}","id":{title},"item_id":"{arg}",'
                f'"connection_id":{correlation}}}}}')
        self._host_flows(pid)

    def _host_flows(self, pid):
        if not self.wants("Ascend Hardware"):
            return
        work = self.work
        tasks = work.tasks
        found = work.api_of(tasks)
        known = np.flatnonzero(found >= 0)
        apis = work.apis[found[known]]
        rows = zip(tasks["correlation"][known].tolist(), apis["thread"].tolist(),
                   apis["t"].tolist(), tasks["t"][known].tolist(),
                   stream_of(tasks[known]).tolist(), tasks["d_first"][known].tolist())
        seen = {}
        for correlation, thread, begin, start, stream, device in rows:
            # A call that starts several tasks has an arrow, and so a number, for each.
            part = seen[correlation] = seen.get(correlation, -1) + 1
            number = (correlation << 32) + part
            common = f'"name":"HostToDevice{number}","cat":"HostToDevice","id":"{number}"'
            hardware = self.pid("Ascend Hardware", device)
            self.lines.append(f'{{{common},"pid":{pid},"tid":{thread},"ph":"s","ts":{ts(begin)}}}')
            self.lines.append(f'{{{common},"pid":{hardware},"tid":{stream},"ph":"f",'
                              f'"ts":{ts(start)},"bp":"e"}}')

    def os_calls(self):
        calls = self.work.os_calls
        if not len(calls) or not self.wants("OS Runtime API"):
            return
        pid = self.head("OS Runtime API", [(int(t), f"Thread {t}", int(t))
                                           for t in np.unique(calls["thread"])])
        for name, t, duration, thread in zip(calls["name"].tolist(), calls["t"].tolist(),
                                             calls["duration"].tolist(),
                                             calls["thread"].tolist()):
            self.lines.append(
                f'{{"name":{self.quoted(name)},"pid":{pid},"tid":{thread},"ts":{ts(t)},'
                f'"dur":{us(duration)},"ph":"X","args":{{"Thread Id":{thread}}}}}')

    def hardware(self):
        """Tasks on their streams, and the operators inside model executions."""
        if not self.wants("Ascend Hardware"):
            return
        work = self.work
        for device in work.device_ids:
            mine = np.flatnonzero(work.tasks["d_first"] == device)
            tasks = work.tasks[mine]
            streams = stream_of(tasks)
            pid = self.head("Ascend Hardware", [(int(s), f"Stream {s}", int(s))
                                                for s in np.unique(streams)], device)
            self._tasks(pid, tasks, work.kinds[mine], streams)
            chosen = np.flatnonzero(work.tasks["d_first"][work.op_owner] == device)
            self._ops(pid, chosen)
            self._steps(pid, device, streams)

    def _tasks(self, pid, tasks, kinds, streams):
        columns = zip(kinds.tolist(), streams.tolist(), number_of(tasks).tolist(),
                      tasks["t"].tolist(), tasks["duration"].tolist(), tasks["arg"].tolist(),
                      np.minimum(tasks["d_second"], len(ENGINES) - 1).tolist(),
                      tasks["correlation"].tolist())
        for kind, stream, number, t, duration, arg, engine, correlation in columns:
            engine = ENGINES[engine]
            label = task_type(kind, engine)
            model = arg if label == "MODEL_EXECUTE" else 4294967295
            extra = ""
            if label == "MEMCPY_ASYNC":
                extra = (f',"size(B)":{arg},"bandwidth(GB/s)":{arg / max(duration, 1):.6f},'
                         f'"operation":"{OPERATIONS[engine]}"')
            label = json.dumps(label)
            self.lines.append(
                f'{{"name":{label},"pid":{pid},"tid":{stream},"ts":{ts(t)},'
                f'"dur":{us(duration)},"ph":"X","args":{{"Model Id":{model},'
                f'"Task Type":{label},"Physic Stream Id":{stream},"Task Id":{number},'
                f'"Batch Id":0,"Subtask Id":4294967295,"connection_id":{correlation}{extra}}}}}')

    def _ops(self, pid, chosen):
        work = self.work
        ops, owners = work.ops[chosen], work.op_owner[chosen]
        tasks = work.tasks[owners]
        columns = zip(ops["name"].tolist(), ops["t"].tolist(), ops["duration"].tolist(),
                      ops["correlation"].tolist(), stream_of(tasks).tolist(),
                      number_of(tasks).tolist(), work.op_models[chosen].tolist())
        for index, (name, t, duration, correlation, stream, number, model) in enumerate(columns):
            self.lines.append(
                f'{{"name":{self.quoted(name)},"pid":{pid},"tid":{stream},"ts":{ts(t)},'
                f'"dur":{us(duration)},"ph":"X","args":{{"Model Id":{model},'
                f'"Task Type":"AI_CORE","Physic Stream Id":{stream},"Task Id":{number},'
                f'"Batch Id":0,"Subtask Id":{index},"connection_id":{correlation}}}}}')

    def _steps(self, pid, device, streams):
        """One more thread per model and stream, above the streams' numbers."""
        first = int(streams.max()) + 1 if len(streams) else 1
        lanes = {}
        for owner, model, number, start, duration, stream in self.work.iterations:
            if owner != device:
                continue
            lane = lanes.get((model, stream))
            if lane is None:
                lane = lanes[model, stream] = first + len(lanes)
                title = "Steps" if model == 4294967295 else f"Step Trace(Model ID:{model})"
                self._meta("thread_name", pid, lane, {"name": title})
                self._meta("thread_sort_index", pid, lane, {"sort_index": lane})
            args = {"Iteration ID": number, "FP Start": "N/A", "BP End": "N/A",
                    "Iteration End": us(start + duration), "Iteration Time(us)": us(duration)}
            self.lines.append(
                f'{{"name":"Iteration {number}","pid":{pid},"tid":{lane},"ts":{ts(start)},'
                f'"dur":{us(duration)},"ph":"X","cat":"Iteration Time",'
                f'"args":{json.dumps(args)}}}')

    def tx(self):
        """Marks and ranges of the program."""
        stamps = self.work.stamps
        if not len(stamps) or not self.wants("msproftx"):
            return
        pid = self.head("msproftx", [(int(t), f"Thread {t}", int(t))
                                     for t in np.unique(stamps["thread"])])
        columns = zip(stamp_kind(stamps).tolist(), self.work.stamp_categories,
                      stamps["name"].tolist(), stamps["t"].tolist(), stamps["duration"].tolist(),
                      stamps["thread"].tolist(), stamps["d_first"].tolist())
        categories = {c: json.dumps(c) for c in set(self.work.stamp_categories)}
        domains = {}
        for kind, category, name, t, duration, thread, domain in columns:
            if domain not in domains:
                domains[domain] = json.dumps(self.work.name(domain) or "default")
            about = f'"event_type":"{STAMP_KINDS[kind]}","domain":{domains[domain]}' if kind == 3 \
                else (f'"Category":{categories[category]},"Payload_type":0,"Payload_value":0,'
                      f'"Message_type":0,"event_type":"{STAMP_KINDS[kind]}","domain":{domains[domain]}')
            self.lines.append(
                f'{{"name":{self.quoted(name)},"pid":{pid},"tid":{thread},"ts":{ts(t)},'
                f'"dur":{us(duration)},"ph":"X","args":{{{about}}}}}')
        self._tx_flows(pid, stamps)

    def device_tx(self):
        """Where marks passed through their streams."""
        work = self.work
        for device in work.device_ids:
            mine = np.flatnonzero((work.tasks["d_first"] == device) & (work.kinds == "mark_ex"))
            if not len(mine):
                continue
            tasks = work.tasks[mine]
            streams = stream_of(tasks)
            pid = self.head("Ascend Hardware", [(int(s), f"Stream {s}", int(s))
                                                for s in np.unique(streams)], device)
            self._tasks(pid, tasks, work.kinds[mine], streams)

    def _tx_flows(self, pid, stamps):
        if not self.wants("Ascend Hardware"):
            return
        work = self.work
        marks = {int(s["d_second"]): s for s in stamps[stamp_kind(stamps) == 3]}
        for task in work.tasks[work.kinds == "mark_ex"]:
            mark = marks.get(int(task["arg"]))
            if mark is None:
                continue
            number = int(task["arg"])
            common = f'"name":"MsTx_{number}","cat":"MsTx","id":"{number}"'
            hardware = self.pid("Ascend Hardware", int(task["d_first"]))
            stream = int(stream_of(task[None])[0])
            self.lines.append(f'{{{common},"pid":{pid},"tid":{int(mark["thread"])},"ph":"s",'
                              f'"ts":{ts(int(mark["t"]))}}}')
            self.lines.append(f'{{{common},"pid":{hardware},"tid":{stream},"ph":"f",'
                              f'"ts":{ts(int(task["t"]))},"bp":"e"}}')

    def overlap(self):
        """When each device computed, and when it had nothing to do."""
        if not self.wants("Overlap Analysis"):
            return
        for device in self.work.device_ids:
            busy = merged(self.work, device)
            if not len(busy):
                continue
            pid = self.head("Overlap Analysis", [(0, "Computing", 0), (3, "Free", 3)], device)
            free = zip(busy[:-1, 1].tolist(), busy[1:, 0].tolist())
            for tid, name, spans in ((0, "Computing", busy.tolist()), (3, "Free", free)):
                for begin, end in spans:
                    self.lines.append(
                        f'{{"name":"{name}","pid":{pid},"tid":{tid},"ts":{ts(begin)},'
                        f'"dur":{us(end - begin)},"ph":"X",'
                        f'"args":{{"device_id":{device},"analysis_type":"{name}"}}}}')

    def counters(self):
        if self.wants("NPU MEM"):
            for device in sorted({s["device"] for s in self.work.recording.samples
                                  if s["kind"] == "npu_mem"}):
                pid = self.head("NPU MEM", [(0, "APP/DDR", 0)], device)
                for sample in self.work.recording.samples:
                    if sample["kind"] == "npu_mem" and sample["device"] == device:
                        self._counter("APP/DDR", pid, sample["t"], "KB", sample["bytes"] / 1024)
        from anynpu.msprof.host import usage
        for layer, series in usage(self.work.recording).items():
            if not series or not self.wants(layer):
                continue
            pid = self.head(layer, [(0, layer, 0)])
            for t, name, key, value in series:
                self._counter(name, pid, t, key, value)

    def _counter(self, name, pid, t, key, value):
        self.lines.append(f'{{"name":{json.dumps(name)},"pid":{pid},"tid":0,"ts":{ts(t)},"ph":"C",'
                          f'"args":{{{json.dumps(key)}:{value:.3f}}}}}')


def merged(work, device, chosen=None):
    """Spans (begin, end) in which a device ran tasks that compute, joined where they touch."""
    tasks = work.tasks
    engines = tasks["d_second"]
    mine = tasks[(tasks["d_first"] == device)
                 & (np.isin(engines, (1, 5, 6, 7, 8, 9)) if chosen is None else chosen)]
    return join(mine["t"], mine["t"] + mine["duration"])


def join(begins, ends):
    if not len(begins):
        return np.zeros((0, 2), np.int64)
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    first = np.concatenate([[True], begins[1:] > ends[:-1]])
    last = np.concatenate([first[1:], [True]])
    return np.stack([begins[first], ends[last]], axis=1)


def make_timeline(work, wanted=None, marks=None):
    """Lines of all layers. `marks` are the lines of make_tx, where they are known already."""
    timeline = Timeline(work, wanted)
    if marks is None:
        timeline.tx()
    else:
        timeline.lines += marks
    timeline.cann()
    timeline.os_calls()
    timeline.hardware()
    timeline.overlap()
    timeline.counters()
    return timeline.lines


def make_tx(work):
    """Lines of marks and ranges alone."""
    timeline = Timeline(work)
    timeline.tx()
    return timeline.lines


def make_device_tx(work):
    """Lines of marks and ranges on devices, for the file that make_tx begins."""
    timeline = Timeline(work)
    timeline.device_tx()
    return timeline.lines


def make_steps(work):
    timeline = Timeline(work)
    for device in work.device_ids:
        pid = timeline.head("Ascend Hardware", [], device)
        timeline._steps(pid, device, np.zeros(0, np.int64))
    return timeline.lines
