# SPDX-License-Identifier: Apache-2.0
"""python3 -m ais_bench, and python3 <folder>/ais_bench/__main__.py."""
import os
import sys

if not __package__:  # run by its path: the package is this file's folder
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ais_bench.infer.command import main

if __name__ == "__main__":
    sys.exit(main())
