# SPDX-License-Identifier: Apache-2.0
"""Every option of the command, as one table: argparse and docs/ais_bench.md are made from it."""
import argparse
import sys
from dataclasses import dataclass
from typing import Any, Callable

from ais_bench.infer import option_types as kinds
from anynpu import __version__


@dataclass(frozen=True)
class Option:
    names: str  # separated by blanks
    takes: str  # as the docs show it
    kind: Callable
    default: Any
    meaning: str
    choices: tuple = ()
    required: bool = False


def _flag(names, default, meaning):
    return Option(names, "bool", kinds.boolean, default, meaning)


OPTIONS = (
    Option("--model -m", "file.om", kinds.model_file, None, "the model", required=True),
    Option("--input -i", "path,path", kinds.input_paths, None,
           "input files (.npy, .bin) or one folder for each input; none: made-up data"),
    Option("--output -o", "folder", kinds.output_folder, None,
           "where results and the summary go; none: they are not kept"),
    Option("--output_dirname", "name", str, None,
           "name of the folder inside --output; else the time"),
    Option("--outfmt", "NPY, BIN, TXT", str, "BIN", "format of the results",
           ("NPY", "BIN", "TXT")),
    Option("--loop -l", "n", kinds.loop_count, 1, "executions of each run, 1..100000"),
    _flag("--debug", False, "DEBUG lines and a description of the model"),
    Option("--device -d", "id,id", kinds.devices, 0,
           "device, or several: one process for each, 0..255"),
    Option("--dymBatch", "n", kinds.positive, 0, "batch gear of the model, 1..4096"),
    Option("--dymHW", "h,w", kinds.height_width, None, "image gear of the model"),
    Option("--dymDims", "name:d,d;name:d", kinds.shapes, None, "dims gear of the model"),
    Option("--dymShape", "name:d,d;name:d", kinds.shapes, None,
           "shape for a model whose shapes are ranges"),
    Option("--outputSize", "n,n", kinds.output_sizes, None, "bytes of each output"),
    _flag("--auto_set_dymshape_mode", False, "take the shape from each .npy file"),
    _flag("--auto_set_dymdims_mode", False, "take the dims gear from each .npy file"),
    Option("--batchsize", "n", kinds.positive, None,
           "batch for the throughput; else the model's, 1..4096"),
    Option("--pure_data_type", "zero, random", str, "zero", "made-up data without --input",
           ("zero", "random")),
    _flag("--profiler", False, "collect a profile into OUTPUT/profiler"),
    _flag("--profiler_rename", True, "put the model's name into the names of profile files"),
    _flag("--dump", False, "dump inputs and outputs of every operator into OUTPUT/dump"),
    _flag("--dump_npy", False, "convert dumped data to .npy"),
    Option("--acl_json_path", "file.json", kinds.json_file, None,
           "configuration of profiler or dump; wins over both options"),
    Option("--output_batchsize_axis", "n", kinds.not_negative, 0,
           "axis along which a combined run's results are split, 0..8"),
    Option("--run_mode", "array, files, tensor, full", str, "array", "how inputs are handed over",
           ("array", "files", "tensor", "full")),
    _flag("--display_all_summary", False, "show the times of copies too"),
    Option("--warmup_count", "n", kinds.not_negative, 1,
           "runs before the measurement, 0..10000"),
    Option("--dymShape_range", "ranges or file", kinds.shape_range, None,
           "run once for each shape of a range"),
    Option("--aipp_config", "file.config", kinds.config_file, None,
           "parameters of a dynamic AIPP input"),
    _flag("--energy_consumption", False, "energy by npu-smi; not available without a card"),
    Option("--npu_id", "id,id", kinds.devices, 0, "device for --energy_consumption"),
    Option("--backend", "trtexec", str, None, "engine for --perf", ("trtexec",)),
    _flag("--perf", False, "run --backend instead of AscendCL"),
    _flag("--pipeline", False, "copies beside computation; one file for each input and run"),
    Option("--threads", "n", kinds.positive, 1, "sessions that --pipeline runs, 1..64"),
    _flag("--divide_input", False, "share the inputs out over the devices of --device"),
)

# Other spellings. Not known to argparse, so that abbreviations of the real names stay unambiguous.
SPELLINGS = {"--dym-shape": "--dymShape", "--warmup-count": "--warmup_count"}

# Checked after parsing: ValueError, exit status 1.
LIMITS = {"threads": 64, "warmup_count": 10000, "batchsize": 4096, "dymBatch": 4096,
          "output_batchsize_axis": 8}


def parser():
    made = argparse.ArgumentParser(prog="ais_bench", description="Runs an offline model and "
                                   "measures it.")
    made.add_argument("--version", action="version",
                      version=f"ais_bench 0.0.2 of AnyNPU {__version__}")
    for option in OPTIONS:
        more = {"choices": option.choices} if option.choices else {}
        if option.required:
            more["required"] = True
        made.add_argument(*option.names.split(), type=option.kind, default=option.default,
                          help=option.meaning.replace("%", "%%"), **more)
    return made


def _real_names(arguments):
    for word in arguments:
        name, equals, value = word.partition("=")
        yield SPELLINGS.get(name, name) + equals + value


def parse(arguments=None):
    args = parser().parse_args(list(_real_names(sys.argv[1:] if arguments is None else arguments)))
    for name, most in LIMITS.items():
        value = getattr(args, name)
        if value is not None and value > most:
            raise ValueError(f"--{name} is {value}, at most {most} is allowed")
    return args


def markdown():
    """The table of docs/ais_bench.md."""
    lines = ["| option | takes | default | meaning |", "|---|---|---|---|"]
    for option in OPTIONS:
        known = option.names.split()
        known += [other for other, name in SPELLINGS.items() if name in known]
        names = ", ".join(f"`{name}`" for name in known)
        default = "required" if option.required else \
            "" if option.default is None else f"`{option.default}`"
        lines.append(f"| {names} | {option.takes} | {default} | {option.meaning} |")
    return "\n".join(lines) + "\n"
