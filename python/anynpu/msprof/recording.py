# SPDX-License-Identifier: Apache-2.0
"""Reads the raw data of a PROF_* directory (docs/prof_format.md) into columns.

Everything is numpy, so that a million events take a second. Times are nanoseconds since 1970.
"""
from __future__ import annotations

import json
import os
import re
import struct
from dataclasses import dataclass, field

import numpy as np

from anynpu.msprof.crc32c import crc32c

PROF_NAME = re.compile(r"^PROF_\d{1,6}_\d+_[0-9A-Za-z]+$")
EVENTS_FILE = os.path.join("host", "data", "anynpu.events")
SAMPLES_FILE = os.path.join("host", "data", "samples.jsonl")

CATEGORIES = ("api", "task", "op", "copy", "memory", "media", "npc", "callback", "user", "counter")
SLICE, INSTANT, COUNTER, THREAD, DETAIL = range(5)
MOST_THREADS = 256  # that can record at once (trace::kMostRings)

_HEADER = struct.Struct("<8sIIQQ")
_CHUNK = struct.Struct("<IIII")
_EVENTS, _NAMES, _LOST, _END = 1, 2, 3, 4
_MOST = 1 << 62  # times, sizes and arguments beyond it are damage
_MOST_CHUNK = 64 << 20
_EVENT = np.dtype([("t", "<u8"), ("arg", "<u8"), ("correlation", "<u4"), ("name", "<u4"),
                   ("bits", "<u8")])
ROW = np.dtype([("t", "<i8"), ("duration", "<i8"), ("arg", "<u8"), ("correlation", "<u4"),
                ("name", "<u4"), ("category", "u1"), ("phase", "u1"), ("thread", "<u4"),
                ("detailed", "?"), ("d_arg", "<u8"), ("d_extra", "<i8"), ("d_first", "<i4"),
                ("d_second", "<u4")])


class RecordingError(Exception):
    """A PROF directory that cannot be read; the message says what is wrong and what to do."""


@dataclass
class Recording:
    path: str
    pid: int = 0
    begin_ns: int = 0
    end_ns: int = 0
    names: list = field(default_factory=lambda: [""])
    threads: dict = field(default_factory=dict)  # id -> name
    events: np.ndarray = None  # of ROW, sorted by time
    lost: int = 0
    problems: list = field(default_factory=list)  # sentences about what could not be read
    info: dict = field(default_factory=dict)  # of texts
    cpus: int = 1
    sample: dict = field(default_factory=dict)  # of texts
    samples: list = field(default_factory=list)  # dicts of samples.jsonl, t in ns since 1970
    devices_info: dict = field(default_factory=dict)  # id -> description and measured peaks

    @property
    def warnings(self):
        """Warnings that readers of the files should see."""
        if not self.lost:
            return self.problems
        return [*self.problems,
                f"{self.lost} events were lost while recording, because a thread recorded faster "
                f"than they could be written, or more than {MOST_THREADS} threads recorded at "
                "once; record fewer kinds of events (--ascendcl=off, --runtime-api=off, "
                "--msproftx=off), or on a machine with less to do"]

    @property
    def devices(self):
        """The devices that were asked for; empty for all."""
        text = self.sample.get("devices", "")
        return [int(d) for d in text.split(",") if d.strip().isdigit()]

    @property
    def app(self):
        return self.info.get("pid_name") or self.info.get("jobInfo") or "msproftx"

    def name(self, number):
        return self.names[number] if number < len(self.names) else "unknown name"

    def of(self, category, phase=SLICE):
        events = self.events
        return events[(events["category"] == CATEGORIES.index(category))
                      & (events["phase"] == phase)]


def _read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError):
        return {}


def _texts(value):
    return {k: v for k, v in value.items() if isinstance(v, str)}


def _cpu_count(info):
    cpus = info.get("CPU")
    first = cpus[0] if isinstance(cpus, list) and cpus else None
    count = first.get("Logical_CPU_Count") if isinstance(first, dict) else None
    return count if _is_number(count) and count > 0 else os.cpu_count() or 1


def _is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _chunks(data, problems, path):
    """(type, id, payload) of every whole chunk; stops at the first that is not."""
    at = _HEADER.size
    while at < len(data):
        if at + _CHUNK.size > len(data):
            problems.append(f"{path}: the last chunk at byte {at} was cut off; the process ended "
                            "while it wrote")
            return
        kind, number, size, checksum = _CHUNK.unpack_from(data, at)
        begin, end = at + _CHUNK.size, at + _CHUNK.size + size
        if size > _MOST_CHUNK or kind not in (_EVENTS, _NAMES, _LOST, _END):
            problems.append(f"{path}: what follows byte {at} is damaged (type {kind}, {size} bytes)"
                            " and was left out")
            return
        if end > len(data):
            problems.append(f"{path}: the chunk at byte {at} was cut off; the process ended while "
                            "it wrote")
            return
        payload = data[begin:end]
        if crc32c(payload) != checksum:
            problems.append(f"{path}: the chunk at byte {at} has a wrong checksum; it and what "
                            "follows were left out")
            return
        yield kind, number, payload
        at = end


def _take_names(payload, names):
    at = 0
    while at + 8 <= len(payload):
        number, size = struct.unpack_from("<II", payload, at)
        at += 8
        if at + size > len(payload) or number > 1 << 20:
            return
        if number >= len(names):
            names.extend([""] * (number + 1 - len(names)))
        names[number] = bytes(payload[at:at + size]).decode("utf-8", "replace")
        at += size


def _rows_of_thread(pieces, thread, offset):
    """Events of one thread, each with the detail that stood before it."""
    raw = np.concatenate(pieces)
    phase = (raw["bits"] >> np.uint64(56)).astype(np.uint8)
    category = ((raw["bits"] >> np.uint64(48)) & np.uint64(0xFF)).astype(np.uint8)
    extra = (raw["bits"] & np.uint64((1 << 48) - 1)).astype(np.int64)
    is_detail = phase == DETAIL
    keep = np.flatnonzero(~is_detail & (category < len(CATEGORIES)) & (phase <= COUNTER))
    rows = np.zeros(len(keep), ROW)
    rows["t"] = raw["t"][keep].astype(np.int64) + offset
    rows["duration"] = extra[keep]
    for column in ("arg", "correlation", "name"):
        rows[column] = raw[column][keep]
    rows["category"], rows["phase"], rows["thread"] = category[keep], phase[keep], thread
    before = keep - 1
    known = (keep > 0) & is_detail[before] & (raw["t"][before] == raw["t"][keep]) \
        & (category[before] == category[keep])
    source = before[known]
    rows["detailed"][known] = True
    rows["d_arg"][known] = raw["arg"][source]
    rows["d_extra"][known] = extra[source]
    rows["d_first"][known] = raw["correlation"][source].view(np.int32)
    rows["d_second"][known] = raw["name"][source]
    return rows


def _possible(recording, events, path):
    """Drops records that only a damaged file has: impossible times, impossible sizes."""
    counted = np.isin(events["category"], [CATEGORIES.index(c) for c in ("task", "copy", "memory")])
    good = (events["t"] >= 0) & (events["t"] < _MOST) & ~(counted & (events["arg"] >= _MOST))
    if not good.all():
        recording.problems.append(f"{path}: {int((~good).sum())} events have impossible times or "
                                  "sizes and were left out")
    return events[good]


def _read_events(recording, path):
    try:
        with open(path, "rb") as file:
            data = memoryview(file.read())
    except OSError as error:
        raise RecordingError(f"'{path}' cannot be read: {error.strerror}; expected a PROF_* "
                             "directory that AnyNPU recorded") from error
    if len(data) < _HEADER.size:
        raise RecordingError(f"'{path}' has {len(data)} bytes and no header; record again")
    magic, version, recording.pid, steady, calendar = _HEADER.unpack_from(data)
    if magic != b"ANYPROF1" or version != 1:
        raise RecordingError(f"'{path}' starts with {bytes(magic)!r} version {version}, expected "
                             "b'ANYPROF1' version 1; it is damaged or of another program")
    if steady >= _MOST or calendar >= _MOST:
        raise RecordingError(f"'{path}' was begun at {calendar} ns, which is no time; it is "
                             "damaged: record again")
    offset = calendar - steady
    recording.begin_ns = recording.end_ns = calendar
    pieces = {}
    thread_names = {}
    for kind, number, payload in _chunks(data, recording.problems, path):
        if kind == _NAMES:
            _take_names(payload, recording.names)
        elif kind == _LOST and len(payload) == 8:
            recording.lost += struct.unpack("<Q", payload)[0]
        elif kind == _END and len(payload) == 32:
            end = struct.unpack("<QQQQ", payload)[0] + offset
            recording.end_ns = end if recording.begin_ns <= end < _MOST else recording.end_ns
        elif kind == _EVENTS and len(payload) >= 8 and (len(payload) - 8) % _EVENT.itemsize == 0:
            thread_names.setdefault(number, struct.unpack_from("<Q", payload)[0])
            pieces.setdefault(number, []).append(np.frombuffer(payload, _EVENT, offset=8))
    rows = [_rows_of_thread(p, thread, offset) for thread, p in pieces.items()]
    events = np.concatenate(rows) if rows else np.zeros(0, ROW)
    events = _possible(recording, events, path)
    recording.events = events[np.argsort(events["t"], kind="stable")]
    recording.threads = {t: recording.name(n) for t, n in thread_names.items()}
    if len(events):
        recording.end_ns = max(recording.end_ns, int((events["t"] + events["duration"]).max()))
    return offset


def _read_samples(path, offset, problems):
    samples = []
    if not os.path.exists(path):
        return samples
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                sample = json.loads(line)
            except ValueError:
                sample = None
            if _is_sample(sample, offset):
                samples.append({**sample, "t": sample["t"] + offset})
            else:
                problems.append(f"{path}: line {number} is no sample and was left out")
    return samples


def _is_sample(sample, offset):
    if not isinstance(sample, dict) or not isinstance(sample.get("kind"), str):
        return False
    if not _is_number(sample.get("t")) or not _is_number(sample["t"] + offset):
        return False
    if sample["kind"] == "npu_mem":
        return _is_number(sample.get("device")) and _is_number(sample.get("bytes"))
    texts = ("stat", "statm") if sample["kind"] == "process" else ("text",)
    return all(isinstance(sample.get(key), str) for key in texts)


def read_recording(path):
    """The recording in a PROF_* directory. Raises RecordingError."""
    if not os.path.isdir(path):
        raise RecordingError(f"'{path}' is no directory; pass a PROF_* directory")
    recording = Recording(path)
    info = _read_json(os.path.join(path, "host", "info.json"))
    recording.info, recording.cpus = _texts(info), _cpu_count(info)
    recording.sample = _texts(_read_json(os.path.join(path, "host", "sample.json")))
    offset = _read_events(recording, os.path.join(path, EVENTS_FILE))
    recording.samples = _read_samples(os.path.join(path, SAMPLES_FILE), offset, recording.problems)
    recording.devices_info = _read_devices(path)
    return recording


def _read_devices(path):
    """What device_*/anynpu_device.json says: texts, and numbers that are not negative."""
    found = {}
    for name in sorted(os.listdir(path)):
        number = re.fullmatch(r"device_(\d{1,6})", name)
        told = _read_json(os.path.join(path, name, "anynpu_device.json")) if number else None
        if told:
            found[int(number[1])] = {
                k: v for k, v in told.items()
                if isinstance(v, str) or (type(v) in (int, float) and 0 <= v < _MOST)}
    return found


def find_prof_directories(path):
    """`path` itself when it is a PROF_* directory, else those in it, in order."""
    path = os.path.abspath(path)
    if os.path.exists(os.path.join(path, "host")):
        return [path]
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise RecordingError(f"'{path}' cannot be read: {error.strerror}; pass a PROF_* directory "
                             "or the folder that holds some") from error
    return [os.path.join(path, n) for n in names if PROF_NAME.match(n)]
