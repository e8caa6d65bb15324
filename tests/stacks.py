# SPDX-License-Identifier: Apache-2.0
"""Prints the stacks of processes that run too long, and ends those that hang."""
import os
import shutil
import signal
import subprocess
import time


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def children(pid):
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def dump(pid, title):
    """Stacks of all threads: by gdb where it is installed, else what the kernel tells."""
    print(f"\n=== {title}, process {pid}: {read(f'/proc/{pid}/cmdline').replace(chr(0), ' ')}",
          flush=True)
    if shutil.which("gdb"):
        subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "set pagination off",
                        "-ex", "thread apply all bt 30"], stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=300, check=False)
        return
    for thread in sorted(os.listdir(f"/proc/{pid}/task")):
        base = f"/proc/{pid}/task/{thread}"
        print(f"thread {thread} {read(base + '/comm').strip()}: waits in "
              f"{read(base + '/wchan') or '?'}, system call {read(base + '/syscall').strip()}")
    print("(install gdb to see the stacks)", flush=True)


class Watch:
    """Dumps each direct child of a process once, when it has run for `limit` seconds."""

    def __init__(self, parent, limit):
        self.parent, self.limit = parent, limit
        self.seen, self.dumped = {}, set()

    def look(self):
        now = time.monotonic()
        alive = children(self.parent)
        self.seen = {pid: self.seen.get(pid, now) for pid in alive}
        for pid, since in self.seen.items():
            if now - since > self.limit and pid not in self.dumped:
                self.dumped.add(pid)
                dump(pid, f"test still running after {self.limit:.0f} s")


def wait_while_growing(process, log_path, quiet_limit):
    """Waits for a process whose log shows progress; dumps and ends it after a long silence."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.02)
        now_size = os.path.getsize(log_path)
        if now_size != size:
            size, since = now_size, time.monotonic()
        elif time.monotonic() - since > quiet_limit:
            dump(process.pid, f"no progress for {quiet_limit} s")
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
