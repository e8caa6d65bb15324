# SPDX-License-Identifier: Apache-2.0
"""Findings that a project has decided to live with: lines `kind place`, both with * and ?.

    leak-stream     */third_party/loader.py:*
    unaligned-*     *                            # old code, see ticket 12
    ignored-error   *  cleanup                   # in this function
"""
import fnmatch
import os

from .. import paths

# Sessions of these packages keep their objects as long as the process lives; that is not a
# mistake of the program.
OUR_PACKAGES = tuple(os.path.join(paths.SITE, name, "") for name in ("aclruntime", "ais_bench"))


# Libraries of frameworks: their caching allocators, streams and probes live as long as the process.
FRAMEWORKS = ("libtorch_npu",)


class SuppressionError(Exception):
    """A line that cannot be read; the message names it."""


def read(path):
    rules = []
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SuppressionError(f"{path}: {error}; expected a text file") from error
    for number, line in enumerate(lines, start=1):
        cells = line.split("#")[0].split()
        if not cells:
            continue
        if len(cells) not in (2, 3):
            raise SuppressionError(f"{path}:{number}: '{line.strip()}' is not 'kind place' or "
                                   "'kind place function'")
        rules.append((*cells, "*")[:3])
    return rules


def is_ours(finding):
    """Objects that a package of ours or a framework left over, and what it asked in vain."""
    frames = next(iter(finding.places.values()), [])
    if not frames:
        return False
    if os.path.basename(frames[0].file).startswith(FRAMEWORKS):
        return finding.kind.startswith(("leak-", "not-", "ignored-error"))
    if not finding.kind.startswith(("leak-", "not-")):
        return False
    # set_env.sh leads to the packages through links.
    folder = os.path.realpath(os.path.dirname(os.path.abspath(frames[0].file)))
    return os.path.join(folder, "").startswith(OUR_PACKAGES)


def is_suppressed(finding, rules):
    """One of the frames of the finding's first place fits a rule of its kind."""
    frames = next(iter(finding.places.values()), [])
    for kind, place, function in rules:
        if not fnmatch.fnmatchcase(finding.kind, kind):
            continue
        if place == "*" and function == "*":
            return True
        if any(fnmatch.fnmatchcase(f"{frame.file}:{frame.line}", place)
               and fnmatch.fnmatchcase(frame.function, function) for frame in frames):
            return True
    return False
