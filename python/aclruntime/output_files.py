# SPDX-License-Identifier: Apache-2.0
"""Outputs as files: BIN (raw bytes), NPY or TXT (a row of the last axis on each line)."""
import os

import numpy as np

SUFFIX = {"BIN": ".bin", "NPY": ".npy", "TXT": ".txt"}
FILE_MODE = 0o640
FOLDER_MODE = 0o750


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
    """Writes stem.bin, .npy or .txt whole or not at all; an existing file is replaced."""
    form = form if form in SUFFIX else "BIN"
    path = stem + SUFFIX[form]
    temporary = f"{path}.{os.getpid()}.part"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            _WRITERS[form](file, array)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise RuntimeError(f"cannot write '{path}': {error.strerror}; check the output folder and "
                           "its free space") from error
    return path
