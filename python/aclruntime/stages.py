# SPDX-License-Identifier: Apache-2.0
"""Stages of an inference that run in Python as ranges in profiles; stage.h has those in C++."""
import functools

from anynpu.profiler.mstx import mstx

DOMAIN = "ais_bench"


def stage(name):
    """A function's calls are ranges with this name."""
    def wrap(function):
        @functools.wraps(function)
        def timed(*arguments, **named):
            number = mstx.range_start(name, domain=DOMAIN)
            try:
                return function(*arguments, **named)
            finally:
                mstx.range_end(number, domain=DOMAIN)
        return timed
    return wrap
