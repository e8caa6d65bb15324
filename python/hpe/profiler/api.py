# SPDX-License-Identifier: Apache-2.0
"""Counters of the kernels between enable() and disable(). The order is init, enable, disable,
release; another order returns STC_PROFILER_ERROR. Counts and bytes are exact, cycles modelled."""
from hpe import _hpe
from hpe.profiler.capi_ret import ProfilerResult
from hpe.profiler.result import KernelFunction, ProfilingResult

__all__ = ["KernelFunction", "ProfilingResult", "disable", "enable", "get_perf_datas", "init",
           "release"]


def init():
    """Makes the profiling context."""
    return ProfilerResult(_hpe.profiler_call("create"))


def enable():
    """Starts collecting, from nothing."""
    return ProfilerResult(_hpe.profiler_call("enable"))


def disable():
    """Stops collecting."""
    return ProfilerResult(_hpe.profiler_call("disable"))


def release():
    """Ends the profiling context."""
    return ProfilerResult(_hpe.profiler_call("release"))


def get_perf_datas():
    """What was collected, as a ProfilingResult; STC_PROFILER_ERROR before enable()."""
    data = _hpe.profiler_data()
    return ProfilerResult(data) if isinstance(data, int) else ProfilingResult(data)
