# SPDX-License-Identifier: Apache-2.0
"""Kinds of misuse: for each type of argument, the wrong values and what they are called."""

INTEGERS = {
    "i8": (-(2**7), 2**7 - 1), "u8": (0, 2**8 - 1), "i16": (-(2**15), 2**15 - 1),
    "u16": (0, 2**16 - 1), "i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1),
    "i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1), "enum": (-(2**31), 2**31 - 1),
}  # fmt: skip
NEVER_ALLOCATED = 0x7E57_0000_0000  # in no mapping
BIG = 1 << 20


class NotAValue:
    """An object that no function takes."""


def of_type(function, argument):
    """Names of the kinds that apply to one argument."""
    kind = argument.type
    sized = any(a.type in ("size", "u64") for a in function.arguments)
    if kind == "handle":
        return ["null", "stale", "wrong handle type", "not a handle"]
    if kind == "ptr":
        return ["null", "never allocated", "freed"] + (["too small"] if sized else [])
    if kind == "size":
        return ["negative", "huge"] + (["zero"] if "index" not in argument.name else [])
    if kind in INTEGERS:
        signed = INTEGERS[kind][0] < 0
        lowest = "lowest" if signed else "negative"
        # A long time-out is no mistake: the call would wait for as long as it says.
        waits = argument.name == "milli_sec" or "timeout" in argument.name
        highest = [] if waits else ["highest"]
        return [lowest, *highest, "beyond the C type"]
    if kind == "str":
        return ["empty", "very long", "zero byte", "not UTF-8"]
    if kind in ("f32", "f64"):
        return ["not a number"]
    if kind.startswith("list"):
        return ["empty", "very long", "wrong element"]
    return []


def wrong(kind, maker, function, argument):
    """The wrong value; for 'too small' the caller also raises all sizes to BIG."""
    if argument.type == "handle":
        if kind == "null":
            return 0
        if kind == "stale":
            value = maker.handle(argument.handle, function)
            maker.destroy(argument.handle, value)
            return value
        if kind == "wrong handle type":
            return maker.other_handle(argument.handle)
        return 0x1234_5678
    if argument.type == "ptr":
        if kind == "null":
            return 0
        if kind == "never allocated":
            return NEVER_ALLOCATED
        if kind == "freed":
            block = maker.device_block()
            maker.acl.rt.free(block)
            return block
        return maker.pointer(function, argument, 64)
    if argument.type == "size":
        return {"zero": 0, "negative": -1, "huge": 2**62}[kind]
    if argument.type in INTEGERS:
        low, high = INTEGERS[argument.type]
        return {"lowest": low, "negative": -1, "highest": high, "beyond the C type": 2**70}[kind]
    if argument.type == "str":
        return {"empty": "", "very long": "x" * 100_000, "zero byte": "a\0b",
                "not UTF-8": "\udcff"}[kind]
    if argument.type in ("f32", "f64"):
        return float("nan")
    good = maker.good(function, argument)
    if kind == "very long":
        return list(good[:1] or [0]) * 100_000
    return {"empty": [], "wrong element": [NotAValue()]}[kind]


def cases(function):
    """(kind, argument name or '-') of every case of a function, the good call first."""
    out = [("good", "-")]
    if function.arguments:  # those without are not looked at
        out.append(("argument count", "-"))
    for argument in function.arguments:
        if argument.type != "object":
            out.append(("wrong Python type", argument.name))
        out += [(kind, argument.name) for kind in of_type(function, argument)]
    return out + [("before init", "-"), ("after finalize", "-")]
