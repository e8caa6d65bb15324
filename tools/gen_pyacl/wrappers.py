# SPDX-License-Identifier: Apache-2.0
"""The METH_FASTCALL wrappers: one C++ function per Python function, all from one template.

    PyObject* rt_malloc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
      constexpr const Function& self = functions::rt_malloc;
      if (!self.takes(argc)) return nullptr;
      size_t size{};
      int32_t policy{};
      if (!take({self, 0, "size"}, argv[0], &size)
          || !take({self, 1, "policy"}, argv[1], &policy)) return nullptr;
      void* dev_ptr{};
      const aclError ret = aclrtMalloc(&dev_ptr, size, static_cast<aclrtMemMallocPolicy>(policy));
      return give(dev_ptr, ret);
    }
"""
import re

import structs as struct_code
from kinds import cpp_type, is_struct, item_of, item_type, pointed_to

# Bounds of what the caller of a function may choose: bytes of text, items of an array.
LONGEST_TEXT = 1 << 20
LONGEST_LIST = 1 << 12


def symbol(row):
    return f"{row.module}_{row.short_name}" if row.module else f"acl_{row.short_name}"


def text_signature(row):
    """In the form that inspect.signature reads."""
    names = [a.name + (f"={a.default}" if a.default else "") for a in row.arguments]
    return f"({', '.join([*names, '/'] if names else [])})"


def returned_text(row):
    names = [r.name for r in row.returns]
    if not names:
        return "None"
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _docstring(row):
    origin = f"C function: {row.c_function}" if row.c_function else "pyACL only"
    parts = [f"Returns {returned_text(row)}. {origin}."]
    if row.status != "works" and row.c_function:
        parts.append(f"Not there: {row.reason}.")
    return f"{row.short_name}{text_signature(row)}\\n--\\n\\n{' '.join(parts)}"


def _as_pointer(c_type):
    """int64_t[][2] -> int64_t (*)[2]: what a parameter of an array type is."""
    return re.sub(r"\[\](?=\[)", " (*)", c_type).replace("[]", "*")


class _Wrapper:
    """Writes one wrapper; the steps follow the order of the code they write."""

    def __init__(self, row):
        self.row = row
        self.by_name = {a.name: a for a in row.arguments}
        self.outs = {}  # returned name -> expression for give()
        self.before = []  # declarations of out-parameters
        if len(row.call) != len(row.c_parameters):
            raise ValueError(f"call has {len(row.call)} items, {row.c_function} has "
                             f"{len(row.c_parameters)} parameters")
        self.call = [self._token(t, p) for t, p in zip(row.call, row.c_parameters)]

    def _token(self, token, parameter):
        """The C++ expression for one item of the call column."""
        if token in self.by_name:
            return self._argument(self.by_name[token], parameter)
        pointers = re.fullmatch(r"pointers\((\w+), (\w+)\)", token)
        if pointers:  # C takes an array of addresses of the items
            items, count = pointers.groups()
            self.before.append(f'if (!has_items(self, "{items}", {items}.size(), {count})) '
                               "return nullptr;")
            self.before.append(f"List<{parameter.type[:-1]}> {items}_pointers;")
            self.before.append(f"if (!{items}.point_with({items}_pointers)) return nullptr;")
            return f"{items}_pointers.data()"
        counted = re.fullmatch(r"(\w+) for (\w+)", token)
        if counted:  # C reads as many items as another argument says: the list must have them
            items, count = counted.groups()
            self.before.append(f'if (!has_items(self, "{items}", {items}.size(), '
                               f"items_named({count}))) return nullptr;")
            return self._argument(self.by_name[items], parameter)
        length = re.fullmatch(r"len\((\w+)(?:=(\w+))?\)", token)
        if length and self.by_name[length[1]].kind == "str":
            return f"std::strlen({length[1]})"
        if length:
            if length[2]:
                self.before.append(f'if (!same_length(self, "{length[1]}", {length[1]}.size(), '
                                   f'"{length[2]}", {length[2]}.size())) return nullptr;')
            return f"{length[1]}.count<{parameter.type}>()"
        count = re.fullmatch(r"&count\((\w+)\)", token)
        if count:
            self.before.append(f"{pointed_to(parameter.type)} {count[1]}_count{{}};")
            self.outs[count[1]] = f"{count[1]}.first({count[1]}_count)"
            return f"&{count[1]}_count"
        if token.startswith("&"):
            self.before.append(f"{pointed_to(parameter.type)} {token[1:]}{{}};")
            return token
        buffer = re.fullmatch(r"(\w+)\[(\w+)\]", token)
        if buffer:
            return self._buffer(*buffer.groups(), parameter)
        return token  # a literal

    def _argument(self, value, parameter):
        kind = value.kind
        if kind == "enum":
            return f"static_cast<{parameter.type}>({value.name})"
        if kind in ("handle", "ptr"):
            same = parameter.type in ("void*", "const void*")
            return value.name if same else f"as<{_as_pointer(parameter.type)}>({value.name})"
        if kind == "str" and "const" not in parameter.type:
            return f"const_cast<{parameter.type}>({value.name})"
        if is_struct(kind):
            return value.name if value.optional else f"&{value.name}"
        item = item_of(kind)
        if item == "handle" and parameter.type != "void**":
            pointer = parameter.type.replace("[]", "*")
            return f"as<{pointer}>({value.name}.data())"
        if item == "i64[2]":
            return f"as<int64_t (*)[2]>({value.name}.data())"
        if item == "enum":
            return f"as<{_as_pointer(parameter.type)}>({value.name}.data())"
        return f"{value.name}.data()" if item else value.name

    def _buffer(self, name, length, parameter):
        kind = next(r.kind for r in self.row.returns if r.name == name)
        item = "char" if kind == "str" else item_type(item_of(kind))
        cls = "Text" if kind == "str" else f"List<{item}>"
        self.before.append(f"{cls} {name};")
        most = LONGEST_TEXT if kind == "str" else LONGEST_LIST
        self.before.append(f'if (!{name}.reserve(self, "{length}", {length}, {most})) '
                           "return nullptr;")
        return f"{name}.data()"

    def _take_arguments(self):
        out, checks = [], []
        scratch = any(is_struct(item_of(a.kind) or a.kind) for a in self.row.arguments)
        if scratch:
            out.append("Scratch scratch;")
        for i, value in enumerate(self.row.arguments):
            kind = value.kind
            if is_struct(kind) and value.optional:
                out.append(f"{kind} {value.name}_value{{}};")
                out.append(f"{kind}* {value.name} = &{value.name}_value;")
            else:
                out.append(f"{cpp_type(kind)} {value.name}{{}};")
            take = "take"
            if value.optional:
                take = "take_or_null"
            elif kind.startswith("one or list"):
                take = "take_one_or_list"
            place = f'{{self, {i}, "{value.name}"{", &scratch" if scratch else ""}}}'
            check = f"!{take}({place}, argv[{i}], &{value.name})"
            if value.default:
                check = f"(argc > {i} && {check})"
            checks.append(check)
        if checks:
            out += [f"if ({checks[0]}"] + [f"    || {check}" for check in checks[1:]]
            out[-1] += ") return nullptr;"
        return out

    def _call_and_return(self):
        row = self.row
        call = f"{row.c_function}({', '.join(self.call)})"
        names = [r.name for r in row.returns]
        is_value = names and row.c_return not in ("void", "aclError")
        value = "ret" if "ret" in names else names[0] if is_value else None
        assign = f"const auto {value} = " if value else ""
        if value == "ret" and row.c_return == "hi_s32":  # shown as the documents write the numbers
            call = f"static_cast<uint32_t>({call})"
        if row.blocks:
            # Python code may run inside (callbacks, signal handlers): look for its exception after.
            body = f"{assign}without_gil([&] {{ return {call}; }});"
            out = [body, "if (PyErr_Occurred()) return nullptr;"]
        else:
            out = [f"{assign}{call};"]
        if not row.returns:
            return [*out, "Py_RETURN_NONE;"]
        given = [self.outs.get(r.name, r.name) for r in row.returns]
        return [*out, f"return give({', '.join(given)});"]

    def lines(self):
        row = self.row
        body = [f"constexpr const Function& self = functions::{symbol(row)};",
                "if (!self.takes(argc)) return nullptr;",
                *self._take_arguments(), *self.before, *self._call_and_return()]
        head = f"// {row.python}{text_signature(row).replace(', /', '')} -> {returned_text(row)}"
        return [head, f"PyObject* {symbol(row)}(PyObject*, PyObject* const* argv, "
                      "Py_ssize_t argc) {", *("  " + line for line in body), "}", ""]


def python_rows(rows, module=None):
    return [r for r in rows if r.in_python and (module is None or r.module == module)]


def modules(rows):
    """Submodules in order of name; "" (acl itself) first."""
    return sorted({r.module for r in python_rows(rows)})


def emit_header(rows, structs, headers):
    """Names and argument counts of all functions, for generated and hand-written wrappers alike."""
    out = ["#pragma once", "", "#include \"stable_python.h\"", "", "#include <cstring>", "",
           *(f'#include "{header}"' for header in headers), '#include "acl/convert.h"', "",
           "namespace anynpu::pyacl {", "", "namespace functions {"]
    for row in python_rows(rows):
        least = sum(1 for a in row.arguments if not a.default)
        most = len(row.arguments) or "kAnyCount"
        out.append(f'inline constexpr Function {symbol(row)}{{"{row.python}", '
                   f'"{text_signature(row).replace(", /", "")}", {least}, {most}}};')
    out += ["}  // namespace functions", "", "// Written by hand, in python/acl."]
    for row in python_rows(rows):
        if row.by_hand:
            out.append(f"PyObject* {symbol(row)}(PyObject*, PyObject* const* argv, "
                       "Py_ssize_t argc);")
    out += ["", "// Structs as dicts.", *struct_code.emit_declarations(structs), ""]
    for module in modules(rows):
        out.append(f"extern PyMethodDef k{(module or 'acl').capitalize()}Methods[];")
    out += ["", "struct Submodule {", '  const char* name;  // "acl.rt"',
            "  PyMethodDef* methods;", "};", "inline constexpr Submodule kSubmodules[] = {"]
    out += [f'    {{"acl.{m}", k{m.capitalize()}Methods}},' for m in modules(rows) if m]
    return [*out, "};", "", "}  // namespace anynpu::pyacl"]


def emit_module(rows, module):
    out = ['#include "wrappers.h"', "", "namespace anynpu::pyacl {", "namespace {", ""]
    mine = python_rows(rows, module)
    for row in mine:
        if not row.by_hand:
            try:
                out += _Wrapper(row).lines()
            except ValueError as error:
                raise ValueError(f"{row.python}: {error}") from error
    out += ["}  // namespace", "", f"PyMethodDef k{(module or 'acl').capitalize()}Methods[] = {{"]
    for row in mine:
        out.append(f'    {{"{row.short_name}", as_method({symbol(row)}), METH_FASTCALL,')
        out.append(f'     "{_docstring(row)}"}},')
    return [*out, "    {nullptr, nullptr, 0, nullptr},", "};", "", "}  // namespace anynpu::pyacl"]
