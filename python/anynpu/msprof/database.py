# SPDX-License-Identifier: Apache-2.0
"""msprof_*.db: the same data as SQLite. Times in ns, memory in bytes, texts by number."""
from __future__ import annotations

import contextlib
import socket
import sqlite3

import numpy as np

from anynpu.msprof import host, tables
from anynpu.msprof.work import ENGINES, NO_MODEL, number_of, stamp_kind, stream_of, task_type
from anynpu.whole_file import whole

SCHEMA = """
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MEMCPY_OPERATION (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
  globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,
  taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER,
  mixBlockNum INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER,
  inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER,
  outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER);
CREATE TABLE MEMCPY_INFO (globalTaskId INTEGER, size INTEGER, memcpyOperation INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
  connectionId INTEGER PRIMARY KEY, name INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER,
  category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER,
  connectionId INTEGER);
CREATE TABLE NPU_MEM (type INTEGER, ddr INTEGER, hbm INTEGER, timestampNs INTEGER,
  deviceId INTEGER);
CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, totalReserved INTEGER,
  deviceId INTEGER);
CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER,
  timestampNs INTEGER, globalTid INTEGER, totalAllocate INTEGER, totalReserve INTEGER,
  component INTEGER, deviceId INTEGER);
CREATE TABLE OSRT_API (name INTEGER, globalTid INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE CPU_USAGE (timestampNs INTEGER, cpuId TEXT, usage NUMERIC);
CREATE TABLE HOST_MEM_USAGE (timestampNs INTEGER, usage NUMERIC);
CREATE TABLE HOST_DISK_USAGE (timestampNs INTEGER, readRate NUMERIC, writeRate NUMERIC);
CREATE TABLE HOST_NETWORK_USAGE (timestampNs INTEGER, rxRate NUMERIC, txRate NUMERIC);
"""
API_TYPES = {20000: "acl", 15000: "model", 10000: "node", 5500: "communication", 5000: "runtime",
             50001: "op", 50002: "queue", 50003: "trace", 50004: "mstx"}
MEMCPY = {0: "host to host", 1: "host to device", 2: "device to host", 3: "device to device",
          4: "managed memory", 5: "addr device to device", 6: "host to device ex",
          7: "device to host ex", 65535: "other"}
COPY_NUMBER = {"h2d": 1, "d2h": 2, "d2d": 3}
MODULE_APP = 10001


class _Texts:
    def __init__(self):
        self.numbers = {}

    def __call__(self, text):
        return self.numbers.setdefault(text, len(self.numbers))


def _common(db, work, texts):
    recording = work.recording
    db.executemany("INSERT INTO META_DATA VALUES (?, ?)",
                   [("SCHEMA_VERSION", "1.0.2"), ("SCHEMA_VERSION_MAJOR", "1"),
                    ("SCHEMA_VERSION_MINOR", "0"), ("SCHEMA_VERSION_MICRO", "2")])
    db.execute("INSERT INTO SESSION_TIME_INFO VALUES (?, ?)",
               (recording.begin_ns, recording.end_ns))
    db.executemany("INSERT INTO NPU_INFO VALUES (?, ?)", [(d, "AnyNPU") for d in work.device_ids])
    db.executemany("INSERT INTO RANK_DEVICE_MAP VALUES (-1, ?)", [(d,) for d in work.device_ids])
    db.execute("INSERT INTO HOST_INFO VALUES (?, ?)",
               ("0", recording.info.get("hostname") or socket.gethostname()))
    for table, values in (("ENUM_API_TYPE", API_TYPES), ("ENUM_MEMCPY_OPERATION", MEMCPY),
                          ("ENUM_MODULE", {MODULE_APP: "APP"}),
                          ("ENUM_MSTX_EVENT_TYPE", {0: "marker", 1: "push/pop", 2: "start/end",
                                                    3: "marker_ex"})):
        db.executemany(f"INSERT INTO {table} VALUES (?, ?)", values.items())


def _tasks(db, work, texts):
    tasks, pid = work.tasks, work.recording.pid
    engines = np.minimum(tasks["d_second"], len(ENGINES) - 1).tolist()
    labels = [task_type(k, ENGINES[e]) for k, e in zip(work.kinds.tolist(), engines)]
    models = np.where(work.is_model, tasks["arg"], NO_MODEL).astype(np.int64).tolist()
    db.executemany("INSERT INTO TASK VALUES (?,?,?,?,?,?,?,4294967295,?,?,?)", zip(
        tasks["t"].tolist(), (tasks["t"] + tasks["duration"]).tolist(), tasks["d_first"].tolist(),
        tasks["correlation"].tolist(), range(len(tasks)), [pid] * len(tasks),
        [texts(x) for x in labels], stream_of(tasks).tolist(), number_of(tasks).tolist(), models))
    db.executemany("INSERT INTO MEMCPY_INFO VALUES (?,?,?)", (
        (i, size, COPY_NUMBER[ENGINES[e]]) for i, (e, size, label) in
        enumerate(zip(engines, tasks["arg"].tolist(), labels)) if label == "MEMCPY_ASYNC"))
    rows = tables.op_rows(work)
    first = len(tasks)
    count = len(rows["name"])
    kind = texts("AI_CORE")
    db.executemany("INSERT INTO TASK VALUES (?,?,?,?,?,?,?,4294967295,?,?,?)", zip(
        rows["start"], (s + d for s, d in zip(rows["start"], rows["duration"])), rows["device"],
        rows["correlation"], range(first, first + count), [pid] * count, [kind] * count,
        rows["stream"], rows["task"], rows["model"]))
    sides = {}
    for number in set(rows["text"]):
        text = work.text(number)
        sides[number] = tuple(texts(x) for x in (text.type, text.inputs[2], text.inputs[1],
                                                 text.inputs[0], text.outputs[2], text.outputs[1],
                                                 text.outputs[0]))
    na = texts("N/A")
    db.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (?,?,0,0,?,?,?,?,?,?,?,?,?,?,?)", (
        (texts(work.name(name)), i, kind, *sides[text], na, na, na)
        for i, (name, text) in enumerate(zip(rows["name"], rows["text"]), first)))


def _apis(db, work, texts):
    pid = work.recording.pid
    apis = work.apis
    ids = {n: texts(work.name(n)) for n in np.unique(apis["name"]).tolist()}
    db.executemany("INSERT OR IGNORE INTO CANN_API VALUES (?,?,20000,?,?,?)", zip(
        apis["t"].tolist(), (apis["t"] + apis["duration"]).tolist(),
        (pid << 32 | t for t in apis["thread"].tolist()), apis["correlation"].tolist(),
        (ids[n] for n in apis["name"].tolist())))


def _stamps(db, work, texts):
    pid, stamps = work.recording.pid, work.stamps
    ids = {n: texts(work.name(n)) for n in np.unique(stamps["name"]).tolist()}
    domains = {n: texts(work.name(n) or "default") for n in np.unique(stamps["d_first"]).tolist()}
    columns = zip(stamps["t"].tolist(), stamps["duration"].tolist(),
                  stamp_kind(stamps).tolist(), stamps["d_second"].tolist(),
                  stamps["name"].tolist(), stamps["thread"].tolist(), stamps["d_first"].tolist())
    db.executemany("INSERT INTO MSTX_EVENTS VALUES (?,?,?,?,0,?,?,?,?,?)", (
        (t, t + duration, kind, number, ids[name], pid << 32 | thread, pid << 32 | thread,
         domains[domain],
         number if kind == 3 else NO_MODEL)
        for t, duration, kind, number, name, thread, domain in columns))


def _memory(db, work, texts):
    samples = [s for s in work.recording.samples if s["kind"] == "npu_mem"]
    for kind in ("app", "device"):
        db.executemany("INSERT INTO NPU_MEM VALUES (?,?,0,?,?)",
                       [(texts(kind), s["bytes"], s["t"], s["device"]) for s in samples])
    db.executemany("INSERT INTO NPU_MODULE_MEM VALUES (?,?,?,?)",
                   [(MODULE_APP, s["t"], s["bytes"], s["device"]) for s in samples])
    memory = work.memory[work.memory["d_first"] >= 0]
    pid = work.recording.pid
    db.executemany("INSERT INTO NPU_OP_MEM VALUES (?,?,?,?,?,?,?,?,?,?)", (
        (texts(work.name(m["name"])), int(m["d_arg"]) & (2**63 - 1), texts(work.name(m["name"])),
         int(m["arg"]), int(m["t"] + m["duration"]), pid << 32 | int(m["thread"]),
         int(m["d_extra"]), int(m["d_extra"]), texts("APP"), int(m["d_first"])) for m in memory))


def _host(db, work, texts):
    recording = work.recording
    calls = work.os_calls
    db.executemany("INSERT INTO OSRT_API VALUES (?,?,?,?)", zip(
        (texts(work.name(n)) for n in calls["name"].tolist()),
        (recording.pid << 32 | t for t in calls["thread"].tolist()), calls["t"].tolist(),
        (calls["t"] + calls["duration"]).tolist()))
    db.executemany("INSERT INTO CPU_USAGE VALUES (?,?,?)",
                   [(t, "Avg" if c == "cpu" else c[3:], 100 - s["Idle"])
                    for t, c, s in host.cpu_shares(recording)])
    db.executemany("INSERT INTO HOST_MEM_USAGE VALUES (?,?)",
                   [(t, 100 * (1 - m.get("MemAvailable", 0) / max(m.get("MemTotal", 1), 1)))
                    for t, m in host.memory(recording)])
    db.executemany("INSERT INTO HOST_DISK_USAGE VALUES (?,?,?)",
                   [(t, *r) for t, r in host.disk_rates(recording)])
    db.executemany("INSERT INTO HOST_NETWORK_USAGE VALUES (?,?,?)",
                   [(t, *r) for t, r in host.network_rates(recording)])


def write_database(work, path):
    """Written whole or not at all."""
    with whole(path) as partial, contextlib.closing(
            sqlite3.connect(partial, isolation_level=None)) as db:
        try:
            _fill(db, work)
        except sqlite3.OperationalError as error:  # the disk is full, or the folder has gone
            raise OSError(f"'{path}' cannot be written: {error}") from error
    return path


def _fill(db, work):
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;" + SCHEMA)
    texts = _Texts()
    for part in (_common, _tasks, _apis, _stamps, _memory, _host):
        part(db, work, texts)
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)",
                   ((number, text) for text, number in texts.numbers.items()))
    db.execute("COMMIT")
