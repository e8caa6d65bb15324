# SPDX-License-Identifier: Apache-2.0
"""A stream that tests can hold: everything submitted after `HeldStream.hold()` stays queued until
`open()`, without sleeping. It is a blocking callback that waits."""
import threading

import acl


class HeldStream:
    def __init__(self, handle=None):
        self.handle = handle if handle is not None else acl.rt.create_stream()[0]
        self._opened = threading.Event()
        self._ended = False
        self.thread, ret = acl.util.start_thread(self._serve, None)
        assert ret == 0
        assert acl.rt.subscribe_report(self.thread, self.handle) == 0

    def _serve(self, _):
        while not self._ended:
            acl.rt.process_report(10)

    def hold(self):
        self._opened.clear()
        started = threading.Event()

        def wait(_):
            started.set()
            self._opened.wait(30)

        assert acl.rt.launch_callback(wait, None, 1, self.handle) == 0
        assert started.wait(30)
        return self

    def open(self):
        self._opened.set()

    def __enter__(self):
        return self.hold()

    def __exit__(self, *_):
        self.open()
        acl.rt.synchronize_stream(self.handle)
        acl.rt.unsubscribe_report(self.thread, self.handle)
        self._ended = True
        assert acl.util.stop_thread(self.thread) == 0
        acl.rt.destroy_stream(self.handle)  # may be destroyed by the test
