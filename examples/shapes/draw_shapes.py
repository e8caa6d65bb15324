# SPDX-License-Identifier: Apache-2.0
"""Draws pictures of ten shapes, at training time and at demo time alike.

Every picture has one shape of random colour, place, size and tilt on a background of another
colour with a slope of light, some thin lines and grain. `python draw_shapes.py FOLDER [SHAPE ...]`
writes JPEGs of 1024 x 683, the size of the pictures in the guide's quick start.
"""
import math
import os
import sys

import numpy as np
from PIL import Image, ImageDraw

LABELS = ["circle", "square", "triangle", "star", "cross",
          "ring", "heart", "crescent", "arrow", "hexagon"]


def regular(sides, turn=0.0):
    angles = [turn + 2 * math.pi * i / sides for i in range(sides)]
    return [(math.sin(a), -math.cos(a)) for a in angles]


def star():
    points = []
    for i in range(10):
        radius = 1.0 if i % 2 == 0 else 0.42
        points.append((radius * math.sin(math.pi * i / 5), -radius * math.cos(math.pi * i / 5)))
    return points


def heart():
    points = []
    for i in range(80):
        t = 2 * math.pi * i / 80
        x = 16 * math.sin(t) ** 3
        y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        points.append((x / 17, -y / 17))
    return points


def moved(points, scale, dx=0.0):
    return [(x * scale + dx, y * scale) for x, y in points]


CROSS = [(-.33, -1), (.33, -1), (.33, -.33), (1, -.33), (1, .33), (.33, .33),
         (.33, 1), (-.33, 1), (-.33, .33), (-1, .33), (-1, -.33), (-.33, -.33)]
ARROW = [(0, -1), (.85, -.1), (.33, -.1), (.33, 1), (-.33, 1), (-.33, -.1), (-.85, -.1)]
CIRCLE = regular(96)

# Each shape: the outline, and the outline of what is cut out of it (or None), in a unit circle.
OUTLINES = {
    "circle": (CIRCLE, None),
    "square": (moved(regular(4, math.pi / 4), 1.2), None),
    "triangle": (regular(3), None),
    "star": (star(), None),
    "cross": (CROSS, None),
    "ring": (CIRCLE, moved(CIRCLE, 0.58)),
    "heart": (heart(), None),
    "crescent": (CIRCLE, moved(CIRCLE, 0.86, 0.46)),
    "arrow": (ARROW, None),
    "hexagon": (regular(6), None),
}


def colours(rng):
    """Two colours that a person can tell apart."""
    while True:
        a, b = rng.integers(0, 256, 3), rng.integers(0, 256, 3)
        if np.abs(a - b).sum() > 200:
            return a, b


def draw(label, width, height, rng):
    """One picture of the shape `label`, as a Pillow RGB image."""
    back, front = colours(rng)
    slope = np.linspace(-1, 1, width)[None, :] * rng.uniform(-25, 25) \
        + np.linspace(-1, 1, height)[:, None] * rng.uniform(-25, 25)
    canvas = Image.fromarray(np.clip(back + slope[:, :, None], 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(canvas)
    for _ in range(rng.integers(0, 4)):
        ends = [(int(rng.integers(0, width)), int(rng.integers(0, height))) for _ in range(2)]
        pen.line(ends, fill=tuple(int(c) for c in rng.integers(0, 256, 3)), width=1)

    radius = rng.uniform(0.22, 0.4) * min(width, height)
    x = rng.uniform(radius * 1.2, width - radius * 1.2)
    y = rng.uniform(radius * 1.2, height - radius * 1.2)
    tilt = rng.uniform(-0.35, 0.35)
    cos, sin = math.cos(tilt) * radius, math.sin(tilt) * radius

    def placed(points):
        return [(x + px * cos - py * sin, y + px * sin + py * cos) for px, py in points]

    outline, hole = OUTLINES[label]
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    pen.polygon(placed(outline), fill=255)
    if hole:
        pen.polygon(placed(hole), fill=0)
    canvas.paste(tuple(int(c) for c in front), mask=mask)
    grain = rng.normal(0, rng.uniform(0, 10), (height, width, 1))
    return Image.fromarray(np.clip(np.asarray(canvas) + grain, 0, 255).astype(np.uint8))


def main(folder, labels, seed=2024):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(seed)
    for label in labels:
        path = os.path.join(folder, f"{label}_1024_683.jpg")
        draw(label, 1024, 683, rng).save(path, quality=92)
        print(path)


if __name__ == "__main__":
    wanted = sys.argv[2:] or LABELS
    if len(sys.argv) < 2 or not set(wanted) <= set(LABELS):
        sys.exit("usage: python draw_shapes.py FOLDER [SHAPE ...]\nshapes: " + ", ".join(LABELS))
    main(sys.argv[1], wanted)
