# SPDX-License-Identifier: Apache-2.0
"""The lines of the command: "[LEVEL] text" on stdout."""
import logging
import sys

logger = logging.getLogger("ais_bench")


class _Stdout(logging.StreamHandler):
    """Follows sys.stdout wherever it points, in order with what the extension prints."""

    def __init__(self):
        super().__init__(sys.stdout)

    @property
    def stream(self):
        return sys.stdout

    @stream.setter
    def stream(self, value):
        pass


if not logger.handlers:
    _handler = _Stdout()
    _handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    logger.addHandler(_handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def set_debug(on):
    logger.setLevel(logging.DEBUG if on else logging.INFO)
