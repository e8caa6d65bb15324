#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stc-gdb and stcc: programs of the HPE documents that this release does not have. They say so."""

import os
import sys

INSTEAD = {
    "stc-gdb": "debugging kernels is not available in this release; compile with -g, and a failed "
               "kernel prints its call stack at the next synchronize, or use printf in the kernel",
    "stcc": "single-source programs (.hc) are not available in this release; compile the kernels "
            "with stc-clang++, link them with stc-ld.lld, and load them with stcModuleLoadData or "
            "hpe.hpert.api.module",
}  # fmt: skip


def main():
    """Always fails, with the sentence for the name it was called by."""
    name = os.path.basename(sys.argv[0])
    sys.exit(f"{name}: {INSTEAD.get(name, 'this program is not available')}")


if __name__ == "__main__":
    main()
