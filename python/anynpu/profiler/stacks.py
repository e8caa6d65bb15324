# SPDX-License-Identifier: Apache-2.0
"""Python call stacks: each call of a function as a slice, on the clock of all other events."""
import sys
import threading
import time

MOST_CALLS = 1_000_000


class StackRecorder:
    def __init__(self):
        self.calls = []  # (thread, depth, begin, duration, code object)
        self.lost = 0
        self._local = threading.local()

    def _hook(self, frame, event, argument, now=time.monotonic_ns):
        local = self._local
        try:
            stack = local.stack
        except AttributeError:
            stack, local.thread = [], threading.get_native_id()
            local.stack = stack
        if event == "call":
            stack.append((frame.f_code, now()))
        elif event == "return" and stack:
            code, begin = stack.pop()
            if len(self.calls) < MOST_CALLS:
                self.calls.append((local.thread, len(stack), begin, now() - begin, code))
            else:
                self.lost += 1

    def start(self):
        threading.setprofile(self._hook)
        sys.setprofile(self._hook)

    def stop(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def rows(self):
        """(thread, depth, begin, duration, name), the recorder's own calls left out."""
        own = __file__
        for thread, depth, begin, duration, code in self.calls:
            if code.co_filename != own:
                name = f"{code.co_filename}({code.co_firstlineno}): {code.co_name}"
                yield thread, depth, begin, duration, name
