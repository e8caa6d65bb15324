# SPDX-License-Identifier: Apache-2.0
"""The processes that wait for commands of msprof (src/prof/remote.h): found, started, stopped."""
from __future__ import annotations

import json
import os
import re
import select
import socket
import sys
import time

from anynpu.msprof.console import say

NAME = "anynpu-msprof-"
PAUSE = 0.02
PATIENCE = 30  # seconds for an answer: a stop writes what is left


class RemoteError(Exception):
    """A process that cannot be reached or refuses; the message says why and what to do."""


class Target:
    """One process."""

    def __init__(self, pid):
        self.pid = pid
        self.collecting = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        try:
            self._socket.connect(f"\0{NAME}{pid}")
            self._file = self._socket.makefile("r", encoding="utf-8")
            self._answer()
        except OSError as error:
            self.close()
            raise RemoteError(f"process {pid} does not wait for commands ({error.strerror}); start "
                              "it with PROFILING_MODE=dynamic and let it come to acl.init") \
                from error
        except RemoteError:
            self.close()
            raise

    def _answer(self):
        line = self._file.readline()
        if not line:
            raise RemoteError(f"process {self.pid} has ended")
        answer = json.loads(line)
        if not answer["ok"]:
            raise RemoteError(answer["message"])
        return answer["path"]

    def ask(self, **request):
        try:
            self._socket.sendall((json.dumps(request) + "\n").encode())
            return self._answer()
        except OSError as error:
            raise RemoteError(f"process {self.pid} does not answer: {error}") from error

    def gone(self):
        """Whether the other side has closed; nothing is sent without being asked for."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def close(self):
        self._socket.close()


class Group:
    """The processes of one collection. Those that come later join what is going on."""

    def __init__(self, own, config):
        self.own, self.config = own, config
        self.targets = {}
        self.collecting = False
        self._since = 0.0
        self._ended = set()

    def forget(self):
        for target in [t for t in self.targets.values() if t.gone()]:
            target.close()
            del self.targets[target.pid]

    def look(self):
        """Adds new processes and removes those that have ended."""
        self.forget()
        for pid in self.find():
            if pid in self.targets or pid in self._ended:
                continue
            try:
                self.targets[pid] = Target(pid)
            except RemoteError as error:
                if os.path.exists(f"/proc/{pid}"):
                    say("ERROR", str(error))
                self._ended.add(pid)
                continue
            if self.collecting:
                self._start_one(self.targets[pid])

    def seconds(self):
        """Since a process was started; 0 as long as there is none."""
        return time.monotonic() - self._since if self._since else 0.0

    def _start_one(self, target):
        try:
            target.ask(command="start", profiler=self.config)
            target.collecting = True
            self._since = self._since or time.monotonic()
            say("INFO", f"Process {target.pid} is being profiled.")
        except RemoteError as error:
            say("ERROR", str(error))

    def start(self):
        if self.collecting:
            say("ERROR", "The collection runs already; type stop first.")
            return
        self.collecting, self._since = True, 0.0
        for target in self.targets.values():
            self._start_one(target)
        if not self.targets:
            say("INFO", "No process has come to acl.init yet; the collection starts when one does.")

    def stop(self):
        if not self.collecting:
            say("ERROR", "No collection runs; type start first.")
            return
        self.collecting = False
        for target in self.targets.values():
            if not target.collecting:
                continue
            target.collecting = False
            try:
                target.ask(command="stop")
                say("INFO", f"Process {target.pid} is not profiled any more.")
            except RemoteError as error:
                say("ERROR", str(error))

    def close(self):
        self.forget()
        if self.collecting:
            self.stop()
        for target in self.targets.values():
            target.close()
        self.targets.clear()


class Launched(Group):
    """A program that msprof started, and the processes it starts: their environment names `own`."""

    def __init__(self, process, own, config):
        super().__init__(own, config)
        self._process, self._mark = process, own.encode()

    def find(self):
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
            pids = re.findall(rf"@{NAME}(\d+)$", file.read(), re.MULTILINE)
        for pid in map(int, pids):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self._mark in file.read():
                        yield pid
            except OSError:
                continue

    def alive(self):
        self.look()
        return self._process.poll() is None


class Attached(Group):
    """A process that ran before."""

    def __init__(self, pid, own, config):
        super().__init__(own, config)
        try:
            owner = os.stat(f"/proc/{pid}").st_uid
        except OSError as error:
            raise RemoteError(f"--pid={pid}: there is no such process") from error
        self.targets[pid] = Target(pid)
        if owner != os.geteuid():
            os.chown(own, owner, -1)

    def find(self):
        return ()

    def alive(self):
        self.look()
        return bool(self.targets)


def lines(group):
    """Lines of standard input as they come; ends with it, or with the last process."""
    pending = b""
    while group.alive():
        if not select.select([sys.stdin], [], [], PAUSE)[0]:
            continue
        data = os.read(sys.stdin.fileno(), 4096)
        if not data:
            return
        *whole, pending = (pending + data).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
