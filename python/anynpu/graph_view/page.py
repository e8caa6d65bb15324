# SPDX-License-Identifier: Apache-2.0
"""The page: one file with style, script and data. It has a picture for the whole graph and one for
each group of operators (by the scopes in their names, and the bodies of If and Loop), so that a
large graph opens folded."""
import os
from html import escape

from ..html_data import json_in_html
from . import layout

FOLDER = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT, LETTER = 150, 34, 7.3
LEAST_GROUP, MOST_GROUPS = 4, 400
FOLD_FROM = 120  # operators: a graph that is larger opens folded, if its names have scopes
SEPARATORS = ("/", ".")

TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="icon" href="data:,">
<style>{css}</style></head><body>
<header><h1>{title}</h1><span id="facts"></span><span id="path"></span>
<input id="find" size="28" placeholder="find by name or type, Enter: next">
<label>colour <select id="colour"></select></label>
<button id="fold">unfold</button><button id="fit">whole graph</button></header>
<main><div class="pane"><div class="caption" id="caption0"></div>
<canvas id="canvas0"></canvas></div>
<div class="pane" id="second" hidden><div class="caption" id="caption1"></div>
<canvas id="canvas1"></canvas></div>
<aside id="details"><p class="hint">Click an operator: its attributes, tensors, weights and kernel.
Wheel: zoom. Drag: move. Double click on a group: what is in it. Esc: back.</p></aside></main>
<details id="text"><summary>Text</summary><pre>{text}</pre></details>
<script id="data" type="application/json">{data}</script><script>{js}</script></body></html>
"""


def _read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def scope_of(name):
    """The groups that an operator is in, from the outside: a/b/Conv_3 is in a and in a/b."""
    for separator in SEPARATORS:
        parts = name.strip(separator).split(separator)
        if len(parts) > 1:
            return [separator.join(parts[:i]) for i in range(1, len(parts))]
    return []


class Level:
    """Operators of a group: those that stand alone, and the groups directly inside."""

    def __init__(self, name):
        self.name, self.members, self.groups = name, [], {}


def tree_of(ops):
    """Groups by scope. Groups of few operators, and groups with the same content, are left out."""
    sizes = {}
    for op in ops:
        for scope in scope_of(op.name):
            sizes[scope] = sizes.get(scope, 0) + 1
    chosen = {scope for scope, size in sizes.items() if LEAST_GROUP <= size < len(ops)}
    root = Level("")
    for op in ops:
        level, size = root, len(ops)
        for scope in scope_of(op.name):
            if scope in chosen and sizes[scope] < size:
                level = level.groups.setdefault(scope, Level(scope))
                size = sizes[scope]
        level.members.append(op)
    return root


def all_of(level):
    out = list(level.members)
    for inner in level.groups.values():
        out += all_of(inner)
    return out


def width_of(text):
    return max(WIDTH, min(46, len(text)) * LETTER + 16)


class Pictures:
    """The pictures of one model: boxes and lines of each, laid out together."""

    def __init__(self, ops, edges):
        self.ops, self.edges = ops, edges
        self.index = {op.name: i for i, op in enumerate(ops)}
        self.names, self.boxes, self.lines = [], [], []

    def add(self, name, level, unfolded=False):
        """A picture of a level; groups of it are one box each unless unfolded."""
        if len(self.names) > MOST_GROUPS:
            return
        owner, boxes = {}, []

        def box(entry, holds):
            for op in holds:
                owner[op.name] = len(boxes)
            boxes.append(entry)
        for op in all_of(level) if unfolded else level.members:
            box({"op": self.index[op.name]}, [op])
        if not unfolded:
            for inner in level.groups.values():
                box({"group": inner.name, "count": len(all_of(inner))}, all_of(inner))
        self._around(level, owner, boxes)
        lines = {}
        for begin, end, tensor in self.edges:
            if begin in owner and end in owner and owner[begin] != owner[end]:
                lines.setdefault((owner[begin], owner[end]), str(tensor))
        self.names.append(name)
        self.boxes.append(boxes)
        self.lines.append(lines)
        if not unfolded:
            for inner in level.groups.values():
                self.add(inner.name, inner)

    def _around(self, level, owner, boxes):
        """Operators outside of a group that it takes from or gives to, as small boxes."""
        if not level.name:
            return
        inside = set(owner)
        for begin, end, _ in self.edges:
            for near, far in ((begin, end), (end, begin)):
                if near in inside and far not in owner and far in self.index:
                    owner[far] = len(boxes)
                    boxes.append({"op": self.index[far], "outside": 1})

    def sized(self, entry):
        if "group" in entry:
            return width_of(entry["group"].split("/")[-1] + "  000 operators"), HEIGHT + 8
        op = self.ops[entry["op"]]
        return width_of(f"{op.type}  {op.name.split('/')[-1]}"), HEIGHT

    def data(self):
        graphs = [([self.sized(entry) for entry in boxes], list(lines))
                  for boxes, lines in zip(self.boxes, self.lines)]
        out = []
        for name, boxes, lines, graph, found in zip(
                self.names, self.boxes, self.lines, graphs, layout.layouts(graphs)):
            places, paths, width, height = found
            for entry, (x, y), (w, h) in zip(boxes, places, graph[0]):
                entry.update(x=round(x, 1), y=round(y, 1), w=round(w, 1), h=round(h, 1))
            out.append({"name": name, "width": width, "height": height, "boxes": boxes, "lines": [
                {"from": a, "to": b, "tensor": lines[a, b],
                 "path": [round(n, 1) for point in path for n in point]}
                for (a, b), path in zip(graph[1], paths)]})
        return out


def tensor_data(tensor, weights):
    known = weights.get(tensor.name)
    return {"name": tensor.name, "type": tensor.type, "shape": tensor.shape,
            **({"weights": known} if known else {})}


def op_data(op, facts):
    time = facts.times.get(op.name)
    kernel = facts.kernels.get(op.name, "")
    device = ""
    if kernel:
        device = "host" if "on the host" in kernel or "to the host" in kernel else facts.device
    first = next((t.type for t in [*op.outputs, *op.inputs] if t.type), "")
    return {"name": op.name, "type": op.type, "domain": op.domain, "attrs": op.attrs,
            "inputs": [tensor_data(t, facts.weights) for t in op.inputs],
            "outputs": [tensor_data(t, {}) for t in op.outputs], "precision": first,
            "kernel": kernel, "device": device, "time": time.data() if time else None}


class Facts:
    """What is known beyond the graph; empty where it was not asked for."""

    def __init__(self, weights=None, kernels=None, times=None, device="device"):
        self.weights, self.kernels = weights or {}, kernels or {}
        self.times, self.device = times or {}, device


def model_data(title, ops, edges, bodies, facts):
    """`bodies`: {name of an operator: (operators, edges)} of If and Loop."""
    pictures = Pictures(ops, edges)
    root = tree_of(ops)
    folds = bool(root.groups)
    if folds:
        pictures.add("*", root, unfolded=True)
    pictures.add("", root)
    views = pictures.data()
    all_ops = [op_data(op, facts) for op in ops]
    for name, (inner, lines) in bodies.items():
        part = Pictures(inner, lines)
        part.add(f"body of {name}", tree_of(inner), unfolded=True)
        first = len(all_ops)
        all_ops += [op_data(op, facts) for op in inner]
        for view in part.data():
            for box in view["boxes"]:
                box["op"] += first
            views.append(view)
    return {"title": title, "ops": all_ops, "views": views,
            "opens": "" if folds and len(ops) > FOLD_FROM else "*" if folds else ""}


def compare(before, after):
    """How each operator changed: new, gone, changed (its type, attributes or shapes), same."""
    def by_name(model):
        return {op["name"]: op for op in model["ops"]}
    old, new = by_name(before), by_name(after)

    def essence(op):
        return op["type"], op["attrs"], [(t["type"], t["shape"]) for t in op["outputs"]]
    for name, op in old.items():
        other = new.get(name)
        op["change"] = "gone" if other is None else \
            "same" if essence(op) == essence(other) else "changed"
    for name, op in new.items():
        other = old.get(name)
        op["change"] = "new" if other is None else \
            "same" if essence(op) == essence(other) else "changed"


def page_of(title, models, text):
    """One model, or two to compare: [before, after]."""
    if len(models) == 2:
        compare(*models)
    return TEMPLATE.format(title=escape(title), css=_read("page.css"), js=_read("page.js"),
                           text=escape(text), data=json_in_html({"models": models}))
