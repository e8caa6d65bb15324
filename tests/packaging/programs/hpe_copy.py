# SPDX-License-Identifier: Apache-2.0
"""Doubles numbers on an NPC cluster; the argument is the linked device program."""
import sys

import numpy as np

import hpe.hpert.api as hpe
import hpe.profiler.api as prof

assert hpe.detect()
prof.init()
prof.enable()
data = np.arange(100, dtype=np.int32)
memory = hpe.device_mem(data.nbytes)
memory.copy_from_host(data)
hpe.module(sys.argv[1]).launch_kernel("twice", [memory, 100])
hpe.synchronize()
memory.copy_to_host(data)
assert (data == 2 * np.arange(100)).all()
prof.disable()
print(prof.get_perf_datas())
