# SPDX-License-Identifier: Apache-2.0
"""What a program compiled against the vendor's headers takes for granted, as assertions.

tests/data/c_api has four tables of facts: functions, structs with the place of each field, enums
and type names, each row with the header that it belongs to. `source(header)` is a C++ file that
includes this one header and asserts all rows of it.
"""
import functools
import os
import re

import build_tree

TABLES = ("functions", "structs", "enums", "typedefs")
FOLDER = os.path.join(build_tree.DATA, "c_api")
TAGGED = re.compile(r"(struct|enum|union) (\w+)")
NO_NAME = re.compile(r"\(anonymous \w+ \d+\)")


@functools.cache
def rows(table):
    """The rows of a table as dictionaries."""
    with open(os.path.join(FOLDER, f"{table}.tsv"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def headers():
    """All headers that the tables name."""
    return sorted({row["header"] for table in TABLES for row in rows(table)})


def split_parameters(text):
    """The types of "int a, void (*)(int, int) b", without the names."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [re.sub(r"\s*\b\w+$", "", part) for part in parts if part]


def function_type(row):
    parameters = split_parameters(row["parameters"])
    if row["parameters"].endswith(" fmt"):  # the table leaves out what follows a format
        parameters.append("...")
    return f'{row["returns"]}({", ".join(parameters)})'


def function_assertion(row):
    return same(f'decltype({row["function"]})', function_type(row), row["function"])


def enum_assertion(row):
    return f'static_assert((long long){row["constant"]} == {row["value"]}LL, "{row["constant"]}");'


def typedef_assertion(row):
    name, tag = row["name"], TAGGED.fullmatch(row["is"])
    if not tag:
        return same(name, row["is"], name)
    if tag[2] != name:
        return same(name, row["is"], name)
    kind = {"struct": "class"}.get(tag[1], tag[1])
    return f'static_assert(std::is_{kind}_v<{name}>, "{name}");'


def struct_assertions(row):
    """A field of a union without a name is a field of the struct around it; one of a type without
    a name is reached through the member that has this type."""
    struct, field, offset = row["struct"], row["field"], int(row["offset"])
    if NO_NAME.search(field):
        return
    if NO_NAME.search(struct):
        outer, _, union = struct.rpartition("::")
        around = next(at for at in rows("structs") if at["struct"] == outer
                      and (at["field"] == struct or at["type"].endswith(union)))
        struct, offset = outer, offset + int(around["offset"])
        field = field if NO_NAME.search(around["field"]) else f'{around["field"]}.{field}'
    else:
        yield f'static_assert(sizeof({struct}) == {row["size"]}, "size of {struct}");'
    what = f"{struct}::{field}"
    yield f'static_assert(offsetof({struct}, {field}) == {offset}, "offset of {what}");'
    member = f"(({struct}*)nullptr)->{field}"
    yield f'static_assert(sizeof({member}) == {row["field_size"]}, "size of {what}");'
    if not NO_NAME.search(row["type"]):
        kind = type_inside(struct, row["type"])
        yield same(f"std::remove_reference_t<decltype(({member}))>", kind, f"type of {what}")


def type_inside(struct, name):
    """A union that is declared in the struct is named through it."""
    inner = f"{struct}::{name.removeprefix('union ')}"
    return inner if any(row["struct"] == inner for row in rows("structs")) else name


def same(left, right, text):
    return f'static_assert(std::is_same_v<{left}, {right}>, "{text}");'


def assertions(header):
    """All assertions about a header, without repetitions."""
    lines = {}
    for row in rows("typedefs"):
        if row["header"] == header:
            lines[typedef_assertion(row)] = None
    for row in rows("enums"):
        if row["header"] == header:
            lines[enum_assertion(row)] = None
    for row in rows("structs"):
        if row["header"] == header:
            lines.update(dict.fromkeys(struct_assertions(row)))
    for row in rows("functions"):
        if row["header"] == header:
            lines[function_assertion(row)] = None
    return list(lines)


def source(header):
    return "\n".join([f'#include "{header}"', "#include <cstddef>", "#include <type_traits>",
                      *assertions(header), ""])
