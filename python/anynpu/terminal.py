# SPDX-License-Identifier: Apache-2.0
"""What depends on whether a person looks at a terminal: colour, and lines of progress."""
import os
import sys
import time

COLOURS = {"red": 31, "green": 32, "yellow": 33, "bold": 1}
QUIET_S = 2.0  # work that is done sooner shows no progress
EVERY_S = 0.2  # between two drawings on a terminal
LOG_S = 30.0  # between two lines elsewhere, so that a log of hours shows life


def has_colour(stream):
    """On a terminal, unless NO_COLOR has a value (no-color.org) or the terminal is a dumb one."""
    return (stream.isatty() and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb")


def painted(text, colour, stream):
    return f"\033[{COLOURS[colour]}m{text}\033[0m" if has_colour(stream) else text


def duration(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


def rate_text(rate):
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


class Progress:
    """Lines about work of `total` steps on stderr, once it has taken two seconds: what is done, how
    fast, and how long the rest will take at that speed."""

    def __init__(self, title, total, unit="", stream=None, clock=time.monotonic):
        self.title, self.total, self.unit = title, total, unit
        self.stream, self.clock = stream or sys.stderr, clock
        self.done, self.begin = 0, clock()
        self.next, self.drawn = self.begin + QUIET_S, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def step(self, count=1):
        self.done += count
        if self.clock() >= self.next:
            self.draw()

    def line(self):
        seconds = max(self.clock() - self.begin, 1e-9)
        rate = self.done / seconds
        left = (self.total - self.done) / rate if rate > 0 else None
        text = f"{self.title}: {self.done:,} of {self.total:,}{' ' * bool(self.unit)}{self.unit}"
        text += f", {rate_text(rate)} a second"
        return text + (f", {duration(left)} left" if left is not None and self.done < self.total
                       else "")

    def draw(self):
        terminal = self.stream.isatty()
        self.stream.write(f"\r\033[K{self.line()}" if terminal else self.line() + "\n")
        self.stream.flush()
        self.drawn = True
        self.next = self.clock() + (EVERY_S if terminal else LOG_S)

    def close(self):
        """Removes the line from a terminal."""
        if self.drawn and self.stream.isatty():
            self.stream.write("\r\033[K")
            self.stream.flush()
        self.drawn = False


def steps(items, title, unit="", stream=None):
    """Yields the items and shows how many are done."""
    items = list(items)
    with Progress(title, len(items), unit, stream) as progress:
        for item in items:
            yield item
            progress.step()
