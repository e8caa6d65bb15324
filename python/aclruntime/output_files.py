# SPDX-License-Identifier: Apache-2.0
"""Files and folders of results, written atomically; arrays as BIN (raw bytes), NPY or TXT
(a row of the last axis on each line)."""
import contextlib
import os

import numpy as np

from anynpu.whole_file import temporary

SUFFIX = {"BIN": ".bin", "NPY": ".npy", "TXT": ".txt"}
FILE_MODE = 0o640
FOLDER_MODE = 0o750


def make_folder(path):
    try:
        os.makedirs(path, FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise RuntimeError(f"cannot make the folder '{path}': {error.strerror}; name a folder that "
                           "you may write into") from error
    return path


@contextlib.contextmanager
def whole_file(path):
    """A binary file to write, which replaces `path` when it is complete; after a failure `path`
    is unchanged."""
    try:
        with (temporary(path, FILE_MODE, synced=False) as (_, descriptor),
              os.fdopen(os.dup(descriptor), "wb") as file):
            yield file
    except OSError as error:
        raise RuntimeError(f"cannot write '{path}': {error.strerror}; check the output folder and "
                           "its free space") from error


def _write_text(file, array):
    array = np.atleast_1d(array)
    rows = array.reshape(-1, array.shape[-1]) if array.size else array.reshape(0, 1)
    form = "%f" if np.issubdtype(array.dtype, np.floating) else "%d"
    np.savetxt(file, rows, fmt=form)


_WRITERS = {
    "BIN": lambda file, array: file.write(np.ascontiguousarray(array).tobytes()),
    "NPY": lambda file, array: np.save(file, array, allow_pickle=False),
    "TXT": _write_text,
}


def write_array(stem, array, form):
    """Writes stem.bin, .npy or .txt; an existing file is replaced."""
    form = form if form in SUFFIX else "BIN"
    path = stem + SUFFIX[form]
    with whole_file(path) as file:
        _WRITERS[form](file, array)
    return path
