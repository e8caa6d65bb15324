# SPDX-License-Identifier: Apache-2.0
"""A worker: the program ais_bench._worker as a child process, which executes one task after
another. A new program, not a fork: the parent may hold sessions and threads, and its script runs
once."""
import os
import select
import signal
import socket
import subprocess
import sys

from ais_bench.infer.channel import Channel


class WorkerError(RuntimeError):
    """A task failed in a worker; the text has the worker's traceback."""


class WorkerDied(WorkerError):
    """The worker ended before it answered."""


def _environment():
    """The child finds this package first, wherever the parent has it from."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    places = [package, *(place for place in sys.path if place)]
    return dict(os.environ, PYTHONPATH=os.pathsep.join(dict.fromkeys(places)))


class Worker:
    def __init__(self, name):
        self.name = name
        self._ready = None
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ais_bench._worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=_environment())
        self._channel = Channel(ours)

    @property
    def pid(self):
        return self._process.pid

    def alive(self):
        return self._process.poll() is None

    def send(self, task, arguments):
        try:
            self._channel.send((task, arguments))
        except OSError:
            raise self._died() from None

    def poll(self, seconds):
        """Waits for the worker to say that it is ready, or anything else."""
        if self._ready is None and select.select([self._channel], [], [], seconds)[0]:
            try:
                self._ready = self._channel.receive()
            except EOFError:
                self._ready = ("died", None)

    def go(self):
        """Starts a worker that waits until all are ready."""
        if self._ready in (None, ("ready", None)):
            self._ready = None
            try:
                self._channel.send(("go", ()))
            except OSError:
                pass  # answer() will say that it died

    def answer(self):
        """The result of the task; raises what went wrong in the worker."""
        while True:
            try:
                kind, value = self._ready or self._channel.receive()
            except EOFError:
                raise self._died() from None
            self._ready = None
            if kind == "died":
                raise self._died()
            if kind == "error":
                raise WorkerError(f"{self.name}: a task failed in its worker process "
                                  f"{self.pid}\n{value}")
            if kind == "result":
                return value

    def _died(self):
        code = self._process.wait()
        how = f"exit status {code}"
        if code < 0:
            how = f"signal {-code} ({signal.Signals(-code).name})"
        return WorkerDied(f"{self.name}: the worker process {self.pid} ended by {how} before it "
                          "answered; its result is lost, the next call starts a new one")

    def close(self):
        """Ends the worker: it goes when it has no task, and is killed when it has one still after
        two seconds, or is stopped."""
        self._channel.close()
        if self.alive():
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
