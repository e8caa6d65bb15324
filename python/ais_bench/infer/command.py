# SPDX-License-Identifier: Apache-2.0
"""python3 -m ais_bench: options, their rules, and which way the model runs."""
import importlib.metadata
import sys
import traceback

from ais_bench.infer import options
from ais_bench.infer.logger import logger, set_debug

_VERSION = "0.0.2"


def check_together(args):
    """Options that exclude or need each other."""
    if args.profiler and args.dump:
        raise RuntimeError("--profiler and --dump cannot be used together; choose one")
    if (args.profiler or args.dump) and args.output is None:
        raise RuntimeError("--profiler and --dump write files; say where with --output")
    if args.output_dirname and args.output is None:
        raise RuntimeError("--output_dirname is a folder inside --output; give that too")
    if args.auto_set_dymshape_mode and args.auto_set_dymdims_mode:
        raise RuntimeError("--auto_set_dymshape_mode and --auto_set_dymdims_mode exclude each "
                           "other")
    if args.threads > 1 and not args.pipeline:
        logger.info("--threads works with --pipeline alone; threads is set to 1")
        args.threads = 1
    if args.profiler and args.input and args.warmup_count:
        logger.info("profiler mode with input: warmup_count is set to 0")
        args.warmup_count = 0


def check_version(args):
    try:
        version = importlib.metadata.version("aclruntime")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version != _VERSION:
        logger.warning("aclruntime version is %s, not %s; run_mode is set to tensor", version,
                       _VERSION)
        args.run_mode = "tensor"


def run(args):
    from ais_bench.infer import energy, perf, profiling
    check_together(args)
    check_version(args)
    profiling.check_acl_json(args)
    if args.perf:
        return perf.run(args)
    if args.profiler:
        code = profiling.run_under_msprof(args)
        if code is not None:
            return code
    profiling.prepare(args)
    if args.dymShape_range and not args.dymShape:
        from ais_bench.infer.shape_range import run_range
        return run_range(args)
    with profiling.checked_dump(args), energy.measured(args):
        if isinstance(args.device, list):
            from ais_bench.infer.device_processes import run_devices
            return run_devices(args)
        from ais_bench.infer.benchmark import run_single
        return run_single(args)


def main(arguments=None):
    """Exit status: 0, 1 after a failure, 2 for options that cannot be read."""
    debug = False
    try:
        args = options.parse(arguments)
        debug = args.debug
        set_debug(debug)
        return run(args) or 0
    except Exception as error:
        logger.error("%s: %s", type(error).__name__, error)
        if debug:
            traceback.print_exc()
        return 1


if __name__ == "__main__":
    sys.exit(main())
