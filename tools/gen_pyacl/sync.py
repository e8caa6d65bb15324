# SPDX-License-Identifier: Apache-2.0
"""Sets the status column from the sources: a C function defined in the library's folder works."""
import glob
import os
import re

# A definition starts in the first column; namespaces and lambdas do not look like this.
DEFINITION = re.compile(
    r'^(?:extern "C" )?[A-Za-z][\w ]*[ *&]+((?:acl|hi_|rt|hal|Msprof|Hccl)\w+)'
    r"\([^;{}]*\)\s*(?:noexcept\s*)?\{", re.M)
# Or is a row of functions of one shape: FIELD(aclxxSetOne, aclxxGetOne, ...).
PAIR = re.compile(r"^[A-Z_]+\(((?:acl|hi_|rt|hal|Msprof|Hccl)\w+),\s*((?:acl|hi_)\w+),", re.M)


def defined_functions(folder):
    names = set()
    for path in glob.glob(os.path.join(folder, "*.cpp")):
        if not path.endswith("_test.cpp"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            names.update(DEFINITION.findall(text))
            names.update(name for pair in PAIR.findall(text) for name in pair)
    return names


def sync_status(table_path, folder):
    """Rewrites the table; returns lines that say what changed."""
    defined = defined_functions(folder)
    with open(table_path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    changes = []
    for i, line in enumerate(lines[1:], start=1):
        cells = line.split("\t")
        name, status = cells[3], cells[9]
        if not name:
            continue
        wanted = "works" if name in defined else ("later" if status == "works" else status)
        if wanted != status:
            cells[9] = wanted
            if wanted == "works":
                cells[10] = ""
            lines[i] = "\t".join(cells)
            changes.append(f"{name}: {status} -> {wanted}")
    with open(table_path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return changes
