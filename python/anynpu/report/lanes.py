# SPDX-License-Identifier: Apache-2.0
"""What the timeline of the page shows: lanes (threads and streams) of slices, from a PROF_*
directory, a *_ascend_ms directory, or a trace in the trace event format."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

import numpy as np

from anynpu.msprof.recording import RecordingError, find_prof_directories, read_recording
from anynpu.msprof.work import ENGINES, Work, stream_of, task_type
from anynpu.profiler.analysis import _prof_child, read_spans
from anynpu.profiler.files import clock_offset, shifted

SLICE = np.dtype([("t", "<f8"), ("duration", "<f4"), ("name", "<u4"), ("link", "<u4")])


@dataclass
class Lane:
    group: str
    title: str
    slices: np.ndarray  # of SLICE, by start; link ties a call to its tasks, 0 for none


@dataclass
class Source:
    """A profile, ready for the page. `work` is None for a bare trace."""

    title: str
    names: list = field(default_factory=list)
    about: dict = field(default_factory=dict)  # index into names -> more about an operator
    lanes: list = field(default_factory=list)
    begin: int = 0
    end: int = 0
    work: Work = None
    stacks: list = field(default_factory=list)
    lost: int = 0
    devices: dict = field(default_factory=dict)  # id -> description and measured peaks


class _Names:
    def __init__(self):
        self.texts, self.numbers = [], {}

    def __call__(self, text):
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return number


def _lane(group, title, begin, t, duration, name, link):
    slices = np.zeros(len(t), SLICE)
    slices["t"], slices["duration"] = np.asarray(t, np.int64) - begin, duration
    slices["name"], slices["link"] = name, link
    order = np.lexsort((-slices["duration"], slices["t"]))
    return Lane(group, title, slices[order])


def _named(work, names, numbers):
    """Numbers of the page for numbers of the recording."""
    known = {n: names(work.name(n)) for n in np.unique(numbers).tolist()}
    return [known[n] for n in numbers.tolist()]


def _stamp_lanes(work, names, begin):
    """A row of the program's own ranges and marks for each thread."""
    for thread in np.unique(work.stamps["thread"]).tolist():
        mine = work.stamps[work.stamps["thread"] == thread]
        yield _lane("Stamps", f"Thread {thread}", begin, mine["t"], mine["duration"],
                    _named(work, names, mine["name"]), mine["correlation"])


def _host_lanes(work, names, begin):
    events = np.concatenate([work.apis, work.copies, work.memory, work.callbacks])
    for thread in np.unique(events["thread"]).tolist():
        mine = events[events["thread"] == thread]
        title = work.recording.threads.get(thread, "")
        yield _lane("Host", f"Thread {thread} {title}".strip(), begin, mine["t"], mine["duration"],
                    _named(work, names, mine["name"]), mine["correlation"])


def _device_lanes(work, names, begin):
    tasks, streams = work.tasks, stream_of(work.tasks)
    engines = np.minimum(tasks["d_second"], len(ENGINES) - 1).tolist()
    labels = np.array([names(task_type(k, ENGINES[e]))
                       for k, e in zip(work.kinds.tolist(), engines)], dtype=np.int64)
    op_names = np.array(_named(work, names, work.ops["name"]), dtype=np.int64)
    for device in work.device_ids:
        for stream in np.unique(streams[tasks["d_first"] == device]).tolist():
            mine = np.flatnonzero((tasks["d_first"] == device) & (streams == stream))
            its = np.flatnonzero(np.isin(work.op_owner, mine))
            ops = work.ops[its]
            yield _lane(f"Device {device}", f"Stream {stream}", begin,
                        np.concatenate([tasks["t"][mine], ops["t"]]),
                        np.concatenate([tasks["duration"][mine], ops["duration"]]),
                        np.concatenate([labels[mine], op_names[its]]),
                        np.concatenate([tasks["correlation"][mine], np.zeros(len(ops), "<u4")]))


def _stack_lanes(stacks, names, begin):
    for thread in sorted({s[0] for s in stacks}):
        mine = [s for s in stacks if s[0] == thread]
        yield _lane("Python", f"Thread {thread}", begin, [s[2] for s in mine],
                    [s[3] for s in mine], [names(s[4]) for s in mine], 0)


def _from_prof(path, stacks=()):
    recording = read_recording(path)
    work = Work(recording)
    source = Source(os.path.basename(path), work=work, lost=recording.lost,
                    devices=recording.devices_info)
    events = recording.events
    source.stacks = list(stacks)
    begins = [int(events["t"].min())] if len(events) else []
    begins += [s[2] for s in source.stacks]  # functions that were called before
    source.begin = min(begins, default=recording.begin_ns)
    source.end = max([recording.end_ns, source.begin + 1] + [s[2] + s[3] for s in source.stacks])
    names = _Names()
    source.lanes = [*_stamp_lanes(work, names, source.begin),
                    *_host_lanes(work, names, source.begin),
                    *_stack_lanes(source.stacks, names, source.begin),
                    *_device_lanes(work, names, source.begin)]
    source.names, source.about = names.texts, _operators(work, names)
    return source


def _operators(work, names):
    """Type, kernel and tensors of each operator; of several with one name, the first."""
    about = {}
    for name, text in dict.fromkeys(zip(work.ops["name"].tolist(), work.ops["arg"].tolist())):
        op = work.text(text)
        sides = [f"{side} {shapes} {types}" for side, (shapes, types, _) in
                 (("in", op.inputs), ("out", op.outputs)) if shapes]
        about.setdefault(names(work.name(name)), "   ".join(
            part for part in (op.type, op.kernel, *sides) if part and part != "N/A"))
    return about


def _ns(value):
    """Microseconds as text or number, exact to the nanosecond. Raises ValueError."""
    if isinstance(value, float) and "e" in repr(value):
        value = f"{value:.3f}"
    whole, _, rest = str(value).partition(".")
    ns = int(whole) * 1000 + int((rest + "000")[:3])
    if not 0 <= ns < 1 << 62:
        raise ValueError(f"{value} us is no time")
    return ns


def _place(event):
    """(process, thread) of an event; None where they are neither numbers nor texts."""
    key = event.get("pid", 0), event.get("tid", 0)
    return key if all(isinstance(part, (int, float, str)) for part in key) else None


def _from_trace(path):
    try:
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise RecordingError(f"'{path}' cannot be read as a trace: {error}; pass a PROF_* or "
                             "*_ascend_ms directory, or a trace in JSON") from error
    events = events.get("traceEvents", []) if isinstance(events, dict) else events
    titles, slices = {}, {}
    for event in events if isinstance(events, list) else []:
        key = _place(event) if isinstance(event, dict) else None
        if key is None:
            continue
        if event.get("ph") == "M" and event.get("name") in ("process_name", "thread_name"):
            args = event.get("args")
            name = str(args.get("name", "")) if isinstance(args, dict) else ""
            titles[key if event["name"] == "thread_name" else key[0]] = name
        elif event.get("ph") == "X":
            try:
                slices.setdefault(key, []).append((_ns(event["ts"]), _ns(event.get("dur", 0)),
                                                   str(event.get("name", ""))))
            except (KeyError, ValueError):
                continue
    if not slices:
        raise RecordingError(f"'{path}' has no slices (events of phase X); pass a trace that does")
    names = _Names()
    source = Source(os.path.basename(path))
    source.begin = min(s[0] for many in slices.values() for s in many)
    source.end = max(s[0] + s[1] for many in slices.values() for s in many)
    for key, many in sorted(slices.items(), key=lambda item: str(item[0])):
        source.lanes.append(_lane(titles.get(key[0], f"Process {key[0]}"),
                                  titles.get(key, f"Thread {key[1]}"), source.begin,
                                  [s[0] for s in many], [s[1] for s in many],
                                  [names(s[2]) for s in many], 0))
    source.names = names.texts
    return source


def open_source(path):
    """A profile of any of the forms. Raises RecordingError."""
    if os.path.isfile(path):
        return _from_trace(path)
    if not os.path.isdir(path):
        raise RecordingError(f"'{path}' does not exist; pass a PROF_* or *_ascend_ms directory, or "
                             "a trace in JSON")
    framework = os.path.join(path, "FRAMEWORK")
    if os.path.isdir(framework) and _prof_child(path):
        child = _prof_child(path)
        stacks = shifted(read_spans(os.path.join(framework, "mindspore.python_stack"))
                         + read_spans(os.path.join(framework, "mindspore.op_range")),
                         clock_offset(child))
        return _from_prof(child, stacks)
    found = find_prof_directories(path)
    if len(found) != 1:
        raise RecordingError(f"'{path}' has {len(found)} PROF_* directories; name one of them")
    return _from_prof(found[0])
