# SPDX-License-Identifier: Apache-2.0
"""tensorboard_trace_handler: where profiles go, and analysing them when they are complete. In spite
of its name it writes no files of TensorBoard, as documented."""
import contextlib
import logging
import os
import socket

log = logging.getLogger("anynpu.profiler")


class _Place:
    """The output folder and the worker's name, for the whole process."""

    folder = "./data"
    worker = None
    last = None  # the directory that was completed last


def place():
    return os.path.abspath(_Place.folder)


def worker():
    return _Place.worker or socket.gethostname() or "worker"


def completed(path):
    _Place.last = path


def last():
    """The directory that was completed last, or None."""
    return _Place.last


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True,
                              async_mode=False):
    """A function without arguments for on_trace_ready. Make it before the profile object."""
    if dir_name is not None and not isinstance(dir_name, str):
        log.warning("dir_name is %r, expected a text; './data' is taken", dir_name)
        dir_name = None
    if worker_name is not None and not (isinstance(worker_name, str) and len(worker_name) < 226):
        log.warning("worker_name is %r, expected a text of less than 226 characters; the host's "
                    "name is taken", worker_name)
        worker_name = None
    _Place.folder, _Place.worker = dir_name or "./data", worker_name
    with contextlib.suppress(OSError):  # which the profile tells, when it is to write there
        os.makedirs(place(), exist_ok=True)

    def handle():
        if not analyse_flag or not last():
            return
        from anynpu.profiler.analysis import analyse_or_tell
        analyse_or_tell(last(), in_background=async_mode)

    return handle
