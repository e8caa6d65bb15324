# SPDX-License-Identifier: Apache-2.0
"""Conversion of structs from and to dicts, one pair of functions per struct."""

def emit_declarations(structs):
    out = []
    for struct in structs.values():
        if struct.direction != "out":
            out.append(f"bool take(const ArgumentSource& at, PyObject* from, {struct.name}* to);")
        if struct.direction != "in":
            out += ["template <>", f"struct ToDict<{struct.name}> {{",
                    f"  static PyObject* make(const {struct.name}& from);", "};"]
    return out


def _emit_take(struct):
    out = [f"bool take(const ArgumentSource& at, PyObject* from, {struct.name}* to) {{",
           "  const DictReader in(at, from);", "  return in.is_dict()"]
    for field in struct.fields:
        if field.type.endswith("*") and field.count:  # an array of the caller's: borrowed storage
            out.append(f'      && in.read_array("{field.name}", &to->{field.name}, '
                       f"&to->{field.count})")
        elif not any(f.count == field.name and f.type.endswith("*") for f in struct.fields):
            out.append(f'      && in.read("{field.name}", &to->{field.name})')
    out[-1] += ";"
    return [*out, "}", ""]


def _emit_give(struct):
    out = [f"PyObject* ToDict<{struct.name}>::make(const {struct.name}& from) {{",
           "  DictWriter out;"]
    for field in struct.fields:
        value = f"from.{field.name}"
        if field.type.startswith("bytes["):
            value = f"raw_bytes({value})"
        elif field.count:
            value = f"first_items({value}, from.{field.count})"
        out.append(f'  out.add("{field.name}", {value});')
    return [*out, "  return out.finish();", "}", ""]


def emit_conversions(structs):
    out = ['#include "wrappers.h"', "", "namespace anynpu::pyacl {", ""]
    for struct in structs.values():
        if struct.direction != "out":
            out += _emit_take(struct)
        if struct.direction != "in":
            out += _emit_give(struct)
    return [*out, "}  // namespace anynpu::pyacl"]
