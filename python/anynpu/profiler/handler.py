# SPDX-License-Identifier: Apache-2.0
"""tensorboard_trace_handler: where profiles go, and analysing them when they are complete. In spite
of its name it writes no files of TensorBoard, as documented."""
import contextlib
import logging
import os
import socket

log = logging.getLogger("anynpu.profiler")


class Place:
    """The output folder and the worker's name of a profile."""

    def __init__(self, folder=None, worker=None):
        self.folder, self._worker = folder or "./data", worker

    @property
    def path(self):
        return os.path.abspath(self.folder)

    @property
    def worker(self):
        return self._worker or socket.gethostname() or "worker"


class _Process:
    chosen = None  # by a handler that no profile object has as its own
    last = None  # the directory that was completed last


def take_place(on_trace_ready):
    """Where a new profile object writes: what its own handler says, else the last handler that no
    profile object has as its own, else ./data."""
    own = getattr(on_trace_ready, "place", None)
    if own is not None and _Process.chosen is own:
        forget_choice()  # it is not for later profile objects
    return own or _Process.chosen or Place()


def forget_choice():
    _Process.chosen = None


def completed(path):
    _Process.last = path


def last():
    """The directory that was completed last, or None."""
    return _Process.last


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
    _Process.chosen = Place(dir_name, worker_name)
    with contextlib.suppress(OSError):  # which the profile tells, when it is to write there
        os.makedirs(_Process.chosen.path, exist_ok=True)

    def handle():
        if not analyse_flag or not last():
            return
        from anynpu.profiler.analysis import analyse_or_tell
        analyse_or_tell(last(), in_background=async_mode)

    handle.place = _Process.chosen
    return handle
