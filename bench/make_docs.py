# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of figures from `make bench`: never edit them by hand.

    python bench/make_docs.py build/bench.json [more.json ...] docs

docs/performance.md holds the runtime's rows, docs/tensorflow_performance.md those of
rows/model_tensorflow.py, docs/model_performance.md those of the other rows/model_*.py,
docs/operator_performance.md those of rows/onnx_operators.py. A page that none of the files has rows
for stays as it is. Rows of a page that the files do not have are kept, with their date.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import draw_models  # noqa: E402
import harness  # noqa: E402

HEAD = """# {title}

Written by `bench/make_docs.py` from the figures of `make bench`; do not edit.
Measured on {date}: {cpu}, {cores} cores, Linux {kernel}, Python {python};
load {load:.1f}{priority}.

A row is the median of at least 20 samples with its 95 % confidence interval. Comparisons alternate
the two sides; measurements that take a second each, or count processor time, have fewer samples.
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


# What a page says beside its figures.
NOTES = {"performance": """
Not a figure: what `anynpu check` costs when it is off. It is a library that stands in front of the
acl libraries (LD_PRELOAD) with functions of the same names; theirs have no hook in them and are the
same files with and without it, which `tests/python/check/test_check_kinds.py` verifies.
"""}
TITLES = {"performance": "Performance", "model_performance": "Performance of models",
          "tensorflow_performance": "Performance of TensorFlow models",
          "operator_performance": "Performance of single operators"}


def table(rows):
    n = harness.number
    return [
        f"| {row['what']} | {harness.target(row)} | {n(row['measured'])} {row['unit']} "
        f"| {n(row['low'])} .. {n(row['high'])} | {row['verdict']} | {row['note']} |\n"
        for row in rows
    ]


EARLIER = """
## Measured earlier

| what | target | measured | 95 % interval | verdict | measured in the same run | date |
|---|---|---|---|---|---|---|
"""


def earlier(path, rows):
    """Rows of the page as it is that were not measured again, each with its date."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        text = file.read()
    date = re.search(r"Measured on ([\d-]+)", text)
    kept = []
    for line in text.splitlines():
        cells = line.split(" | ")
        name = cells[0].removeprefix("| ")
        if len(cells) < 6 or name == "what" or any(row["what"] == name for row in rows):
            continue
        dated = re.search(r"\| \d{4}-\d\d-\d\d \|$", line)
        kept.append(f"{line}\n" if dated else f"{line} {date[1]} |\n")
    return kept


def write_page(page, machine, rows, skipped, folder):
    priority = ", the benchmarks at real-time priority" if machine["real_time"] else ""
    path = os.path.join(folder, page + ".md")
    lines = [HEAD.format(title=TITLES[page], priority=priority, **machine), *table(rows)]
    kept = earlier(path, rows)
    lines += [EARLIER, *kept] if kept else []
    if skipped:
        lines.append("\nNot measured:\n\n")
        lines += [f"- {row['what']}: {row['reason']}\n" for row in skipped]
    lines += [NOTES.get(page, ""), *pictures(rows, folder)]
    with open(path, "w") as file:
        file.write("".join(lines))


def main():
    results = []
    for path in sys.argv[1:-1]:
        with open(path) as file:
            results.append(json.load(file))
    for page in TITLES:
        rows, skipped = ([row for result in results for row in result[key] if row["page"] == page]
                         for key in ("rows", "skipped"))
        if rows:
            write_page(page, results[-1]["machine"], rows, skipped, sys.argv[-1])


if __name__ == "__main__":
    main()
