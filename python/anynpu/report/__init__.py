# SPDX-License-Identifier: Apache-2.0
"""anynpu report: one page about a profile, without a network. lanes.py reads, figures.py and
operations.py count, page.py writes the page (page.css, page.js), others.py writes the forms of
other viewers. In a notebook, `anynpu.report("PROF_...")` shows the page in a cell (notebook.py)."""
import sys
import types


class _Callable(types.ModuleType):
    """The package is a function as well: anynpu.report(...)."""

    def __call__(self, profile, diff=None, height=720):
        from anynpu.report.notebook import Report
        return Report(profile, diff, height)


sys.modules[__name__].__class__ = _Callable
