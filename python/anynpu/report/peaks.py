# SPDX-License-Identifier: Apache-2.0
"""What this machine reaches at most: floating-point operations and bytes a second, measured once
with numpy and kept in the cache folder."""
from __future__ import annotations

import contextlib
import json
import os
import platform
import time

import numpy as np

from anynpu import paths
from anynpu.whole_file import write_whole

SIZE = 1536  # of the matrices
COPIED = 64 << 20
SECONDS = 0.25  # of each measurement


def processor():
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def best(run, work):
    """The largest work per second of repeated runs."""
    run()
    found, end = 0.0, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        found = max(found, work / (time.perf_counter() - begin))
    return found


def measure():
    generator = np.random.default_rng(1)
    a = generator.random((SIZE, SIZE), np.float32)
    b, c = a.copy(), np.empty_like(a)
    source, target = np.ones(COPIED // 4, np.float32), np.empty(COPIED // 4, np.float32)
    return {"flops": best(lambda: np.matmul(a, b, out=c), 2 * SIZE ** 3),
            "bandwidth": best(lambda: np.copyto(target, source), 2 * COPIED)}


def peaks():
    """{"flops", "bandwidth", "machine"}, from the cache where it is of this processor."""
    machine = f"{processor()}, {len(os.sched_getaffinity(0))} cores"
    path = os.path.join(paths.cache_folder(), "peaks.json")
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        if known["machine"] == machine and known["flops"] > 0 and known["bandwidth"] > 0:
            return known
    known = {**measure(), "machine": machine}
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_whole(path, json.dumps(known))
    return known
