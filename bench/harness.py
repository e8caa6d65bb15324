# SPDX-License-Identifier: Apache-2.0
"""The benchmark harness for Python rows; the same rules as harness.h.

Comparisons run as alternating pairs, a row shows the median and its 95 % interval by order
statistics. A row file in rows/ defines `rows(report)` and is run in a process of its own.
"""

import importlib.util
import json
import math
import sys
import time
from dataclasses import asdict, dataclass, field

PAIRS = 31  # at least 20 wherever a side takes less than a second


def has_amx():
    """Whether this processor has the tile units that targets of bfloat16 stand for."""
    with open("/proc/cpuinfo") as file:
        return "amx_bf16" in file.read()


@dataclass
class Estimate:
    median: float
    low: float
    high: float


def estimate(values):
    """Median of the values with its 95 % interval."""
    values = sorted(values)
    n = len(values)
    median = values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2
    spread = 1.96 * math.sqrt(n) / 2
    low = max(0, math.floor(n / 2 - spread))
    high = min(n - 1, math.ceil(n / 2 + spread))
    return Estimate(median, values[low], values[high])


def value_of(side, samples=PAIRS):
    side()
    return estimate([side() for _ in range(samples)])


def _pairs(a, b, pairs, join):
    a(), b()
    values = []
    for i in range(pairs):
        if i % 2:
            y = b()
            x = a()
        else:
            x = a()
            y = b()
        values.append(join(x, y))
    return estimate(values)


def ratio_of(a, b, pairs=PAIRS):
    return _pairs(a, b, pairs, lambda x, y: x / y if y else 0.0)


def difference_of(a, b, pairs=PAIRS):
    return _pairs(a, b, pairs, lambda x, y: x - y)


def ns_per_call(calls, body, *args):
    """Nanoseconds per call of body(*args), without the loop's own time."""
    rounds = range(calls)
    begin = time.perf_counter_ns()
    for _ in rounds:
        body(*args)
    middle = time.perf_counter_ns()
    for _ in rounds:
        pass
    end = time.perf_counter_ns()
    return ((middle - begin) - (end - middle)) / calls


def private_memory_kib():
    """Resident memory of this process that no file backs."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return float(line.split()[1])
    return 0.0


def verdict(row):
    if row["limit"] is None:
        return "reported"
    if row["high"] <= row["limit"]:
        return "met"
    return "MISSED" if row["low"] > row["limit"] else "near"


@dataclass
class Report:
    rows: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    build: str = "build"

    def add(self, what, limit, unit, measured, note="", **more):
        if not isinstance(measured, Estimate):
            measured = Estimate(measured, measured, measured)
        row = {"what": what, "limit": limit, "unit": unit, "measured": measured.median}
        row.update(low=measured.low, high=measured.high, note=note)
        row["verdict"] = verdict(row)
        self.rows.append(row | more)

    def skip(self, what, reason):
        self.skipped.append({"what": what, "reason": reason})


def number(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.3g}"


def target(row):
    return "" if row["limit"] is None else f"<= {number(row['limit'])} {row['unit']}"


def table(rows, skipped=()):
    """The table as text, as wide as its longest cells."""
    head = ("what", "target", "measured", "95 % interval", "verdict", "measured with it")
    lines = [head]
    for row in rows:
        unit = row["unit"]
        lines.append((
            row["what"],
            target(row),
            f"{number(row['measured'])} {unit}",
            f"{number(row['low'])} .. {number(row['high'])}",
            row["verdict"],
            row.get("note", ""),
        ))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = [" | ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip(" |") for line in lines]
    text.insert(1, "-+-".join("-" * w for w in widths))
    text += [f"{row['what']}: not measured, {row['reason']}" for row in skipped]
    return "\n".join(text)


def main():
    """harness.py ROWFILE --json OUT --build DIR: runs one row file; used by run.py."""
    path, out, build = sys.argv[1], sys.argv[3], sys.argv[5]
    spec = importlib.util.spec_from_file_location("row", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    report = Report(build=build)
    module.rows(report)
    with open(out, "w") as file:
        json.dump({k: v for k, v in asdict(report).items() if k != "build"}, file, indent=1)


if __name__ == "__main__":
    # Through the import, so that this file's classes exist once: row files import them too.
    import harness

    harness.main()
