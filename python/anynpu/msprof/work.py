# SPDX-License-Identifier: Apache-2.0
"""What the events of a recording mean: API calls, tasks of streams, operators of models, marks."""
from __future__ import annotations

from functools import cached_property

import numpy as np

from anynpu.msprof.recording import INSTANT, SLICE

ENGINES = ("control", "compute", "h2d", "d2h", "d2d", "vpc", "jpeg", "vdec", "venc", "npc")
MEDIA = {"vpc": "VPC", "jpeg": "JPEG", "vdec": "VDEC", "venc": "VENC"}
OPERATIONS = {"h2d": "host to device", "d2h": "device to host", "d2d": "device to device"}
MODEL_EXECUTION = "model execution"
STAMP_KINDS = ("marker", "push/pop", "start/end", "marker_ex", "step")
NO_MODEL = ANY_STREAM = 4294967295
# The data types of operators as the vendor's files spell them.
TYPES = {"float32": "FLOAT", "float16": "FLOAT16", "bfloat16": "BF16", "float64": "DOUBLE"}
TASK_TYPES = {
    "record_event": "EVENT_RECORD", "wait_event": "EVENT_WAIT", "reset_event": "EVENT_RESET",
    "record_notify": "NOTIFY_RECORD", "wait_notify": "NOTIFY_WAIT", "callback": "CALLBACK_LAUNCH",
    "value_write": "WRITE_VALUE", "value_wait": "MEM_WAIT_VALUE", "cmo_async": "CMO",
    "memset_async": "MEMSET_ASYNC", "mark_ex": "PROFILER_TRACE_EX", "reduce_async": "REDUCE_ASYNC",
    "hpe_kernel": "NPC_KERNEL", MODEL_EXECUTION: "MODEL_EXECUTE",
}


def task_type(kind, engine):
    if kind in TASK_TYPES:
        return TASK_TYPES[kind]
    if engine in OPERATIONS:
        return "MEMCPY_ASYNC"
    return MEDIA.get(engine) or ("AI_CORE" if engine in ("compute", "npc") else kind.upper())


def type_name(name):
    return TYPES.get(name, name.upper())


class OpText:
    """The description of an operator, taken apart once; see src/exec/describe_step.h."""

    def __init__(self, text):
        parts = (text.split("\t") + [""] * 8)[:8]
        self.type, self.kernel = parts[0] or "N/A", parts[1]
        self.inputs = self._side(*parts[2:5])
        self.outputs = self._side(*parts[5:8])

    @staticmethod
    def _side(shapes, types, formats):
        types = ";".join(type_name(t) for t in types.split(";")) if types else ""
        return shapes, types, formats.upper()


class Work:
    """Derived tables of a recording; each is made once, when it is asked for."""

    def __init__(self, recording):
        self.recording = recording
        self._texts = {}

    def name(self, number):
        try:
            return self.recording.names[number]
        except IndexError:
            return "unknown name"

    def text(self, number):
        number = int(number)
        if number not in self._texts:
            self._texts[number] = OpText(self.recording.name(number))
        return self._texts[number]

    @cached_property
    def apis(self):
        calls = self.recording.of("api")
        if self.recording.sample.get("ascendcl") == "off":
            return calls[:0]  # recorded only beside calls of the operating system
        return calls[~calls["detailed"]]

    @cached_property
    def os_calls(self):
        """Calls of the operating system; see src/prof/os_calls.h."""
        calls = self.recording.of("api")
        return calls[calls["detailed"]]

    @cached_property
    def copies(self):
        """Copies and fills that did not go through a stream."""
        return self.recording.of("copy")

    @cached_property
    def memory(self):
        events = self.recording.of("memory")
        return events[events["detailed"]]

    @cached_property
    def callbacks(self):
        return self.recording.of("callback")

    @cached_property
    def tasks(self):
        """Tasks of the devices that were asked for, by start; see stream_of and the like."""
        tasks = self.recording.of("task")
        tasks = tasks[tasks["detailed"]]
        if self.recording.devices:
            tasks = tasks[np.isin(tasks["d_first"], self.recording.devices)]
        return tasks

    @cached_property
    def kinds(self):
        """Name of the kind of each task."""
        return np.array([self.name(n) for n in self.tasks["name"]], dtype=object)

    @cached_property
    def is_model(self):
        executions = {n for n in np.unique(self.tasks["name"]) if self.name(n) == MODEL_EXECUTION}
        return np.isin(self.tasks["name"], list(executions))

    @cached_property
    def ops(self):
        """Operators, by start, with the task each ran in (an index into tasks)."""
        ops = self.recording.of("op")
        ops = ops[~ops["detailed"]]
        owner = np.full(len(ops), -1)
        for thread in np.unique(ops["thread"]):
            mine = np.flatnonzero(ops["thread"] == thread)
            its = np.flatnonzero(self.tasks["thread"] == thread)
            if not len(its):
                continue
            tasks = self.tasks[its]
            at = np.searchsorted(tasks["t"], ops["t"][mine], side="right") - 1
            inside = (at >= 0) & (ops["t"][mine] + ops["duration"][mine]
                                  <= tasks["t"][at] + tasks["duration"][at] + 1000)
            owner[mine[inside]] = its[at[inside]]
        return self._with_launches(ops[owner >= 0], owner[owner >= 0])

    def _with_launches(self, ops, owner):
        """Adds tasks that the program calls an operator (aclprofRangePushEx): those of calls
        between push and pop, made by the same thread in the stream it named."""
        ranges = self.recording.of("op")
        ranges = ranges[ranges["detailed"]]
        if not len(ranges):
            self._op_owner = owner.astype(np.int64)
            return ops
        call = self.api_of(self.tasks)
        free = np.flatnonzero((call >= 0) & ~np.isin(np.arange(len(self.tasks)), owner))
        told = {}
        for thread in np.unique(ranges["thread"]):
            mine = free[self.apis["thread"][call[free]] == thread]
            told.update(_innermost(ranges, np.flatnonzero(ranges["thread"] == thread),
                                   self.apis[call[mine]], mine, stream_of(self.tasks[mine])))
        at = np.array(sorted(told), dtype=np.int64)
        rows = self.tasks[at].copy()
        for column in ("name", "arg"):
            rows[column] = ranges[column][[told[i] for i in at.tolist()]]
        ops, owner = np.concatenate([ops, rows]), np.concatenate([owner, at])
        order = np.argsort(ops["t"], kind="stable")
        self._op_owner = owner[order].astype(np.int64)
        return ops[order]

    @cached_property
    def op_durations(self):
        """How long each operator ran; see time_by_sending for the other way."""
        return self.ops["duration"]

    def time_by_sending(self):
        """Counts for each operator the time from the call on the host to its arrival at the device.
        Operators of one execution are sent together: the first one has it, the others have 0."""
        tasks = self.tasks[self.op_owner]
        call = self.api_of(tasks)
        sent = np.where(call >= 0, tasks["t"] - self.apis["t"][np.maximum(call, 0)], 0) \
            if len(self.apis) else np.zeros(len(tasks), np.int64)
        first = np.zeros(len(sent), bool)
        first[np.unique(self.op_owner, return_index=True)[1]] = True
        self.op_durations = np.where(first, np.maximum(sent, 0), 0)

    @cached_property
    def op_owner(self):
        _ = self.ops
        return self._op_owner

    @cached_property
    def op_models(self):
        tasks = self.tasks[self.op_owner]
        return np.where(self.is_model[self.op_owner], tasks["arg"], NO_MODEL).astype(np.int64)

    @cached_property
    def device_ids(self):
        seen = sorted({int(d) for d in np.unique(self.tasks["d_first"]) if d >= 0})
        return self.recording.devices or seen

    @cached_property
    def stamps(self):
        """Marks and ranges of the program; steps are not among them."""
        user = np.concatenate([self.recording.of("user", SLICE),
                               self.recording.of("user", INSTANT)])
        user = user[user["detailed"] & (stamp_kind(user) < STAMP_KINDS.index("step"))]
        user = user[self._wanted_domains(user)]
        return user[np.argsort(user["t"], kind="stable")]

    @cached_property
    def stamp_categories(self):
        """The program's category of each stamp, as a text; "0" where it has none."""
        ids, which = np.unique(self.stamps["d_arg"] >> np.uint64(32), return_inverse=True)
        names = [self.name(int(i)) or "0" for i in ids]
        return [names[i] for i in which.tolist()]

    def _wanted_domains(self, user):
        """--mstx-domain-include and -exclude: comma lists of domains, "default" among them."""
        sample = self.recording.sample
        for key, keep in (("mstx_domain_include", True), ("mstx_domain_exclude", False)):
            if sample.get(key):
                listed = set(sample[key].split(","))
                names = {n for n in np.unique(user["d_first"])
                         if (self.name(n) or "default") in listed}
                return np.isin(user["d_first"], list(names)) == keep
        return np.ones(len(user), bool)

    @cached_property
    def iterations(self):
        """(device, model, number, start, duration, stream): the program's steps, and executions."""
        user = self.recording.of("user")
        steps = user[user["detailed"] & (stamp_kind(user) == STAMP_KINDS.index("step"))]
        found = []
        if len(steps):
            device = self.device_ids[0] if self.device_ids else 0
            found += [(device, NO_MODEL, i, int(s["t"]), int(s["duration"]), int(s["arg"]))
                      for i, s in enumerate(steps, 1)]
        numbers = {}
        tasks = self.tasks[self.is_model]
        for device, model, start, duration, stream in zip(
                tasks["d_first"].tolist(), tasks["arg"].tolist(), tasks["t"].tolist(),
                tasks["duration"].tolist(), stream_of(tasks).tolist()):
            number = numbers[device, model] = numbers.get((device, model), 0) + 1
            found.append((device, model, number, start, duration, stream))
        return found

    def api_of(self, events):
        """For each event the API call with its correlation: indices into apis, -1 for none."""
        apis = self.apis
        order = np.argsort(apis["correlation"], kind="stable")
        known = apis["correlation"][order]
        if not len(known):
            return np.full(len(events), -1)
        at = np.minimum(np.searchsorted(known, events["correlation"]), len(known) - 1)
        hit = (known[at] == events["correlation"]) & (events["correlation"] != 0)
        return np.where(hit, order[at], -1)


def _innermost(ranges, chosen, calls, tasks, streams):
    """For tasks of one thread, by the calls that sent them: the innermost of the chosen ranges
    around the call that is for the task's stream. Indices of tasks -> indices of ranges."""
    chosen = chosen[np.lexsort((-ranges["duration"][chosen], ranges["t"][chosen]))]
    begins = ranges["t"][chosen].tolist()
    ends = (ranges["t"] + ranges["duration"])[chosen].tolist()
    wanted = ranges["d_arg"][chosen].tolist()
    found, stack, following = {}, [], 0
    order = np.argsort(calls["t"], kind="stable")
    for begin, end, task, stream in zip(
            calls["t"][order].tolist(), (calls["t"] + calls["duration"])[order].tolist(),
            tasks[order].tolist(), streams[order].tolist()):
        while following < len(begins) and begins[following] <= begin:
            while stack and ends[stack[-1]] < begins[following]:
                stack.pop()
            stack.append(following)
            following += 1
        for one in reversed(stack):
            if ends[one] >= end and wanted[one] in (stream, ANY_STREAM):
                found[task] = int(chosen[one])
                break
    return found


def stamp_kind(stamps):
    """Indices into STAMP_KINDS."""
    return (stamps["d_arg"] & np.uint64(0xFFFFFFFF)).astype(np.int64)


def stream_of(tasks):
    return (tasks["d_arg"] & np.uint64(0xFFFFFFFF)).astype(np.int64)


def number_of(tasks):
    return (tasks["d_arg"] >> np.uint64(32)).astype(np.int64)
