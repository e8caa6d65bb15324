# SPDX-License-Identifier: Apache-2.0
"""Draws a graph of operators from top to bottom: each is below the last of its inputs."""
from html import escape

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN = 190, 38, 26, 34, 20
COLOURS = {"Data": "#dcecf9", "NetOutput": "#dcecf9", "Conv": "#f9e4cf", "FusedConv": "#f9e4cf",
           "ConvTranspose": "#f9e4cf", "FusedBottleneck": "#f9e4cf", "MatMul": "#f6d9dd",
           "Gemm": "#f6d9dd", "FusedGemm": "#f6d9dd", "FusedMatMul": "#f6d9dd",
           "Attention": "#f6d9dd", "Cast": "#eeeeee"}
PLAIN = "#e3f0df"


def rows_of(ops, edges):
    """{name: row}: the longest way from an input."""
    row = {op.name: 0 for op in ops}
    followers = {}
    for begin, end, _ in edges:
        followers.setdefault(begin, []).append(end)
    for op in ops:  # operators stand in topological order
        for end in followers.get(op.name, []):
            row[end] = max(row[end], row[op.name] + 1)
    return row


def places_of(ops, edges):
    """{name: (x, y)} of the upper left corners, and the size of the picture."""
    row = rows_of(ops, edges)
    sources = {}
    for begin, end, _ in edges:
        sources.setdefault(end, []).append(begin)
    by_row = {}
    for op in ops:
        by_row.setdefault(row[op.name], []).append(op.name)
    column, places, widest = {}, {}, 1
    for number in sorted(by_row):
        names = by_row[number]

        def middle(name):
            above = [column[s] for s in sources.get(name, []) if s in column]
            return sum(above) / len(above) if above else 0.0
        names.sort(key=middle)
        # Each under the middle of its inputs, as far as its neighbour leaves room.
        at = None
        for name in names:
            wanted = middle(name)
            at = wanted if at is None else max(wanted, at + 1)
            column[name] = at
        widest = max(widest, at + 1)
    left = min(column.values(), default=0)
    for name, at in column.items():
        places[name] = (MARGIN + (at - left) * (BOX_WIDTH + GAP_X),
                        MARGIN + row[name] * (BOX_HEIGHT + GAP_Y))
    width = 2 * MARGIN + (widest - left) * (BOX_WIDTH + GAP_X)
    height = 2 * MARGIN + (max(by_row, default=0) + 1) * (BOX_HEIGHT + GAP_Y)
    return places, width, height


def short(text, length=26):
    return text if len(text) <= length else "..." + text[3 - length:]


def svg(ops, edges):
    places, width, height = places_of(ops, edges)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for begin, end, tensor in edges:
        (x0, y0), (x1, y1) = places[begin], places[end]
        x0, y0, x1 = x0 + BOX_WIDTH / 2, y0 + BOX_HEIGHT, x1 + BOX_WIDTH / 2
        bend = max((y1 - y0) / 2, 10)
        parts.append(
            f'<path d="M{x0:.0f} {y0:.0f} C{x0:.0f} {y0 + bend:.0f} {x1:.0f} {y1 - bend:.0f} '
            f'{x1:.0f} {y1:.0f}" fill="none" stroke="#888"><title>{escape(str(tensor))}</title>'
            "</path>")
    for op in ops:
        x, y = places[op.name]
        shape = op.outputs[0] if op.outputs else (op.inputs[0] if op.inputs else None)
        under = f"{shape.type} {shape.shape}" if shape else ""
        attrs = "".join(f"\n{key} = {value}" for key, value in op.attrs.items())
        colour = COLOURS.get(op.type, PLAIN)
        parts.append(
            f'<g><title>{escape(op.type)} "{escape(op.name)}"{escape(attrs)}</title>'
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" '
            f'fill="{colour}" stroke="#999"/>'
            f'<text x="{x + BOX_WIDTH / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle">'
            f"<tspan font-weight=\"bold\">{escape(op.type)}</tspan> "
            f"{escape(short(op.name, 30 - len(op.type)))}</text>"
            f'<text x="{x + BOX_WIDTH / 2:.0f}" y="{y + 31:.0f}" text-anchor="middle" '
            f'fill="#555" font-size="10">{escape(under)}</text></g>')
    return "\n".join(parts) + "\n</svg>\n"


def page(title, ops, edges, text):
    """One file with the picture and, below it, the text form."""
    counts = {}
    for op in ops:
        counts[op.type] = counts.get(op.type, 0) + 1
    summary = ", ".join(f"{count} {kind}" for kind, count in
                        sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return (f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title>'
            "<style>body{font-family:sans-serif;margin:1em}pre{font-size:11px}"
            ".picture{overflow:auto;border:1px solid #ccc;max-height:80vh}</style></head><body>\n"
            f"<h1>{escape(title)}</h1><p>{len(ops)} operators: {escape(summary)}</p>\n"
            f'<div class="picture">{svg(ops, edges)}</div>\n'
            f"<details><summary>Text</summary><pre>{escape(text)}</pre></details>\n"
            "</body></html>\n")
