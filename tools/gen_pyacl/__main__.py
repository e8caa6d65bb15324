# SPDX-License-Identifier: Apache-2.0
"""Generates what follows from the tables of the acl API. Run by CMake; by hand for the docs page.

    python3 tools/gen_pyacl refusals LIBRARY OUT.cpp   C functions for rows that do not work yet
    python3 tools/gen_pyacl map LIBRARY OUT.map        the version script of the library
    python3 tools/gen_pyacl filter OF PREFIXES OUT.c   the symbols of a library that filters another
    python3 tools/gen_pyacl intercept OUT.cpp          the functions of libanynpu_check.so
    python3 tools/gen_pyacl wrappers FOLDER            the Python wrappers, one file per module
    python3 tools/gen_pyacl files                      the names of those files, one per line
    python3 tools/gen_pyacl stubs FOLDER               type stubs for editors, one file per module
    python3 tools/gen_pyacl docs [OUT.md]              docs/api_coverage.md
    python3 tools/gen_pyacl sync                       status columns from the sources, then docs

A file is rewritten only when its text changes, so that touching the table rebuilds little.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coverage_page  # noqa: E402
import intercept  # noqa: E402
import refusals  # noqa: E402
import structs as struct_code  # noqa: E402
import stubs  # noqa: E402
import sync  # noqa: E402
import table  # noqa: E402
import wrappers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
API = os.path.join(ROOT, "src", "api")
COMMANDS = ("refusals", "map", "filter", "intercept", "wrappers", "files", "stubs", "docs", "sync")
NOTE = "// Generated from src/api/*/api.tsv by tools/gen_pyacl; do not edit."


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
    libraries = table.read_libraries(API)
    if command == "sync":
        for library in libraries:
            print("\n".join(sync.sync_status(library.table, library.folder)))
    rows = table.read_api(libraries)
    if command in ("refusals", "map"):
        library = next(lib for lib in libraries if lib.name == rest[0])
        mine = table.read_api([library])
        write(rest[1], [NOTE, *refusals.emit_refusals(mine, library.headers)]
              if command == "refusals" else refusals.emit_version_script(mine))
    elif command == "filter":
        behind = [library for library in libraries if library.name == rest[0]]
        write(rest[2], [NOTE, *refusals.emit_filter(table.read_api(behind), rest[1].split())])
    elif command == "intercept":
        write(rest[0], [NOTE, *intercept.emit_intercept(libraries, table.read_api, ROOT)])
    elif command == "files":
        names = [wrapper_file(m) for m in wrappers.modules(rows)]
        print("\n".join(["wrappers.h", "structs.cpp", *names]))
    elif command == "stubs":
        for module in wrappers.modules(rows):
            name = f"{module or '__init__'}.pyi"
            write(os.path.join(rest[0], name), ["#" + NOTE[2:], *stubs.emit_stubs(rows, module)])
    elif command == "wrappers":
        structs = table.read_structs(libraries)
        headers = [header for library in libraries for header in library.headers]
        write(os.path.join(rest[0], "wrappers.h"),
              [NOTE, *wrappers.emit_header(rows, structs, headers)])
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
