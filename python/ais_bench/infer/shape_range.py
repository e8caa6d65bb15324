# SPDX-License-Identifier: Apache-2.0
"""--dymShape_range: every shape of a range, a process each, and one table at the end."""
import itertools
import os
import re
import subprocess
import sys

from ais_bench.infer import file_checks
from ais_bench.infer.logger import logger
from ais_bench.infer.options import OPTIONS

MOST_SHAPES = 256
MOST_SECONDS = 600
_PART = re.compile(r"\d+|\d+~\d+(~\d+)?|\d+(-\d+)+")


def _values(part):
    if not _PART.fullmatch(part):
        raise ValueError(f"'{part}' is no extent; write n, a~b, a~b~step or a-b-c")
    if "~" in part:
        first, last, *step = (int(number) for number in part.split("~"))
        if last < first or 0 in step:
            raise ValueError(f"'{part}' is no range; the first is at most the last, the step not 0")
        return list(range(first, last + 1, *step))
    return [int(number) for number in part.split("-")]


def _expand(line):
    """All shapes of one line: every combination over axes and inputs."""
    inputs = []
    for item in line.strip().split(";"):
        if not item:
            continue
        name, colon, extents = item.rpartition(":")
        if not colon or not name:
            raise ValueError(f"'{item}' is no range of shapes; write name:1,3,224~448~32")
        axes = [_values(part) for part in extents.split(",")]
        inputs.append([f"{name}:{','.join(map(str, shape))}"
                       for shape in itertools.product(*axes)])
    return [";".join(shape) for shape in itertools.product(*inputs)] if inputs else []


def shapes_of(text):
    """The shapes that a range or a file of ranges (one a line) stands for."""
    if not os.path.isfile(text):
        lines = [text]
    else:
        file_checks.readable(text, ".info")
        with open(text, encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if line.strip()]
        if len(lines) > 256:
            raise ValueError(f"'{text}' has {len(lines)} lines, at most 256 are allowed")
    shapes = [shape for line in lines for shape in _expand(line)]
    if not 1 <= len(shapes) <= MOST_SHAPES:
        raise ValueError(f"'{text}' stands for {len(shapes)} shapes, 1 to {MOST_SHAPES} are "
                         "allowed")
    return shapes


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
