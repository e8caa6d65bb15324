# SPDX-License-Identifier: Apache-2.0
"""What the AnyNPU processes of this user use of the devices: the pages that they keep in the
run-time folder (src/device/process_page.h). Pages of processes that are gone are removed."""
import contextlib
import os
import struct
import time

HEADER = struct.Struct("<8sIIQII64s")
DEVICE = struct.Struct("<iiQQ")  # physical id, running tasks, bytes, busy time
MAGIC = b"ANYNPU1\0"
MEASURED = 0.1  # seconds over which the load is measured


class ProcessUse:
    """One process on one device."""

    def __init__(self, process, name, device, used_bytes):
        self.process, self.name, self.device = process, name, device
        self.used_bytes, self.busy_percent = used_bytes, 0


def folder():
    base = os.environ.get("XDG_RUNTIME_DIR")
    return os.path.join(base, "anynpu") if base else f"/tmp/anynpu-{os.getuid()}"


def start_ticks(process):
    """When the process started, in ticks since the machine did; None when it is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


class Page:
    def __init__(self, data):
        magic, self.process, count, self.start, _, _, name = HEADER.unpack_from(data)
        if magic != MAGIC or len(data) < HEADER.size + count * DEVICE.size:
            raise ValueError("no page of a process")
        self.name = name.split(b"\0")[0].decode("utf-8", "replace")
        self.devices = [DEVICE.unpack_from(data, HEADER.size + i * DEVICE.size)
                        for i in range(count)]
        self.read_at = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def busy(self, index):
        """Nanoseconds of work so far, running tasks included."""
        _, running, _, busy = self.devices[index]
        return (busy + running * self.read_at) % (1 << 64)


def read_pages():
    """{process: page} of the living processes but this one."""
    pages, place = {}, folder()
    try:
        if os.lstat(place).st_uid != os.getuid():
            return pages
        names = os.listdir(place)
    except OSError:
        return pages
    for name in names:
        path = os.path.join(place, name)
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        try:
            with open(path, "rb") as file:
                page = Page(file.read(4096))
        except (OSError, ValueError, struct.error):
            page = None
        if page and start_ticks(page.process) == page.start:
            pages[page.process] = page
        elif page or start_ticks(name) is None:
            with contextlib.suppress(OSError):
                os.unlink(path)
    return pages


def uses(measured=MEASURED):
    """A ProcessUse for each process and device, with the load of the next tenth of a second."""
    first = read_pages()
    if not first:
        return []
    time.sleep(measured)
    second, found = read_pages(), []
    for process, page in sorted(second.items()):
        for index, (device, _, used, _) in enumerate(page.devices):
            if device < 0:
                continue
            use = ProcessUse(process, page.name, device, used)
            before = first.get(process)
            if before and before.start == page.start:
                grown = (page.busy(index) - before.busy(index)) % (1 << 64)
                share = 100 * grown / max(page.read_at - before.read_at, 1)
                use.busy_percent = min(round(share), 100) if grown < 1 << 63 else 0
            found.append(use)
    return found
