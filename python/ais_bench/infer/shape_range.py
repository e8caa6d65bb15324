# SPDX-License-Identifier: Apache-2.0
"""--dymShape_range: runs every shape of a range, each in its own process; one table at the end."""
import itertools
import math
import os
import re
import subprocess
import sys

from ais_bench.infer import file_checks
from ais_bench.infer.logger import logger
from ais_bench.infer.options import OPTIONS

MOST_SHAPES, MOST_LINES = 256, 256
MOST_SECONDS = 600
_NUMBER = "[0-9]{1,9}"
_PART = re.compile(f"{_NUMBER}(~{_NUMBER}){{0,2}}|{_NUMBER}(-{_NUMBER})+")


def _values(part):
    if not _PART.fullmatch(part):
        raise ValueError(f"'{part}' is no extent; write n, a~b, a~b~step or a-b-c")
    if "~" in part:
        first, last, *step = (int(number) for number in part.split("~"))
        if last < first or 0 in step:
            raise ValueError(f"'{part}' is no range; the first is at most the last, the step not 0")
        return range(first, last + 1, *step)
    return [int(number) for number in part.split("-")]


def _axes(line):
    """[(input, the values of each of its axes)] of one line."""
    inputs = []
    for item in line.strip().split(";"):
        if not item:
            continue
        name, colon, extents = item.rpartition(":")
        if not colon or not name:
            raise ValueError(f"'{item}' is no range of shapes; write name:1,3,224~448~32")
        inputs.append((name, [_values(part) for part in extents.split(",")]))
    return inputs


def _expand(inputs):
    """All shapes of one line: every combination over axes and inputs."""
    each = [[f"{name}:{','.join(map(str, shape))}" for shape in itertools.product(*axes)]
            for name, axes in inputs]
    return [";".join(shape) for shape in itertools.product(*each)]


def shapes_of(text):
    """The shapes that a range or a file of ranges (one a line) stands for."""
    if not os.path.isfile(text):
        lines = [text]
    else:
        file_checks.readable(text, ".info")
        with open(text, encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise ValueError(f"'{text}' has {len(lines)} lines, at most {MOST_LINES} are allowed")
    ranges = [inputs for inputs in map(_axes, lines) if inputs]
    # Counted before they are listed: a short range can mean more shapes than memory holds.
    count = sum(math.prod(len(values) for _, axes in inputs for values in axes)
                for inputs in ranges)
    if not 1 <= count <= MOST_SHAPES:
        raise ValueError(f"'{text}' stands for {count} shapes, 1 to {MOST_SHAPES} are allowed")
    return [shape for inputs in ranges for shape in _expand(inputs)]


def check_range(text):
    shapes_of(text)
    return text


def child_options(args, **changes):
    """The options of `args` that are set, as a command line."""
    words = []
    for option in OPTIONS:
        name = option.names.split()[0].lstrip("-")
        value = changes.get(name, getattr(args, name))
        if isinstance(value, list):
            value = ",".join(map(str, value))
        if value is None or value == option.default:
            continue
        words.append(f"--{name}={value}")
    return words


def _run(args, shape):
    """(OK or Failed, throughput) of one shape."""
    command = [sys.executable, "-m", "ais_bench",
               *child_options(args, dymShape=shape, dymShape_range=None)]
    logger.info("cmd:%s", " ".join(command))
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=MOST_SECONDS,
                              check=False)
    except subprocess.TimeoutExpired:
        logger.error("shape %s took longer than %d s", shape, MOST_SECONDS)
        return "Failed", 0.0
    sys.stdout.write(done.stdout)
    for line in done.stdout.splitlines():
        if "throughput" in line:
            return "OK", float(line.split()[-1])
    return "Failed", 0.0


def run_range(args):
    results = [(shape, *_run(args, shape)) for shape in shapes_of(args.dymShape_range)]
    good = [throughput for _, result, throughput in results if result == "OK"]
    average = sum(good) / len(good) if good else 0.0
    logger.info("-----------------dyshape_range Performance Summary------------------")
    logger.info("run_count:%d success_count:%d avg_throughput:%s", len(results), len(good), average)
    results.sort(key=lambda row: -row[2])
    for i, (shape, result, throughput) in enumerate(results):
        logger.info("%d dymshape:%s  result:%s throughput:%s", i, shape, result, throughput)
    logger.info("------------------------------------------------------")
    return 0
