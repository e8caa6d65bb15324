# SPDX-License-Identifier: Apache-2.0
"""Input files of the command: which belong to which run, and their data.

A run is a list with one entry for each input of the model; an entry is the list of files that are
combined for it.
"""
import os
import re

import numpy as np

from aclruntime.file_pipeline import PURE_RANDOM, PURE_ZERO, read_input
from ais_bench.infer import file_checks
from ais_bench.infer.logger import logger

PADDING = "padding_infer_fake_file"  # fills the last run; its data is that of the run's first file
_SUFFIXES = (".npy", ".NPY", ".bin", ".BIN")
_MOST_FILES = 100000


def natural(name):
    """Sort key of a name: its digits compare as numbers, the text between them as text."""
    return [int(part) if i % 2 else part
            for i, part in enumerate(re.split(r"([0-9]+)", name.lower()))]


def folder_files(folder):
    names = [name for name in os.listdir(folder) if name.endswith(_SUFFIXES)]
    if not names:
        raise RuntimeError(f"the folder '{folder}' has no .npy or .bin file")
    if len(names) > _MOST_FILES:
        raise OverflowError(f"the folder '{folder}' has {len(names)} files, at most {_MOST_FILES} "
                            "are allowed")
    paths = [os.path.join(folder, name) for name in sorted(names, key=natural)]
    for path in paths:
        try:
            file_checks.readable(path)
        except file_checks.UnsafePath as error:
            raise RuntimeError(str(error)) from None
    return paths


def files_of_inputs(text, descs):
    """The files of each input, from --input: files or one folder for each input."""
    paths = text.split(",")
    if all(os.path.isdir(path) for path in paths):
        if len(paths) != len(descs):
            raise RuntimeError(f"{len(paths)} folders were given, the model has {len(descs)} "
                               "inputs; give one folder for each")
        lists = [folder_files(path) for path in paths]
    elif any(os.path.isdir(path) for path in paths):
        raise RuntimeError(f"--input mixes files and folders: {text}")
    else:
        each = len(paths) // len(descs)
        if each == 0 or len(paths) % len(descs):
            raise RuntimeError(f"{len(paths)} files were given for {len(descs)} inputs; give as "
                               "many for each input")
        lists = [paths[i * each:(i + 1) * each] for i in range(len(descs))]
    counts = [len(files) for files in lists]
    if len(set(counts)) != 1:
        raise RuntimeError(f"the inputs have {counts} files; give as many for each")
    return lists


def share_out(lists, position, count):
    """The part of the files that one of `count` devices gets; earlier ones get the remainder."""
    shares = []
    for files in lists:
        base, extra = divmod(len(files), count)
        begin = position * base + min(position, extra)
        shares.append(files[begin:begin + base + (position < extra)])
    return shares


def single_runs(lists):
    """One file for each input and run."""
    return [[[name] for name in row] for row in zip(*lists)]


def combined_runs(lists, descs):
    """The files of each run: as many as its first input needs; the last run is filled up."""
    needed = descs[0].realsize
    size = read_input(lists[0][0]).nbytes
    if size == 0 or needed == 0 or needed % size:
        raise RuntimeError(f"'{lists[0][0]}' has {size} bytes, input '{descs[0].name}' needs "
                           f"{needed}: no whole number of files makes one run")
    each = needed // size
    count = -(-len(lists[0]) // each)
    logger.info("get filesperbatch files0 size:%d tensor0size:%d filesperbatch:%d runcount:%d",
                size, needed, each, count)
    runs = []
    for i in range(count):
        run = []
        for files in lists:
            part = files[i * each:(i + 1) * each]
            run.append(part + [PADDING] * (each - len(part)))
        runs.append(run)
    return runs


def pure_runs(descs):
    """One run without files."""
    return [[[] for _ in descs]]


def made_up(size, kind):
    if kind == "random":
        return np.random.default_rng().integers(0, 256, size, np.uint8)
    return np.zeros(size, np.uint8)


def load(files, desc, pure_kind, check=True):
    """The data of one input of one run."""
    if not files:
        return made_up(desc.realsize, pure_kind)
    arrays = [read_input(files[0] if name == PADDING else name) for name in files]
    if len(arrays) == 1:
        data = arrays[0]
    elif any(array.ndim == 0 for array in arrays):
        data = np.stack(arrays)
    else:
        data = np.concatenate(arrays)
    if check and data.nbytes != desc.realsize:
        raise RuntimeError(f"the files {files} have {data.nbytes} bytes, input '{desc.name}' needs "
                           f"{desc.realsize}; check their shape and type")
    return data


def pure_names(count, kind):
    """Names for runs of the pipeline without files."""
    return [[PURE_RANDOM if kind == "random" else PURE_ZERO] * count]
