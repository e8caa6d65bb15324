# SPDX-License-Identifier: Apache-2.0
"""The worker program: python -m ais_bench._worker FD. Executes the tasks that it receives
over the socket until the other side closes it."""
import os
import signal
import socket
import sys
import traceback

from ais_bench.infer.channel import Channel


class Tasks:
    def __init__(self, channel):
        self._channel = channel
        self._sessions = {}

    def _barrier(self):
        self._channel.send(("ready", None))
        self._channel.receive()  # go

    def run_device(self, args, folder, position, count):
        from ais_bench.infer.device_processes import run_device
        return run_device(args, folder, position, count, self._barrier)

    def session(self, method, options, arguments):
        """One call of an InferSession that stays open: (result, milliseconds)."""
        from ais_bench.infer.infer_session import InferSession
        from ais_bench.infer.multi_device import timed
        key = tuple(sorted(options.items()))
        if key not in self._sessions:
            self._sessions[key] = InferSession(**options)
        return timed(self._sessions[key], method, arguments)


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and closes the socket
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    tasks = Tasks(channel)
    try:
        while True:
            name, arguments = channel.receive()
            try:
                answer = ("result", getattr(tasks, name)(*arguments))
            except EOFError:
                raise
            except Exception:
                answer = ("error", traceback.format_exc())
            channel.send(answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.stdout.flush()
        os._exit(0)  # nobody waits for the rest


if __name__ == "__main__":
    main()
