# SPDX-License-Identifier: Apache-2.0
"""What the kinds of the table are in C++.

A kind is one of
  i8 u8 i16 u16 i32 u32 i64 u64 size f32 f64   numbers
  enum                                     a number that becomes the C parameter's enum type
  handle, ptr                              an int that becomes a pointer
  str                                      text
  <struct of structs.tsv>                  a dict with the C field names as keys
  list[<kind>], list[i64[2]]               a sequence; C gets a pointer and a count
  one or list[<kind>]                      the same; a single value counts as a list of one
  callable, object, bytes, ndarray, ...    only in rows made by hand
"""
import re

NUMBERS = {
    "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t",
    "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "size": "size_t", "f32": "float",
    "f64": "double", "enum": "int32_t",
}  # fmt: skip


def item_of(kind):
    """The kind of a list's items, or None."""
    match = re.fullmatch(r"(?:one or )?list\[(.+)\]", kind)
    return match[1] if match else None


def is_struct(kind):
    return kind.startswith(("acl", "hi_"))


def item_type(kind):
    if kind == "i64[2]":
        return "std::array<int64_t, 2>"
    return kind if is_struct(kind) else cpp_type(kind)


def cpp_type(kind):
    """The local variable that takes an argument of this kind."""
    if kind in NUMBERS:
        return NUMBERS[kind]
    if kind in ("handle", "ptr"):
        return "void*"
    if kind == "str":
        return "const char*"
    item = item_of(kind)
    if item:
        return f"List<{item_type(item)}>"
    if is_struct(kind):
        return kind
    raise ValueError(f"kind '{kind}' has no C++ type; make the row by hand")


def pointed_to(c_type):
    """aclrtStream* -> aclrtStream: the type of an out-parameter's variable."""
    text = re.sub(r"const$", "", c_type).strip()
    if not text.endswith("*"):
        raise ValueError(f"'{c_type}' is no pointer, so it cannot be an out-parameter")
    return text[:-1].strip()
