# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all."""
import contextlib
import os


@contextlib.contextmanager
def whole(path):
    """A path to write to, which becomes `path` at the end; what a failure leaves is removed."""
    partial = f"{path}.partial"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)
        yield partial
        os.replace(partial, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(partial)
        if isinstance(error, OSError) and error.errno:
            raise OSError(f"'{path}' cannot be written: {error.strerror}; check the folder and "
                          "the free space of its disk") from error
        raise


def explained(error):
    """A failure of the file system as a sentence that says where and what to do."""
    if isinstance(error, OSError) and error.errno and error.filename:
        return (f"'{error.filename}' cannot be used: {error.strerror}; check the path, its rights "
                "and the free space of its disk")
    return str(error)


def write_whole(path, text):
    with whole(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path
