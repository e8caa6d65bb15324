# SPDX-License-Identifier: Apache-2.0
"""A name of common.io_operations in earlier versions."""
from ais_bench.infer.common.io_operations import *  # noqa: F401,F403
