# SPDX-License-Identifier: Apache-2.0
"""Where the parts of AnyNPU lie: in an installed package, or in a build folder.

An installed package holds its libraries, headers and programs inside `anynpu/`. A build folder has
them beside `python/`, where this package is a folder of links to the sources.
"""
import os

# The folder's real path: set_env.sh leads here through a link, and both must be the same place.
# (Not the file's: in a build folder the files are links to the sources.)
PACKAGE = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))
SITE = os.path.dirname(PACKAGE)  # what PYTHONPATH needs for `import acl`


def _either(*candidates):
    """The first folder that exists; the first one when none does, for messages."""
    for path in candidates:
        if os.path.isdir(path):
            return path
    return candidates[0]


def library_folder():
    return _either(os.path.join(PACKAGE, "lib"), os.path.join(os.path.dirname(SITE), "lib"))


def program_folder():
    return _either(os.path.join(PACKAGE, "bin"), os.path.join(os.path.dirname(SITE), "bin"))


def include_folder():
    return _either(os.path.join(PACKAGE, "include"), os.path.join(os.path.dirname(SITE), "include"))


def library():
    return os.path.join(library_folder(), "libanynpu.so")


def cache_folder():
    """As src/base/env.h states it: ASCEND_CACHE_PATH, else the user's cache folder."""
    path = os.environ.get("ASCEND_CACHE_PATH")
    if path:
        return path
    base = os.environ.get("XDG_CACHE_HOME") or \
        os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "anynpu")


def log_folder():
    """As src/base/env.h states it; None: log lines go nowhere."""
    path = os.environ.get("ASCEND_PROCESS_LOG_PATH")
    if path:
        return path
    work = os.environ.get("ASCEND_WORK_PATH")
    return os.path.join(work, "log") if work else None
