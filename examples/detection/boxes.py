# SPDX-License-Identifier: Apache-2.0
"""From maps of scores to boxes, and boxes into pictures."""
import numpy as np

THRESHOLD = 0.25
COLOURS = {"red": (76, 85, 255), "green": (150, 44, 21), "blue": (29, 255, 107)}  # Y, U, V


def regions(mask):
    """(rows, columns) of each group of cells that touch each other."""
    left = set(zip(*np.nonzero(mask)))
    while left:
        group, edge = [], [left.pop()]
        while edge:
            row, column = edge.pop()
            group.append((row, column))
            for cell in ((row - 1, column), (row + 1, column), (row, column - 1),
                         (row, column + 1)):
                if cell in left:
                    left.remove(cell)
                    edge.append(cell)
        yield np.array(group).T


def find(scores, names, width, height):
    """[(name, score, left, top, right, bottom)] in pixels of a picture of this size."""
    found = []
    for name, scores_of_one in zip(names, scores):
        rows, columns = scores_of_one.shape
        for y, x in regions(scores_of_one > THRESHOLD):
            if len(y) >= 4:  # less is noise at an edge
                found.append((name, float(scores_of_one[y, x].mean()),
                              int(x.min() * width / columns), int(y.min() * height / rows),
                              int((x.max() + 1) * width / columns) - 1,
                              int((y.max() + 1) * height / rows) - 1))
    return sorted(found, key=lambda box: -box[1])


def draw(picture, box, colour, thickness=4):
    """A frame into the NV12 bytes of a Picture; `box` is (left, top, right, bottom)."""
    luma = picture[: picture.shape[0] * 2 // 3]
    chroma = picture[picture.shape[0] * 2 // 3:]
    left, top, right, bottom = (value // 2 * 2 for value in box)
    for rows, columns in ((slice(top, top + thickness), slice(left, right)),
                          (slice(bottom - thickness, bottom), slice(left, right)),
                          (slice(top, bottom), slice(left, left + thickness)),
                          (slice(top, bottom), slice(right - thickness, right))):
        luma[rows, columns] = colour[0]
        half = slice(rows.start // 2, rows.stop // 2)
        chroma[half, columns][:, 0::2] = colour[1]
        chroma[half, columns][:, 1::2] = colour[2]
