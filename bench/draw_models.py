# SPDX-License-Identifier: Apache-2.0
"""The bar chart beside the speed table: how fast models run against each peer, as SVG."""

COLOURS = {"onnxruntime": "#4477aa", "openvino": "#cc7733"}
LEFT, BAR, GAP, SCALE, TOP = 170, 13, 12, 260, 56
STYLE = "text{font:12px sans-serif;fill:#222}.s{font-size:11px;fill:#555}"


def bars(rows, clock):
    """{model: [(peer, speed, slowest, fastest)]} of the rows that were taken with `clock`."""
    models = {}
    for row in rows:
        if row.get("clock") == clock:
            models.setdefault(row["model"], []).append(
                (row["peer"], 1 / row["measured"], 1 / row["high"], 1 / row["low"]))
    return models


def chart(rows, clock, title):
    """The picture as text; None when there is nothing to draw."""
    models = bars(rows, clock)
    if not models:
        return None
    most = max(1.5, min(2.5, max(high for group in models.values() for *_, high in group)))
    width = LEFT + int(SCALE * most) + 70
    shapes, y = [], TOP
    for model, group in models.items():
        shapes.append(f'<text x="{LEFT - 8}" y="{y + BAR * len(group) / 2 + 4:.0f}" '
                      f'text-anchor="end">{model}</text>')
        for peer, speed, low, high in group:
            end, y_mid = LEFT + SCALE * min(speed, most), y + BAR / 2
            shapes.append(f'<rect x="{LEFT}" y="{y}" width="{end - LEFT:.1f}" height="{BAR - 2}" '
                          f'fill="{COLOURS.get(peer, "#888888")}"/>')
            x0, x1 = (LEFT + SCALE * min(v, most) for v in (low, high))
            shapes.append(f'<path d="M{x0:.1f} {y_mid - 1:.1f}H{x1:.1f}" stroke="#222"/>')
            shapes.append(f'<text class="s" x="{max(end, x1) + 5:.1f}" y="{y + 10}">'
                          f'{speed:.2f} x</text>')
            y += BAR
        y += GAP
    one = LEFT + SCALE
    shapes.append(f'<path d="M{one} {TOP - 8}V{y}" stroke="#222" stroke-dasharray="4 3"/>')
    legend = "".join(
        f'<rect x="{LEFT + 150 * i}" y="28" width="10" height="10" fill="{colour}"/>'
        f'<text class="s" x="{LEFT + 150 * i + 14}" y="37">against {peer}</text>'
        for i, (peer, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 8}">'
            f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
            f'<text x="{LEFT}" y="18">{title}</text>{legend}{"".join(shapes)}</svg>\n')
