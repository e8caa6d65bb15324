# SPDX-License-Identifier: Apache-2.0
"""Runs `kernel` of an object on eight cores: (int* out, const int* in, int count)."""
import sys

import numpy as np

import hpe.hpert.api as hpe

COUNT = 1000
source = np.arange(COUNT, dtype=np.int32)
given, made = hpe.device_mem(4 * COUNT), hpe.device_mem(4 * COUNT)
given.copy_from_host(source)
made.copy_from_host(np.zeros(COUNT, np.int32))
module = hpe.module(sys.argv[1])
module.launch_kernel("kernel", [made, given, COUNT], core_num=8)
try:
    hpe.synchronize()
except hpe.CruntimeException as error:
    print(error)
