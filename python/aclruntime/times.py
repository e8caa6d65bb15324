# SPDX-License-Identifier: Apache-2.0
"""Times of executions and of copies."""
from aclruntime import _aclruntime


class ExecTime(float):
    """Milliseconds of one execution: a float, which also unpacks and indexes as (start, end)."""

    __slots__ = ("start", "end")

    def __new__(cls, start, end):
        self = super().__new__(cls, end - start)
        self.start, self.end = start, end
        return self

    def __iter__(self):
        return iter((self.start, self.end))

    def __getitem__(self, index):
        return (self.start, self.end)[index]

    def __len__(self):
        return 2

    def __reduce__(self):
        return ExecTime, (self.start, self.end)


class sumary(list):  # noqa: N801  the name scripts use
    """The executions of a session in order, as ExecTime; grows with every run."""

    @property
    def exec_time_list(self):
        return list(self)

    def add(self, times):
        self.extend(ExecTime(start, end) for start, end in times)


class MemorySummary:
    """Copies between host and device of the whole process, in milliseconds; every instance shows
    the same."""

    @property
    def H2D_time_list(self):  # noqa: N802
        return _aclruntime.copy_times(0)

    @property
    def D2H_time_list(self):  # noqa: N802
        return _aclruntime.copy_times(1)

    @staticmethod
    def reset():
        _aclruntime.reset_copy_times()
