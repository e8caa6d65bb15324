# SPDX-License-Identifier: Apache-2.0
"""schedule: which steps are recorded. A bad value is reset with a warning, as documented."""
import logging
from enum import Enum

log = logging.getLogger("anynpu.profiler")


class ProfilerAction(Enum):
    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def _count(name, value, least, otherwise):
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        log.warning("schedule: %s is %r, expected a whole number from %d on; %d is taken", name,
                    value, least, otherwise)
        return otherwise
    return value


class Schedule:
    """Called with a step's number, says what happens in it."""

    def __init__(self, *, wait, active, warmup=0, repeat=0, skip_first=0):
        self.wait = _count("wait", wait, 0, 0)
        self.active = _count("active", active, 1, 1)
        self.warmup = _count("warmup", warmup, 0, 0)
        self.repeat = _count("repeat", repeat, 0, 0)
        self.skip_first = _count("skip_first", skip_first, 0, 0)
        if self.warmup == 0:
            log.warning("schedule: warmup is 0, so the first recorded step may be slower")

    def __call__(self, step):
        if step < 0:
            raise ValueError(f"the step is {step}; expected 0 or more")
        if step < self.skip_first:
            return ProfilerAction.NONE
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if self.repeat > 0 and step // cycle >= self.repeat:
            return ProfilerAction.NONE
        step %= cycle
        if step < self.wait:
            return ProfilerAction.NONE
        if step < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD_AND_SAVE if step == cycle - 1 else ProfilerAction.RECORD

    def to_dict(self):
        return {k: getattr(self, k) for k in ("wait", "active", "warmup", "repeat", "skip_first")}

    def __repr__(self):
        return "Schedule(" + ", ".join(f"{k}={v}" for k, v in self.to_dict().items()) + ")"


schedule = Schedule
