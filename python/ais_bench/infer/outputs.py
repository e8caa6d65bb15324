# SPDX-License-Identifier: Apache-2.0
"""Where the command writes, and its results: one file for each sample and output."""
import itertools
import os
import time

import numpy as np

from aclruntime.output_files import FOLDER_MODE, make_folder, write_array
from ais_bench.infer.inputs import PADDING
from ais_bench.infer.logger import logger
from anynpu.whole_file import remove_leftovers_of_runs


def output_folder(args):
    """The folder of this run inside --output; None without --output."""
    if args.output is None:
        return None
    if args.output_dirname:
        if os.path.isabs(args.output_dirname):
            raise ValueError(f"--output_dirname '{args.output_dirname}' is absolute; it is a name "
                             "inside --output")
        name = args.output_dirname
    else:
        name = time.strftime("%Y_%m_%d-%H_%M_%S")
    make_folder(args.output)
    remove_leftovers_of_runs(args.output, r"\d{4}(_\d\d){2}-(\d\d_){2}\d\d(_\d+)?")
    folder = os.path.join(args.output, name)
    if args.output_dirname:
        make_folder(folder)
    else:
        folder = _new_folder(folder)
    logger.info("output path:%s", folder)
    return folder


def _new_folder(path):
    """A new folder; runs that start in the same second get one each."""
    for suffix in itertools.chain([""], (f"_{i}" for i in itertools.count(1))):
        try:
            os.mkdir(path + suffix, FOLDER_MODE)
            return path + suffix
        except FileExistsError:
            continue
        except OSError as error:
            raise RuntimeError(f"cannot make the folder '{path}': {error.strerror}; name a folder "
                               "that you may write into") from error


def _parts(array, count, axis):
    if count == 1:
        return [array]
    if axis >= array.ndim or array.shape[axis] % count:
        raise RuntimeError(f"save out files error: an output of shape {list(array.shape)} cannot "
                           f"be split into {count} along axis {axis}; see --output_batchsize_axis")
    return np.split(array, count, axis)


def save(folder, run, arrays, form, axis, summary, first_id):
    """Writes the results of one run; the next free sample id."""
    files = run[0]
    names = [name for name in files if name != PADDING]
    samples = names or ["pure_infer_data"]
    for offset in range(len(samples)):
        summary.add_sample_id_infiles(first_id + offset,
                                      [column[offset] for column in run] if names else [])
    for index, array in enumerate(arrays):
        parts = _parts(array, max(len(files), 1), axis)
        for offset, name in enumerate(samples):
            stem = os.path.join(folder, f"{os.path.basename(name).split('.')[0]}_{index}")
            path = write_array(stem, parts[offset], form)
            summary.append_sample_id_outfile(first_id + offset, path)
    return first_id + len(samples)
