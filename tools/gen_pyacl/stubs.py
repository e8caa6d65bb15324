# SPDX-License-Identifier: Apache-2.0
"""Type stubs (.pyi) of the modules, for editors and type checkers."""
from kinds import is_struct, item_of
from wrappers import modules, python_rows

SPECIAL = {
    "str": "str",
    "f32": "float",
    "f64": "float",
    "callable": "Callable[..., Any]",
    "object": "Any",
    "list": "Any",
    "bytes": "bytes",
    "dict": "Dict[str, Any]",
    "ndarray": "Any",
    "shape": "Union[int, Sequence[int]]",
    "int or str": "Union[int, str]",
    "int or callable": "Union[int, Callable[..., Any]]",
    "int or aclrtStreamAttrValue": "Union[int, Dict[str, Any]]",
}


def python_type(kind, returned=False):
    if kind in SPECIAL:
        return SPECIAL[kind]
    item = item_of(kind)
    if item:
        inner = "Sequence[int]" if item == "i64[2]" else python_type(item)
        listed = f"{'List' if returned else 'Sequence'}[{inner}]"
        return f"Union[{inner}, {listed}]" if kind.startswith("one or") else listed
    return "Dict[str, Any]" if is_struct(kind) else "int"


def _stub(row):
    arguments = []
    for value in row.arguments:
        type_name = python_type(value.kind)
        if value.optional:
            type_name = f"Optional[{type_name}]"
        arguments.append(f"{value.name}: {type_name}{' = ...' if value.default else ''}")
    if arguments:
        arguments.append("/")
    types = [python_type(r.kind, returned=True) for r in row.returns]
    if not types:
        result = "None"
    else:
        result = types[0] if len(types) == 1 else f"Tuple[{', '.join(types)}]"
    return f"def {row.short_name}({', '.join(arguments)}) -> {result}: ..."


def emit_stubs(rows, module):
    out = ["from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union", ""]
    if not module:
        out += [f"from acl import {m} as {m}" for m in modules(rows) if m] + [""]
    return out + [_stub(row) for row in python_rows(rows, module)]
