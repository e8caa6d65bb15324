# SPDX-License-Identifier: Apache-2.0
"""`ait`, `stcc` and `stc-gdb`, which are not provided: each says so and what to use instead."""
import os
import sys

INSTEAD = {
    "ait": "the ait tools are not part of AnyNPU; `ait benchmark` is the same engine as "
           "`python3 -m ais_bench`, whose options are in docs/ais_bench.md",
    "stcc": "single-source files (.hc) cannot be compiled yet; compile kernels with stc-clang++ "
            "and stc-ld.lld, and load them with stcModuleLoadData or hpe.hpert.api.module",
    "stc-gdb": "kernels cannot be debugged step by step yet; compile with -g: a kernel that fails "
               "prints the call stack of each core, and printf works on the device",
}


def main():
    name = os.path.basename(sys.argv[0])
    print(f"{name}: {INSTEAD.get(name, 'not there')}", file=sys.stderr)
    return 1
