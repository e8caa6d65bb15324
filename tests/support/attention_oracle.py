# SPDX-License-Identifier: Apache-2.0
"""Attention in double precision, row by row, as its definition says: the oracle of the tests."""
import numpy as np

LAYOUTS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "NBSD": (1, 0, 2, 3)}


def to_layout(a, layout):
    """Batch, heads, length, size in another order; H joins heads and size."""
    b, n, s, d = a.shape
    if layout == "BSH":
        return np.ascontiguousarray(a.transpose(0, 2, 1, 3).reshape(b, s, n * d))
    if layout == "SBH":
        return np.ascontiguousarray(a.transpose(2, 0, 1, 3).reshape(s, b, n * d))
    return np.ascontiguousarray(a.transpose(LAYOUTS[layout]))


def seen(mode, row, rows, keys, before=0, after=0, prefix=0):
    """Which keys a row sees by its sparse mode."""
    column = np.arange(keys)
    right = row + keys - rows
    if mode == 2:
        return column <= row
    if mode == 3:
        return column <= right
    if mode == 4:
        return (column >= right - before) & (column <= right + after)
    if mode == 6:
        return (column <= right) | (column < prefix)
    return np.ones(keys, bool)


def attend(q, k, v, scale, masked=None, shift=None, mode=0, before=0, after=0, prefix=0, sink=None,
           shift_first=False, kept=None, keep=1.0):
    """One sample: q is heads, rows, size; k and v have heads that divide those. Returns the result,
    log of the sum, largest score and sum of each row."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    n, rows, _ = q.shape
    group, keys = n // k.shape[0], k.shape[1]
    y = np.zeros((n, rows, v.shape[2]))
    log, most, total = np.full((n, rows), np.inf), np.full((n, rows), -3e38), np.zeros((n, rows))
    for h in range(n):
        for i in range(rows):
            s = k[h // group] @ q[h, i]
            if shift is not None and shift_first:
                s = s + shift[h, i]
            s = s * scale
            if shift is not None and not shift_first:
                s = s + shift[h, i]
            see = seen(mode, i, rows, keys, before, after, prefix)
            if masked is not None:
                see = see & ~masked[h, i]
            scores = s[see]
            if sink is not None:
                scores = np.append(scores, sink[h])
            if not scores.size:
                continue
            most[h, i] = scores.max()
            e = np.exp(s - most[h, i]) * see
            total[h, i] = np.exp(scores - most[h, i]).sum()
            log[h, i] = most[h, i] + np.log(total[h, i])
            w = e / total[h, i]
            if kept is not None:
                w = np.where(kept[h, i], w / keep, 0)
            y[h, i] = w @ v[h // group]
    return y, log, most, total
