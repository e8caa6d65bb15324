# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of the acl API and refuses malformed rows.

src/api/libraries.tsv lists the libraries; each has a folder there with its api.tsv and, where its
functions take structs, structs.tsv.

docs/adding_an_api.md explains the columns and the small language of the `call` column.
"""
from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass, field

STATUSES = ("works", "refused", "later", "left out", "not a function")
BY_HAND = "by hand"
API = os.path.join(os.path.dirname(__file__), "..", "..", "src", "api")


def _needs_init():
    with open(os.path.join(API, "acl", "needs_init.def"), encoding="utf-8") as file:
        return tuple(re.findall(r'^NEEDS_INIT\("(\w+)"\)', file.read(), re.MULTILINE))


NEEDS_INIT = _needs_init()  # beginnings of C names
NOT_YET = "it is not available in this version of AnyNPU; docs/api_coverage.md lists what is"


class TableError(Exception):
    """A row that cannot be right; the message names the row."""


@dataclass(frozen=True)
class Library:
    """A shared library of the acl API: lib<name>.so, made from src/api/<folder>."""

    folder: str  # the path
    name: str
    headers: tuple[str, ...]

    @property
    def table(self):
        return os.path.join(self.folder, "api.tsv")


@dataclass(frozen=True)
class Value:
    """An argument or a returned value: its Python name and its kind (see kinds.py)."""

    name: str
    kind: str
    optional: bool = False  # None is accepted and becomes NULL
    default: str | None = None  # the argument may be left out


@dataclass(frozen=True)
class Parameter:
    """A parameter of the C function."""

    type: str
    name: str


@dataclass(frozen=True)
class Row:
    python: str  # "acl.rt.malloc", or "-" for a function that pyACL does not have
    arguments: tuple[Value, ...]
    returns: tuple[Value, ...]
    c_function: str
    c_signature: str
    call: tuple[str, ...]
    by_hand: bool
    blocks: bool
    any_time: bool  # also after aclFinalize
    in_guide: bool
    status: str
    reason: str
    notes: str

    @property
    def needs_init(self):
        return not self.any_time and self.c_function.startswith(NEEDS_INIT)

    @property
    def in_python(self):
        return self.python != "-" and self.status != "not a function"

    @property
    def module(self):
        """"" for acl itself, "rt" for acl.rt."""
        parts = self.python.split(".")
        return parts[1] if len(parts) == 3 else ""

    @property
    def short_name(self):
        return self.python.rsplit(".", 1)[-1]

    @property
    def c_return(self):
        return self.c_signature.split(self.c_function + "(", 1)[0].strip()

    @property
    def c_parameters(self):
        inside = self.c_signature.split(self.c_function + "(", 1)[1].rsplit(")", 1)[0]
        return tuple(_parameter(p) for p in split_commas(inside) if p != "void")


@dataclass
class Struct:
    name: str
    kind: str  # struct or union
    direction: str  # in (dict to C), out (C to dict) or both
    fields: list = field(default_factory=list)


@dataclass(frozen=True)
class Field:
    name: str
    type: str  # the C type; bytes[n] is a char array that is no text
    count: str  # the field that says how many items are valid, or ""
    when: str = ""  # what selects a member of a union: "type=HI_PT_H264"


def split_commas(text):
    """Splits at commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return parts + [current.strip()] if current.strip() else parts


def _parameter(text):
    pointer = re.fullmatch(r"(.*\(\*)(\w+)(\)\(.*)", text)  # a pointer to a function
    if pointer:
        return Parameter(pointer[1] + pointer[3], pointer[2])
    if text == "...":
        return Parameter("...", "")
    plain = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", text)
    return Parameter(plain[1].strip() + plain[3], plain[2])


def _value(text, where):
    match = re.fullmatch(r"(\w+)(?:: ([\w \[\]]+?)(\?)?)?(?: = (\w+))?", text)
    if not match:
        raise TableError(f"{where}: '{text}' is not 'name: kind'")
    kind = match[2] or ("ret" if match[1] == "ret" else "")
    if not kind:
        raise TableError(f"{where}: '{match[1]}' has no kind")
    return Value(match[1], kind, bool(match[3]), match[4])


def _yes(text, where):
    if text not in ("y", "n"):
        raise TableError(f"{where}: '{text}' is neither y nor n")
    return text == "y"


def _row(cells, where):
    if len(cells) != 12:
        raise TableError(f"{where}: {len(cells)} columns, expected 12")
    (python, arguments, returns, c_function, c_signature, call, blocks, any_time, in_guide,
     status, reason, notes) = cells
    where = f"{where} ({python if python != '-' else c_function})"
    if status not in STATUSES:
        raise TableError(f"{where}: status '{status}' is none of {', '.join(STATUSES)}")
    if status == "not a function":
        blocks = any_time = "n"
    if status in ("refused", "left out") and not reason:
        raise TableError(f"{where}: '{status}' needs a reason")
    if status == "left out" and (python != "-" or c_signature):
        raise TableError(f"{where}: only C functions without a signature are left out")
    returned = "" if returns == "None" else returns
    return Row(
        python=python,
        arguments=tuple(_value(a, where) for a in split_commas(arguments)),
        returns=tuple(_value(r, where) for r in split_commas(returned)),
        c_function=c_function,
        c_signature=c_signature,
        call=() if call == BY_HAND else tuple(split_commas(call)),
        by_hand=call == BY_HAND,
        blocks=_yes(blocks, where),
        any_time=_yes(any_time, where),
        in_guide=_yes(in_guide, where),
        status=status,
        reason=reason or NOT_YET,
        notes=notes,
    )


def _lines(path):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(reader)
        for number, cells in enumerate(reader, start=2):
            yield f"{path}:{number}", cells


def read_libraries(folder):
    """The libraries listed in <folder>/libraries.tsv."""
    libraries = []
    for where, cells in _lines(os.path.join(folder, "libraries.tsv")):
        if len(cells) != 3:
            raise TableError(f"{where}: {len(cells)} columns, expected 3")
        libraries.append(Library(os.path.join(folder, cells[0]), cells[1], tuple(cells[2].split())))
    return libraries


def read_api(libraries):
    """All rows, in the order of the libraries and of their files."""
    rows = [_row(cells, where) for library in libraries for where, cells in _lines(library.table)]
    seen, signatures = set(), {}
    for row in rows:
        if row.in_python and row.python in seen:
            raise TableError(f"{row.python}: listed twice")
        seen.add(row.python)
        if row.c_function:
            first = signatures.setdefault(row.c_function, row)
            if (first.c_signature, first.status) != (row.c_signature, row.status):
                raise TableError(f"{row.python}: another row gives {row.c_function} another "
                                 "C signature or status")
    return rows


def read_structs(libraries):
    """Structs by name, each after the ones it contains."""
    paths = [os.path.join(library.folder, "structs.tsv") for library in libraries]
    structs = {}
    for where, cells in (line for p in paths if os.path.exists(p) for line in _lines(p)):
        if len(cells) not in (6, 7):
            raise TableError(f"{where}: {len(cells)} columns, expected 6 or 7")
        name, kind, direction = cells[:3]
        struct = structs.setdefault(name, Struct(name, kind, direction))
        struct.fields.append(Field(*cells[3:]))
    return structs


def c_functions(rows):
    """One row per C function, sorted by its name."""
    unique = {row.c_function: row for row in rows if row.c_function and row.c_signature}
    return [unique[name] for name in sorted(unique)]
