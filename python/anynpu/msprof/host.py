# SPDX-License-Identifier: Apache-2.0
"""What the samples of the host say: CPU, memory, disk and network, from the lines of /proc."""
from __future__ import annotations

import os


def _samples(recording, path, parse):
    """(t, what `parse` makes of the text) of each sample of a file; what it cannot read is told."""
    found = []
    for sample in recording.samples:
        if sample["kind"] != path:
            continue
        try:
            found.append((sample["t"], parse(sample["text"])))
        except (ValueError, IndexError):
            sentence = f"a sample of {path} makes no sense and was left out"
            if sentence not in recording.problems:
                recording.problems.append(sentence)
    return found


def _cpu_times(text):
    """name -> the first eight counters, of every line that starts with cpu."""
    rows = (line.split() for line in text.splitlines() if line.startswith("cpu"))
    return {row[0]: [int(row[i]) for i in range(1, 9)] for row in rows}


def cpu_shares(recording):
    """(t, cpu, {user, sys, iowait, irq, soft, idle} in percent) between samples."""
    found = []
    samples = _samples(recording, "/proc/stat", _cpu_times)
    for (_, old), (t, after) in zip(samples, samples[1:]):
        for cpu, now in after.items():
            if cpu not in old:
                continue
            # The kernel says that some of these may go back.
            user, nice, system, idle, wait, irq, soft, _ = (
                max(n - o, 0) for n, o in zip(now, old[cpu]))
            total = max(user + nice + system + idle + wait + irq + soft, 1)
            shares = {"User": user + nice, "Sys": system, "IoWait": wait, "Irq": irq, "Soft": soft,
                      "Idle": idle}
            found.append((t, cpu, {k: 100 * v / total for k, v in shares.items()}))
    return found


def _sizes(text):
    rows = (line.replace(":", " ").split() for line in text.splitlines())
    return {r[0]: int(r[1]) for r in rows if len(r) > 1 and r[1].isdigit()}


def memory(recording):
    """(t, {key of /proc/meminfo: kB})."""
    return _samples(recording, "/proc/meminfo", _sizes)


def _rates(recording, path, totals):
    """(t, (KB/s, KB/s)) of two byte counters that `totals` finds in the text."""
    found = []
    samples = _samples(recording, path, totals)
    for (before, old), (t, new) in zip(samples, samples[1:]):
        seconds = max((t - before) / 1e9, 1e-9)
        found.append((t, tuple(max(n - o, 0) / 1024 / seconds for n, o in zip(new, old))))
    return found


def _disk_bytes(text):
    read = written = 0
    for row in (line.split() for line in text.splitlines()):
        # Whole disks only: partitions would count twice.
        if len(row) > 9 and not row[2][-1:].isdigit() or len(row) > 9 and row[2].startswith("nvme"):
            if row[2].startswith(("loop", "ram")) or "p" in row[2] and row[2].startswith("nvme"):
                continue
            read += int(row[5]) * 512
            written += int(row[9]) * 512
    return read, written


def _network_bytes(text):
    received = sent = 0
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        values = rest.split()
        if colon and len(values) > 8 and name.strip() != "lo":
            received += int(values[0])
            sent += int(values[8])
    return received, sent


def disk_rates(recording):
    return _rates(recording, "/proc/diskstats", _disk_bytes)


def network_rates(recording):
    return _rates(recording, "/proc/net/dev", _network_bytes)


def processes(recording):
    """(t, pid, name, CPU seconds so far, (size, resident, shared) in pages as text)."""
    tick = os.sysconf("SC_CLK_TCK")
    for sample in recording.samples:
        if sample["kind"] != "process":
            continue
        head, _, tail = sample["stat"].rpartition(")")
        fields, pages = tail.split(), sample["statm"].split()
        pid, _, name = head.partition(" (")
        if len(fields) > 12 and len(pages) > 2 and all(
                x.isdigit() for x in (pid, fields[11], fields[12], *pages[:3])):
            yield (sample["t"], int(pid), name, (int(fields[11]) + int(fields[12])) / tick,
                   tuple(pages[:3]))


def usage(recording):
    """Counters of the timeline: layer -> [(t, name, series, value)]."""
    cpus = [(t, "CPU Avg" if cpu == "cpu" else f"CPU {cpu[3:]}", "Usage(%)", 100 - s["Idle"])
            for t, cpu, s in cpu_shares(recording)]
    memories = [(t, "Memory Usage", "Usage(%)",
                 100 * (1 - m.get("MemAvailable", 0) / max(m.get("MemTotal", 1), 1)))
                for t, m in memory(recording)]
    disks = [(t, "Disk Usage", "Read/Write(KB/s)", sum(r)) for t, r in disk_rates(recording)]
    networks = [(t, "Network Usage", "Rx/Tx(KB/s)", sum(r)) for t, r in network_rates(recording)]
    return {"CPU Usage": cpus, "Memory Usage": memories, "Disk Usage": disks,
            "Network Usage": networks}
