# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stdout: drawn ten times a second on a terminal, once elsewhere."""
import sys
import time

_WIDTH = 30


def progress(items, title):
    """Yields the items and shows how many are done."""
    items = list(items)
    begin = last = time.monotonic()
    out = sys.stdout
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if done == len(items) or (out.isatty() and now - last > 0.1):
            last = now
            seconds = max(now - begin, 1e-9)
            full = _WIDTH * done // len(items)
            out.write(f"\r{title}: {100 * done // len(items):3d}%|"
                      f"{'#' * full}{' ' * (_WIDTH - full)}| {done}/{len(items)} "
                      f"[{seconds:.2f}s, {done / seconds:.2f}it/s]")
            out.flush()
    if items:
        out.write("\n")
        out.flush()
