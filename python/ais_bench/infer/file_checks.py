# SPDX-License-Identifier: Apache-2.0
"""Whether a file is safe to read and a folder safe to write; the message says what is wrong."""
import os
import re
import stat

_CHARACTERS = re.compile(r"[_A-Za-z0-9/.-]+")
_GROUP_OTHER_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHER_READ_RUN = stat.S_IROTH | stat.S_IXOTH


class UnsafePath(ValueError):
    pass


def _refuse(path, sentence):
    raise UnsafePath(f"'{path}' {sentence}")


def check_name(path):
    """Characters and lengths of a path."""
    if not path:
        raise UnsafePath("the path is empty; name a file")
    if not _CHARACTERS.fullmatch(path):
        _refuse(path, "has characters outside letters, digits and _ / . -; rename it")
    if len(path) > 4096 or any(len(part) > 255 for part in path.split("/")):
        _refuse(path, "is longer than 4096 characters, or a part of it longer than 255")
    return path


def _check_owner(path, facts):
    groups = set(os.getgroups()) | {os.getegid()}
    if os.geteuid() != 0 and facts.st_uid != os.geteuid() and facts.st_gid not in groups:
        _refuse(path, f"belongs to user {facts.st_uid}, not to you or one of your groups")


def _facts(path, link_ok=False):
    check_name(path)
    if os.path.islink(path) and not link_ok:
        _refuse(path, "is a soft link; name the file itself")
    try:
        return os.stat(path)
    except OSError as error:
        _refuse(path, f"cannot be used: {error.strerror}; check the path")


def readable(path, suffix=None, largest=None):
    """A file or folder that may be read."""
    facts = _facts(path)
    _check_owner(path, facts)
    if facts.st_mode & _GROUP_OTHER_WRITE:
        _refuse(path, f"can be written by group or others (mode {facts.st_mode & 0o777:o}); "
                      "take that away with chmod go-w")
    if not os.access(path, os.R_OK):
        _refuse(path, "cannot be read by you")
    if suffix is not None:
        if not stat.S_ISREG(facts.st_mode):
            _refuse(path, f"is no file; a {suffix} file is needed")
        if not path.endswith(suffix):
            _refuse(path, f"does not end in {suffix}")
    if largest is not None and facts.st_size > largest:
        _refuse(path, f"has {facts.st_size} bytes, at most {largest} are allowed")
    return path


def output_folder(path):
    """A folder to write into, or one that can be made."""
    check_name(path)
    if not os.path.lexists(path):
        return path
    facts = _facts(path)
    if not stat.S_ISDIR(facts.st_mode):
        _refuse(path, "is no folder")
    _check_owner(path, facts)
    if facts.st_mode & (_GROUP_OTHER_WRITE | _OTHER_READ_RUN):
        _refuse(path, f"has mode {facts.st_mode & 0o777:o}, at most 750 is allowed; chmod 750 it "
                      "or name a folder that does not exist yet")
    if not os.access(path, os.W_OK | os.X_OK):
        _refuse(path, "cannot be written by you")
    return path
