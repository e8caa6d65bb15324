# SPDX-License-Identifier: Apache-2.0
"""The inference API: InferSession for one device in this process, MultiDeviceSession for several
devices with a process for each, MemorySummary for the times of copies."""
from ais_bench.infer.infer_session import InferSession
from ais_bench.infer.memory_summary import MemorySummary
from ais_bench.infer.multi_device import MultiDeviceSession

__all__ = ["InferSession", "MemorySummary", "MultiDeviceSession"]
