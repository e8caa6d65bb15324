# SPDX-License-Identifier: Apache-2.0
"""`ait`, which is not provided: says so and what to use instead."""
import sys


def main():
    print("ait: the ait tools are not part of AnyNPU; `ait benchmark` is the same engine as "
          "`python3 -m ais_bench`, whose options are in docs/ais_bench.md", file=sys.stderr)
    return 1
