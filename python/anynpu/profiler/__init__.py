# SPDX-License-Identifier: Apache-2.0
"""mindspore.profiler for programs on AnyNPU; also importable under that name where MindSpore is
absent (anynpu/mindspore_name.py)."""
from anynpu.profiler.analysis import analyse
from anynpu.profiler.dynamic import DynamicProfilerMonitor
from anynpu.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)
from anynpu.profiler.handler import tensorboard_trace_handler
from anynpu.profiler.mstx import mstx
from anynpu.profiler.old_names import EnvProfiler, Profiler
from anynpu.profiler.plan import ProfilerAction, Schedule, schedule
from anynpu.profiler.session import profile
from anynpu.profiler.settings import _ExperimentalConfig

__all__ = ["profile", "schedule", "tensorboard_trace_handler", "ProfilerLevel", "ProfilerActivity",
           "AicoreMetrics", "ExportType", "HostSystem", "DynamicProfilerMonitor", "mstx",
           "_ExperimentalConfig", "analyse", "Schedule", "ProfilerAction", "Profiler",
           "EnvProfiler"]
