# SPDX-License-Identifier: Apache-2.0
"""The largest product of bfloat16 against the rate of the processor's tile units, measured in turn
with it. Half of the rate is twice the time."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import matrix_products as products  # noqa: E402
import numpy as np  # noqa: E402
from harness import has_amx, number, ratio_of  # noqa: E402

import acl  # noqa: E402


def tile_seconds(build, n, rates):
    """How long the operations of a product take at the rate that the tile units have just now."""
    tool = os.path.join(build, "tools", "benchop", "benchop")

    def run():
        time.sleep(products.REST)
        told = subprocess.run([tool, "tiles"], check=True, capture_output=True, text=True).stdout
        rates.append(float(told.split()[1]))
        return 2e-9 * n ** 3 / rates[-1]

    return run


def rows(report):
    n = products.LARGE
    what = f"gemm_ex, {n} x {n} x {n}, bfloat16: time against the tile units' rate"
    if not has_amx():
        report.skip(what, "this processor has no AMX")
        return
    products.check(acl.init())
    products.check(acl.rt.set_device(0))
    a, b, one = products.operands("bfloat16", n, np.random.default_rng(3))
    ours = products.Product(a, b, *products.KINDS["bfloat16"], one)
    rates = []
    ratio = ratio_of(products.seconds(ours), tile_seconds(report.build, n, rates), 31)
    rate = sorted(rates)[len(rates) // 2]
    report.add(what, 2.0, "x", ratio,
               f"{products.THREADS} threads; tile units {number(rate)} GFLOP/s, random numbers")
    ours.free()
