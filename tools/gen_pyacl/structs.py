# SPDX-License-Identifier: Apache-2.0
"""Conversion of structs from and to dicts, one pair of functions per struct.

A dict has all members of a union. The one that another field of the struct selects (column `when`
of structs.tsv) is read from it; in a dict that is returned the others are zeros. Where nothing
selects a member, all are read in order, and all show the same bytes.
"""


def _is_selected(field, struct_name):
    """A C++ expression; `at.selected` is what the caller of `take` knows about the struct."""
    name, values = field.when.split("=")
    place = "at.selected" if name == "at" else f"{struct_name}{name}"
    return " || ".join(f"{place} == {value}" for value in values.split("|"))


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
    members = [f for f in struct.fields if f.when]
    if members:
        none = " || ".join(_is_selected(f, "to->") for f in members)
    for field in struct.fields:
        if field.when:
            out.append(f'      && ((({none}) && !({_is_selected(field, "to->")})) || '
                       f'in.read("{field.name}", &to->{field.name}))')
        elif field.type.endswith("*") and field.count:  # an array of the caller's: borrowed storage
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
        if field.when and not field.when.startswith("at="):
            value = f"({_is_selected(field, 'from.')}) ? {value} : {field.type}{{}}"
        elif field.type.startswith("bytes["):
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
