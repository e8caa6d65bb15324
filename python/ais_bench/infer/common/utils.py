# SPDX-License-Identifier: Apache-2.0
"""Helpers that scripts take from the command."""
import os

import numpy as np

from aclruntime.file_pipeline import read_input
from aclruntime.output_files import write_array
from ais_bench.infer import inputs
from ais_bench.infer.logger import logger, set_debug  # noqa: F401

logger_print = logger.info


def get_fileslist_from_dir(folder):
    """Its .npy and .bin files, numbers in names in order of their values."""
    return inputs.folder_files(folder)


def get_file_content(path):
    """An .npy as its array, anything else as raw bytes."""
    return read_input(path)


def get_file_datasize(path):
    return read_input(path).nbytes if path.lower().endswith(".npy") else os.path.getsize(path)


def list_split(items, count, padding_file):
    """Lists of `count` items, the last one filled up."""
    for i in range(0, len(items), count):
        part = list(items[i:i + count])
        yield part + [padding_file] * (count - len(part))


def list_share(items, count, num, left):
    """The part of process `count`: `num` items each, the first `left` processes one more."""
    begin = count * num + min(count, left)
    return items[begin:begin + num + (count < left)]


def natural_sort(names):
    return sorted(names, key=inputs.natural)


def save_data_to_files(path, array):
    """By the suffix of the path: .bin, .npy or .txt."""
    stem, suffix = os.path.splitext(path)
    return write_array(stem, np.asarray(array), suffix.lstrip(".").upper())
