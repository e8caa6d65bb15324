# SPDX-License-Identifier: Apache-2.0
"""Checks of what users pass: TypeError for the wrong type, ValueError for the wrong value."""
import os


class BadValue(ValueError, RuntimeError):
    """A value that is not allowed. Versions of the interface differ in which of the two they raise,
    and scripts catch either."""


def _int(name, value, least, most):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {type(value).__name__} ({value!r})")
    if not least <= value <= most:
        raise BadValue(f"{name} is {value}, it must be from {least} to {most}")
    return value


def device_id(value):
    return _int("device_id", value, 0, 255)


def loop(value):
    return _int("loop", value, 1, 100000)


def iteration_times(value):
    return _int("iteration_times", value, 1, 65536)


def model_path(value):
    return _path("model_path", value)


def acl_json_path(value):
    return None if value in (None, "") else _path("acl_json_path", value)


def _path(name, value):
    value = os.fspath(value)
    if not value:
        raise RuntimeError(f"{name} is empty; name a file")
    return value
