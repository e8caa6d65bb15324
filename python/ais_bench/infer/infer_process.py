# SPDX-License-Identifier: Apache-2.0
"""The name of benchmark_process in other versions."""
from ais_bench.infer.benchmark_process import (  # noqa: F401
    InferSession,
    benchmark_process,
    infer_process,
)
