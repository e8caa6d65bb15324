# SPDX-License-Identifier: Apache-2.0
"""The table of the acl API for tests, and arguments that pass every check of the bindings."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GENERATOR = os.path.join(ROOT, "tools", "gen_pyacl")
sys.path.insert(0, GENERATOR)

import table  # noqa: E402

LIBRARIES = table.read_libraries(os.path.join(ROOT, "src", "api"))
ROWS = table.read_api(LIBRARIES)

PYTHON_ROWS = [row for row in ROWS if row.in_python]


def find(name):
    """The function of a dotted name such as acl.rt.malloc."""
    import acl

    target = acl
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    return target


def plain_argument(kind):
    """A value of the right type that names nothing: no handle, no address, no items."""
    if kind in ("str",):
        return ""
    if kind in ("callable",):
        return lambda *arguments: 0
    if kind.startswith(("acl", "hi_")) or kind.endswith("aclrtStreamAttrValue"):
        return {}
    if "list" in kind or kind in ("object", "shape"):
        return []
    if kind == "bytes":
        return b""
    if kind in ("f32", "f64"):
        return 0.0
    return 0


def plain_arguments(row):
    return [plain_argument(argument.kind) for argument in row.arguments]


def needed_arguments(row, position=0):
    """Those that may not be left out, and all up to the one at `position`: some functions read
    their arguments in another way when more of them are given."""
    least = sum(1 for a in row.arguments if not a.default)
    return plain_arguments(row)[: max(least, position + 1)]
