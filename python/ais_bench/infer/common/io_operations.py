# SPDX-License-Identifier: Apache-2.0
"""Names of made-up and filling inputs, and files of runs, under the names that scripts import."""
from aclruntime.file_pipeline import PURE_RANDOM, PURE_ZERO
from ais_bench.infer import inputs

PURE_INFER_FAKE_FILE = "pure_infer_data"
PURE_INFER_FAKE_FILE_ZERO = PURE_ZERO
PURE_INFER_FAKE_FILE_RANDOM = PURE_RANDOM
PADDING_INFER_FAKE_FILE = inputs.PADDING
# in lower case in earlier versions
pure_infer_fake_file, padding_infer_fake_file = PURE_INFER_FAKE_FILE, PADDING_INFER_FAKE_FILE


def get_pure_infer_data(size, pure_data_type):
    """`size` bytes: zeros, or random ones."""
    return inputs.made_up(size, pure_data_type)


def create_infileslist_from_inputs_list(inputs_list, intensors_desc, no_combine_tensor_mode=False):
    """The runs for files or folders: [[files of input 0, files of input 1, ...], ...]."""
    lists = inputs.files_of_inputs(",".join(inputs_list), intensors_desc)
    if no_combine_tensor_mode:
        return inputs.single_runs(lists)
    return inputs.combined_runs(lists, intensors_desc)
