# SPDX-License-Identifier: Apache-2.0
"""Generates what follows from the table of the acl API. Run by CMake; by hand for the docs page.

    python3 tools/gen_pyacl refusals OUT.cpp    C functions for rows that do not work yet
    python3 tools/gen_pyacl map OUT.map         the version script of libascendcl.so
    python3 tools/gen_pyacl wrappers FOLDER     the Python wrappers, one file per module
    python3 tools/gen_pyacl files               the names of those files, one per line
    python3 tools/gen_pyacl stubs FOLDER        type stubs for editors, one file per module
    python3 tools/gen_pyacl docs [OUT.md]       docs/api_coverage.md
    python3 tools/gen_pyacl sync                status column from src/api/acl/*.cpp, then the docs

A file is rewritten only when its text changes, so that touching the table rebuilds little.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coverage_page  # noqa: E402
import refusals  # noqa: E402
import structs as struct_code  # noqa: E402
import stubs  # noqa: E402
import sync  # noqa: E402
import table  # noqa: E402
import wrappers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
API = os.path.join(ROOT, "src", "api", "acl", "api.tsv")
STRUCTS = os.path.join(ROOT, "src", "api", "acl", "structs.tsv")
COMMANDS = ("refusals", "map", "wrappers", "files", "stubs", "docs", "sync")
NOTE = "// Generated from src/api/acl/api.tsv by tools/gen_pyacl; do not edit."


def write(path, lines):
    text = "\n".join(lines).rstrip("\n") + "\n"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def wrapper_file(module):
    return f"wrappers_{module or 'acl'}.cpp"


def main(arguments):
    if not arguments or arguments[0] not in COMMANDS:
        sys.exit(__doc__)
    command, *rest = arguments
    if command == "sync":
        print("\n".join(sync.sync_status(API, os.path.dirname(API))))
    rows = table.read_api(API)
    if command == "refusals":
        write(rest[0], [NOTE, *refusals.emit_refusals(rows)])
    elif command == "map":
        write(rest[0], refusals.emit_version_script(rows))
    elif command == "files":
        names = [wrapper_file(m) for m in wrappers.modules(rows)]
        print("\n".join(["wrappers.h", "structs.cpp", *names]))
    elif command == "stubs":
        for module in wrappers.modules(rows):
            name = f"{module or '__init__'}.pyi"
            write(os.path.join(rest[0], name), ["#" + NOTE[2:], *stubs.emit_stubs(rows, module)])
    elif command == "wrappers":
        structs = table.read_structs(STRUCTS)
        write(os.path.join(rest[0], "wrappers.h"), [NOTE, *wrappers.emit_header(rows, structs)])
        write(os.path.join(rest[0], "structs.cpp"), [NOTE, *struct_code.emit_conversions(structs)])
        for module in wrappers.modules(rows):
            lines = [NOTE, *wrappers.emit_module(rows, module)]
            write(os.path.join(rest[0], wrapper_file(module)), lines)
    else:
        page = rest[0] if rest else os.path.join(ROOT, "docs", "api_coverage.md")
        write(page, coverage_page.emit_coverage(rows))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except table.TableError as error:
        sys.exit(f"gen_pyacl: {error}")
