# SPDX-License-Identifier: Apache-2.0
"""mstx: marks and ranges of the program. Nothing happens unless a profile with mstx runs."""
import ctypes
import logging

from anynpu.profiler.core import library

log = logging.getLogger("anynpu.profiler")


def _text(value, what):
    if isinstance(value, str) and value and "\0" not in value:
        return value.encode("utf-8", "replace")[:127]
    log.warning("mstx: %s is %r, expected a text that is not empty; nothing is marked", what, value)
    return None


class mstx:  # noqa: N801 (the documented name)
    enable = True
    _domains = (None, None)  # included, excluded

    @classmethod
    def _wanted(cls, domain):
        included, excluded = cls._domains
        return domain in included if included else domain not in (excluded or ())

    @classmethod
    def mark(cls, message, stream=None, domain="default"):
        """With a stream (its handle), the mark also passes through it."""
        message, name = _text(message, "message"), _text(domain, "domain")
        if not message or not name or not cls._wanted(domain):
            return
        if stream is None:
            library().anynpu_prof_mark(message, name)
        elif isinstance(stream, int) and stream > 0:
            reason = ctypes.create_string_buffer(1024)
            if library().anynpu_prof_mark_ex(message, name, stream, reason, len(reason)) != 0:
                log.warning("mstx: nothing is marked: %s", reason.value.decode())
        else:
            log.warning("mstx: stream is %r, expected the handle of a stream; nothing is marked",
                        stream)

    @classmethod
    def range_start(cls, message, stream=None, domain="default"):
        """The number for range_end; 0 when nothing is recorded. Ranges are of the host: a stream
        can be given and adds nothing."""
        message, name = _text(message, "message"), _text(domain, "domain")
        if message and name and cls._wanted(domain):
            return library().anynpu_prof_range_start(message, name)
        return 0

    @classmethod
    def range_end(cls, range_id, domain="default"):
        if isinstance(range_id, int) and range_id > 0:
            library().anynpu_prof_range_stop(range_id)
