# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stdout: drawn ten times a second on a terminal, once elsewhere."""
import sys
import time

from anynpu.terminal import duration

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
            rest = (len(items) - done) * seconds / done
            left = f", {duration(rest)} left" if done < len(items) else ""
            full = _WIDTH * done // len(items)
            clear = "\033[K" if out.isatty() else ""  # the line before may be longer
            out.write(f"\r{clear}{title}: {100 * done // len(items):3d}%|"
                      f"{'#' * full}{' ' * (_WIDTH - full)}| {done}/{len(items)} "
                      f"[{seconds:.2f}s, {done / seconds:.2f}it/s{left}]")
            out.flush()
    if items:
        out.write("\n")
        out.flush()
