# SPDX-License-Identifier: Apache-2.0
"""The command from Python: benchmark_process(args) with the options of args_adapter."""
from ais_bench.infer import command
from ais_bench.infer.interface import InferSession  # noqa: F401  scripts take it from here too
from ais_bench.infer.logger import set_debug


def benchmark_process(args):
    """Exit status: 0, or 1 if a device failed. Raises if an option or the model is wrong."""
    set_debug(args.debug)
    return command.run(args) or 0


infer_process = benchmark_process
