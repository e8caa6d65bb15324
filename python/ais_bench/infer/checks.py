# SPDX-License-Identifier: Apache-2.0
"""Checks of what users pass: TypeError for the wrong type, ValueError for the wrong value."""
import operator
import os


class BadValue(ValueError, RuntimeError):
    """A value that is not allowed. Versions of the interface differ in which of the two they raise,
    and scripts catch either."""


class BadType(TypeError, RuntimeError):
    """A value of a type that is not allowed; which of the two is raised differs as well."""


def _int(name, value, least, most):
    """An int, or an integer of numpy, which scripts take from arrays."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is an int, not {type(value).__name__} ({value!r})")
    value = operator.index(value)
    if not least <= value <= most:
        raise BadValue(f"{name} is {value}, it must be from {least} to {most}")
    return value


def device_id(value):
    return _int("device_id", value, 0, 255)


def loop(value):
    return _int("loop", value, 1, 100000)


def iteration_times(value):
    return _int("iteration_times", value, 1, 65536)


def out_array(value):
    if not isinstance(value, bool):
        raise BadType(f"out_array is a bool, not {type(value).__name__} ({value!r}); True copies "
                      "the outputs to the host, False leaves them on the device")
    return value


def a_list(name, value, holds, most=None):
    """A list or tuple with at most `most` entries."""
    if not isinstance(value, (list, tuple)):
        raise BadValue(f"{name} is a list {holds}, not {type(value).__name__}")
    if most is not None and len(value) > most:
        raise BadValue(f"{name} has {len(value)} entries, at most {most} are allowed")
    return value


def model_path(value):
    return _path("model_path", value)


def acl_json_path(value):
    return None if value in (None, "") else _path("acl_json_path", value)


def _path(name, value):
    if not isinstance(value, (str, os.PathLike)):
        raise BadType(f"{name} is the path of a file, not {type(value).__name__} ({value!r})")
    value = os.fspath(value)
    if not value:
        raise RuntimeError(f"{name} is empty; name a file")
    if not os.path.isfile(value):
        why = "is no file" if os.path.exists(value) else "does not exist"
        raise BadValue(f"[1][ACL: invalid parameter] {name} '{value}' {why}; check the path")
    return value
