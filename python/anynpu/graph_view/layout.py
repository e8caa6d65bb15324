# SPDX-License-Identifier: Apache-2.0
"""Where the boxes and lines of a graph go: by Graphviz' `dot`, which leads lines around boxes; by
rows and columns where it is not installed."""
import shutil
import subprocess
import tempfile

from .. import graph_picture
from ..terminal import Progress

POINTS = 72  # dot counts in inches
LARGE = 1200  # boxes: beyond, dot's search for the best order is cut short
MISSING = ("Graphviz is not installed, so lines may run behind boxes; `apt-get install graphviz` "
           "(or `conda install graphviz`) brings its `dot`")


class LayoutError(Exception):
    """dot failed; the text is what it said."""


def have_dot():
    return shutil.which("dot") is not None


def source_of(boxes, lines):
    """Text for dot: boxes [(width, height)], lines [(from, to)] by index."""
    limit = "nslimit=2, nslimit1=2, mclimit=0.5, " if len(boxes) > LARGE else ""
    out = [f"digraph g {{ graph [{limit}nodesep=0.22, ranksep=0.38]; edge [arrowhead=none];",
           "node [shape=box, fixedsize=true, label=\"\"];"]
    out += [f"{i} [width={w / POINTS:.3f}, height={h / POINTS:.3f}];"
            for i, (w, h) in enumerate(boxes)]
    out += [f"{a} -> {b} [id={i}];" for i, (a, b) in enumerate(lines)]
    return "\n".join([*out, "}", ""])


def read_plain(words, boxes, lines):
    """One graph of dot's plain output: (places, paths, width, height), y downwards."""
    places, paths = [(0, 0)] * len(boxes), {}
    width = height = 0.0
    for cells in words:
        if cells[0] == "graph":
            width, height = float(cells[2]) * POINTS, float(cells[3]) * POINTS
        elif cells[0] == "node":
            index = int(cells[1])
            w, h = boxes[index]
            places[index] = (float(cells[2]) * POINTS - w / 2,
                             height - float(cells[3]) * POINTS - h / 2)
        elif cells[0] == "edge":
            count = int(cells[3])
            numbers = [float(cell) * POINTS for cell in cells[4:4 + 2 * count]]
            points = [(numbers[i], height - numbers[i + 1]) for i in range(0, 2 * count, 2)]
            paths.setdefault((int(cells[1]), int(cells[2])), []).append(points)
    return places, [paths.get(line, [[]]).pop(0) if paths.get(line) else [] for line in lines], \
        width, height


def by_dot(graphs):
    """The layouts of several graphs in one run of dot."""
    found, current = [], []
    with tempfile.TemporaryFile("w+") as source, tempfile.TemporaryFile("w+") as errors, \
            Progress("graph", sum(len(boxes) for boxes, _ in graphs), "boxes") as progress:
        source.writelines(source_of(boxes, lines) for boxes, lines in graphs)
        source.seek(0)
        with subprocess.Popen(["dot", "-Tplain"], stdin=source, stdout=subprocess.PIPE,
                              stderr=errors, text=True) as dot:
            for line in map(str.rstrip, dot.stdout):
                if line == "stop":
                    progress.step(len(graphs[len(found)][0]))
                    found.append(current)
                    current = []
                elif line:
                    current.append(line.split(" "))
        if dot.returncode != 0:
            errors.seek(0)
            raise LayoutError(errors.read().strip() or "dot ended without a word")
    return [read_plain(words, *graph) for words, graph in zip(found, graphs)]


class _Named:
    def __init__(self, name):
        self.name = name


def by_rows(boxes, lines):
    """Each box below its sources, lines from middle to middle."""
    ops = [_Named(i) for i in range(len(boxes))]
    places, width, height = graph_picture.places_of(ops, [(a, b, None) for a, b in lines])
    paths = []
    for a, b in lines:
        x0, y0 = places[a][0] + boxes[a][0] / 2, places[a][1] + boxes[a][1]
        x1, y1 = places[b][0] + boxes[b][0] / 2, places[b][1]
        bend = max((y1 - y0) / 2, 10)
        paths.append([(x0, y0), (x0, y0 + bend), (x1, y1 - bend), (x1, y1)])
    return [places[i] for i in range(len(boxes))], paths, width, height


def layouts(graphs):
    """(places, paths, width, height) of each (boxes, lines); paths are Bezier curves."""
    if not have_dot():
        return [by_rows(boxes, lines) for boxes, lines in graphs]
    return by_dot(graphs)
