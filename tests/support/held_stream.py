# SPDX-License-Identifier: Apache-2.0
"""A stream that tests can hold: everything submitted after `HeldStream.hold()` stays queued until
`open()`, without sleeping. It is a blocking callback that waits."""
import threading
import time

import acl

PATIENCE = 1.0  # seconds after which destroying a held stream drops its work


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
            self._opened.wait()

        assert acl.rt.launch_callback(wait, None, 1, self.handle) == 0
        started.wait()
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


def opened_during(held, destroy, handle):
    """Destroys a stream or context and opens the held stream meanwhile. Whether that was in time:
    on a busy machine the thread that opens may run after the destruction has lost its patience."""
    threading.Timer(0.02, held.open).start()
    begin = time.monotonic()
    assert destroy(handle) == 0
    return time.monotonic() - begin < PATIENCE
