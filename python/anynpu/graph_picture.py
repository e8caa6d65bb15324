# SPDX-License-Identifier: Apache-2.0
"""A graph of operators as SVG, and the places of boxes where Graphviz is not installed: each is
below the last of its inputs."""
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


ARROW = ('<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
         'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#888"/></marker></defs>')


def curve(points):
    """A path of Bezier curves: the start, then three points for each."""
    rest = [f"C{x0:.0f} {y0:.0f} {x1:.0f} {y1:.0f} {x2:.0f} {y2:.0f}"
            for (x0, y0), (x1, y1), (x2, y2) in zip(points[1::3], points[2::3], points[3::3])]
    return f"M{points[0][0]:.0f} {points[0][1]:.0f} " + " ".join(rest)


def svg(ops, edges):
    from .graph_view import layout
    index = {op.name: i for i, op in enumerate(ops)}
    places, paths, width, height = layout.layouts([(
        [(BOX_WIDTH, BOX_HEIGHT)] * len(ops),
        [(index[begin], index[end]) for begin, end, _ in edges])])[0]
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             f'viewBox="{-MARGIN} {-MARGIN} {width:.0f} {height:.0f}" '
             'font-family="sans-serif" font-size="12">', ARROW,
             f'<rect x="{-MARGIN}" y="{-MARGIN}" width="100%" height="100%" fill="white"/>']
    for (_, _, tensor), points in zip(edges, paths):
        if points:
            parts.append(f'<path d="{curve(points)}" fill="none" stroke="#888" '
                         f'marker-end="url(#arrow)"><title>{escape(str(tensor))}</title></path>')
    for op, (x, y) in zip(ops, places):
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
