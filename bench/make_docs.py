# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md from the figures of one `make bench`: never edit that page by hand.

    python bench/make_docs.py build/bench.json docs/performance.md
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import draw_models  # noqa: E402
import harness  # noqa: E402

HEAD = """# Performance

Written by `bench/make_docs.py` from the figures of one `make bench`; do not edit.
Measured on {date}: {cpu}, {cores} cores, Linux {kernel}, Python {python};
load {load:.1f}{priority}.

A row is the median of at least 20 samples (comparisons: alternating pairs) with its 95 % interval.
*met*: the whole interval is inside the target; *near*: the target lies inside the interval;
*MISSED*: the whole interval is outside.

| what | target | measured | 95 % interval | verdict | measured in the same run |
|---|---|---|---|---|---|
"""


PICTURES = (
    ("run", "models.svg", "Speed of models, two threads (longer is faster; line: the peer)"),
    ("cpu", "models_one_thread.svg", "The same on one thread, by processor time"),
)


def pictures(rows, folder):
    """Draws the speed of models beside the page; the lines that show the pictures."""
    lines = []
    for clock, name, title in PICTURES:
        picture = draw_models.chart(rows, clock, title)
        if picture is None:
            continue
        with open(os.path.join(folder, name), "w") as file:
            file.write(picture)
        lines.append(f"\n![{title}]({name})\n")
    return lines


def main():
    with open(sys.argv[1]) as file:
        result = json.load(file)
    machine = result["machine"]
    priority = ", the benchmarks at real-time priority" if machine["real_time"] else ""
    lines = [HEAD.format(priority=priority, **machine)]
    for row in result["rows"]:
        n = harness.number
        unit = row["unit"]
        lines.append(
            f"| {row['what']} | {harness.target(row)} | {n(row['measured'])} {unit} "
            f"| {n(row['low'])} .. {n(row['high'])} | {row['verdict']} | {row['note']} |\n"
        )
    if result["skipped"]:
        lines.append("\nNot measured:\n\n")
        lines += [f"- {row['what']}: {row['reason']}\n" for row in result["skipped"]]
    lines += pictures(result["rows"], os.path.dirname(sys.argv[2]))
    with open(sys.argv[2], "w") as file:
        file.write("".join(lines))


if __name__ == "__main__":
    main()
