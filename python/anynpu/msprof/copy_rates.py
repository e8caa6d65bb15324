# SPDX-License-Identifier: Apache-2.0
"""Rates of the program's own copies into and out of device memory: there is no counter of a chip,
and the files say so."""
from __future__ import annotations

import numpy as np

from anynpu.msprof.work import ENGINES, OPERATIONS

WINDOW_NS = 1_000_000  # of a rate
DIRECT = {f"memcpy {words}": engine for engine, words in OPERATIONS.items()}


def of_device(work, device):
    """(start, engine, bytes) of the copies of a device: tasks, and those without a stream, which
    carry no device and are counted where only one is used."""
    tasks = work.tasks[work.tasks["d_first"] == device]
    found = [(int(t["t"]), ENGINES[min(t["d_second"], len(ENGINES) - 1)], int(t["arg"]))
             for t in tasks if ENGINES[min(t["d_second"], len(ENGINES) - 1)] in OPERATIONS]
    if len(work.device_ids) == 1:
        found += [(int(c["t"]), DIRECT[work.name(c["name"])], int(c["arg"])) for c in work.copies
                  if work.name(c["name"]) in DIRECT]
    return found


def windows(copies, engines):
    """(number of the millisecond, MB/s in it), of the copies of some engines."""
    sums = {}
    for start, engine, size in copies:
        if engine in engines:
            sums[start // WINDOW_NS] = sums.get(start // WINDOW_NS, 0) + size
    return [(window, size / 1e6 * (1e9 / WINDOW_NS)) for window, size in sums.items()]


def _rates(copies, engines):
    return np.array([rate for _, rate in windows(copies, engines)])


def hbm(work):
    """Bytes read from and written to device memory."""
    rows = []
    for device in work.device_ids:
        copies = of_device(work, device)
        read, write = _rates(copies, ("d2h", "d2d")), _rates(copies, ("h2d", "d2d"))
        for metric, reduce in (("Average", np.mean), ("Peak", np.max)):
            rows.append([str(device), f"{metric} (copies of AnyNPU)",
                         *(f"{reduce(x) if len(x) else 0:.3f}" for x in (read, write))])
    return ["Device_id", "Metric", "Read(MB/s)", "Write(MB/s)"], rows


def pcie(work):
    """Bytes that went to the device and came from it."""
    rows = []
    for device in work.device_ids:
        copies = of_device(work, device)
        for mode, engine in (("Tx (host to device copies)", "h2d"),
                             ("Rx (device to host copies)", "d2h")):
            rate = _rates(copies, (engine,))
            if len(rate):
                rows.append([str(device), mode, f"{rate.min():.3f}", f"{rate.max():.3f}",
                             f"{rate.mean():.3f}"])
    return ["Device_id", "Mode", "Min", "Max", "Avg"], rows
