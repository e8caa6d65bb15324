# SPDX-License-Identifier: Apache-2.0
"""A function for each C function of the API, which reports calls to `anynpu check` (src/check)."""
import glob
import os
import re

from table import c_functions

# Calls of these classes are not watched: they take only texts or numbers, or a variable list.
SKIPPED = {"aclAppLog"}


def _by_hand(root):
    names = set()
    for path in glob.glob(os.path.join(root, "src", "check", "*.cpp")):
        if path.endswith("_test.cpp"):
            continue
        with open(path, encoding="utf-8") as file:
            names |= set(re.findall(r"Function function\{\s*\"(\w+)\"", file.read()))
    return names


def _kind(parameter):
    if parameter.name == "modelId" and parameter.type == "uint32_t":
        return "model"
    if parameter.type.replace("const ", "") in ("void*", "hi_void*"):
        return "memory"
    return "other"


def _declaration(parameter):
    match = re.fullmatch(r"(.*?)((?:\[\w*\])*)", parameter.type)
    if "(*" in parameter.type:
        return parameter.type.replace("(*", f"(*{parameter.name}", 1)
    return f"{match[1]} {parameter.name}{match[2]}"


def emit_intercept(libraries, read_api, root):
    by_hand = _by_hand(root) | SKIPPED
    headers = [header for library in libraries for header in library.headers]
    out = [*(f'#include "{header}"' for header in headers), '#include "check/call.h"', "",
           "using namespace anynpu::check;", "",
           "#pragma GCC visibility push(default)",
           '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"', ""]
    for library in libraries:
        rows = read_api([library])
        python = {}
        for row in rows:
            if row.in_python:
                python.setdefault(row.c_function, row.python)
        for row in c_functions(rows):
            if row.c_function in by_hand or "..." in row.c_signature:
                continue
            name, parameters = row.c_function, row.c_parameters
            is_code = row.c_return in ("aclError", "hi_s32", "HcclResult")
            declared = ", ".join(_declaration(p) for p in parameters) or "void"
            out.append(f'extern "C" {row.c_return} {name}({declared}) {{')
            listed = ", ".join(f'{{"{p.name}", Parameter::{_kind(p)}}}' for p in parameters)
            span = "{}"
            if parameters:
                out.append(f"  static constexpr Parameter parameters[] = {{{listed}}};")
                span = "parameters"
            out.append(f'  static Function function{{"{name}", "{python.get(name, "-")}", '
                       f'"lib{library.name}.so", {span}, {"true" if is_code else "false"}}};')
            out.append(f"  static auto* real = reinterpret_cast<decltype(&{name})>("
                       "function.resolve());")
            words = ", ".join(f"word({p.name})" for p in parameters)
            if parameters:
                out.append(f"  const uint64_t words[] = {{{words}}};")
            out.append(f"  Call call(function, {'words' if parameters else '{}'});")
            call = f"real({', '.join(p.name for p in parameters)})"
            if row.c_return == "void":
                out += [f"  {call};", "  call.finish();"]
            else:
                out.append(f"  return call.finish({call});")
            out += ["}", ""]
    return out
