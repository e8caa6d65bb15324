# SPDX-License-Identifier: Apache-2.0
"""Writes docs/zoo.md and docs/zoo.svg from the figures of measure.py.

    python bench/zoo/report.py BUILD/zoo.json docs [--before OLDER.json] [--short FP16.json]...
                               [--note TEXT]

With --before, a column shows our time over that of an older file: the same networks measured with
an older build. Each --short file was measured with --precision; its column shows our time in that
precision over ours of the first file.
"""

import argparse
import json
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import harness  # noqa: E402
import run as bench  # noqa: E402

PEERS = ("onnxruntime", "openvino")
LEFT, ROW, SCALE, TOP = 210, 20, 230, 60
COLOURS = {"onnxruntime": "#4477aa", "openvino": "#cc7733"}


def ratio(row, peer):
    values = row["ratio"].get(peer)
    return values[0] if values else None


def against_best(row):
    """Our time over that of the faster peer."""
    values = [r for r in (ratio(row, peer) for peer in PEERS) if r]
    return max(values) if values else None


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def summary(rows, pick):
    values = [v for v in map(pick, rows) if v]
    ahead = sum(v <= 1 for v in values) / len(values) if values else 0
    return geometric_mean(values), ahead, len(values)


def picture(rows):
    """Each network as a dot on a logarithmic axis, a line of dots for each family and peer."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    height = TOP + ROW * 2 * len(families) + 30

    def x_of(value):
        return LEFT + SCALE * (math.log2(min(4, max(0.25, value))) + 2)

    parts = []
    for i, family in enumerate(families):
        y = TOP + 2 * ROW * i
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{family}</text>')
        for j, peer in enumerate(PEERS):
            values = [v for row in rows if row["family"] == family and (v := ratio(row, peer))]
            middle = y - 5 + 11 * j
            parts += [f'<circle cx="{x_of(v):.1f}" cy="{middle}" r="3.5" fill="{COLOURS[peer]}" '
                      'fill-opacity="0.65"/>' for v in values]
            if values:
                x = x_of(geometric_mean(values))
                parts.append(f'<path d="M{x:.1f} {middle - 6}v12" stroke="#000" '
                             'stroke-width="1.5"/>')
    for value, label in ((0.25, "0.25 x"), (0.5, "0.5"), (1, "1"), (2, "2"), (4, "4 x")):
        x = x_of(value)
        dash = "" if value == 1 else ' stroke-dasharray="2 4"'
        parts.append(f'<path d="M{x:.0f} {TOP - 16}V{height - 30}" stroke="#999"{dash}/>')
        parts.append(f'<text x="{x:.0f}" y="{height - 14}" text-anchor="middle">{label}</text>')
    legend = "".join(f'<circle cx="{LEFT + 170 * i}" cy="34" r="4" fill="{colour}"/>'
                     f'<text x="{LEFT + 170 * i + 10}" y="38">against {peer}</text>'
                     for i, (peer, colour) in enumerate(COLOURS.items()))
    width = LEFT + 4 * SCALE + 40
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
            "<style>text{font:12px sans-serif;fill:#222}</style>"
            '<rect width="100%" height="100%" fill="#fff"/>'
            f'<text x="{LEFT}" y="18">Our time over a peer\'s, one dot a network (left is faster); '
            f"line: geometric mean</text>{legend}{''.join(parts)}</svg>\n")


def cell(values):
    if not values:
        return ""
    if values[1] == values[2]:  # a single sample
        return f"{values[0]:.2f}"
    return f"{values[0]:.2f} ({values[1]:.2f}-{values[2]:.2f})"


def short_cell(row, shorts):
    """Cells of one network: our time in each short precision over ours here."""
    return "".join(f" {of[row['name']]['ms']['anynpu'] / row['ms']['anynpu']:.2f} x |"
                   if row["name"] in of else " |" for of in shorts.values())


def page(rows, before, note, shorts):
    machine = bench.machine()
    clock = {"run": "wall time", "cpu": "processor time"}[rows[0]["clock"]]
    threads = rows[0]["threads"]
    lines = ["# Networks of many families\n\n"
             "Written by `bench/zoo/report.py` from the figures of `bench/zoo/measure.py`; do not "
             f"edit.\nMeasured on {machine['date']}: {machine['cpu']}, {machine['cores']} cores, "
             f"{threads} {'thread' if threads == 1 else 'threads'}, {clock}. {note}\n\n"
             "The networks are made by the generators in `bench/zoo`, with the published shapes "
             "(some with fewer\nlayers) and drawn weights. Each number is our time over the "
             "peer's: the median of alternating rounds,\nwith its 95 % interval; without one it is a "
             "single sample. Below 1 we are faster.\n\n![Networks by family](zoo.svg)\n\n"]
    lines.append("| | onnxruntime | openvino | the faster of those measured | networks |\n"
                 "|---|---|---|---|---|\n")
    families = list(dict.fromkeys(row["family"] for row in rows))
    for family in ["all", *families]:
        part = [row for row in rows if family in ("all", row["family"])]
        cells = []
        for pick in (lambda r: ratio(r, PEERS[0]), lambda r: ratio(r, PEERS[1]), against_best):
            mean, ahead, count = summary(part, pick)
            cells.append(f"{mean:.2f} x, ahead in {ahead:.0%}" if count else "")
        name = "**all**" if family == "all" else family
        lines.append(f"| {name} | {' | '.join(cells)} | {len(part)} |\n")
    worst = sorted((r for r in rows if against_best(r)), key=against_best, reverse=True)[:10]
    lines.append("\nThe ten networks farthest behind the faster peer: "
                 + ", ".join(f"{r['name']} ({against_best(r):.2f} x)" for r in worst) + ".\n"
                 "`anynpu compare-speed model.onnx` shows for one model which operators they are."
                 "\n\n")
    older = " before |" if before else ""
    lines.append(f"| network | family | ms |{older}{''.join(f' {name} |' for name in shorts)} "
                 "onnxruntime | openvino | results differ by |\n"
                 f"|---|---|---|{'---|' * (bool(before) + len(shorts))}---|---|---|\n")
    for row in rows:
        old = ""
        if before:
            was = before.get(row["name"])
            old = f" {row['ms']['anynpu'] / was['ms']['anynpu']:.2f} x |" if was else " |"
        died = row.get("died", {})
        cells = [died[p][:40] if p in died else cell(row["ratio"].get(p)) for p in PEERS]
        lines.append(f"| {row['name']} | {row['family']} | "
                     f"{harness.number(row['ms']['anynpu'])} |{old}{short_cell(row, shorts)} "
                     f"{cells[0]} | {cells[1]} | "
                     f"{row.get('differs', 0):.0e} |\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures")
    parser.add_argument("docs")
    parser.add_argument("--before")
    parser.add_argument("--short", action="append", default=[])
    parser.add_argument("--note", default="")
    args = parser.parse_args()
    with open(args.figures) as file:
        rows = json.load(file)
    before = {}
    if args.before:
        with open(args.before) as file:
            before = {row["name"]: row for row in json.load(file)}
    shorts = {}
    for name in args.short:
        with open(name) as file:
            for row in json.load(file):
                shorts.setdefault(row["precision"], {})[row["name"]] = row
    with open(os.path.join(args.docs, "zoo.svg"), "w") as file:
        file.write(picture(rows))
    with open(os.path.join(args.docs, "zoo.md"), "w") as file:
        file.write(page(rows, before, args.note, shorts))


if __name__ == "__main__":
    main()
