# SPDX-License-Identifier: Apache-2.0
"""What a call must answer when tests/data/misuse.tsv does not say otherwise: one rule for each kind
of mistake, and the code of the interface (acl.rt, acl.himpi, the others) for it."""

from misuse import codes

# The Python layer refuses these before any C function is called.
EXCEPTIONS = {
    "argument count": "TypeError", "wrong Python type": "TypeError", "wrong element": "TypeError",
    "beyond the C type": "OverflowError", "zero byte": "ValueError",
    "not UTF-8": "UnicodeEncodeError",
}  # fmt: skip

# What a function that returns no code gives when it fails, by the type of its value.
FAILED = {"handle": 0, "ptr": 0, "size": 0, "u8": 0, "u32": 0, "u64": 0, "i32": -1, "i64": -1,
          "enum": -1, "f32": None, "f64": -1.0, "str": "", "callable": None, "bytes": None,
          "ndarray": None, "u16": None, "None": None}

CONSTANTS = codes.documented()


def accepted(function):
    return "ok" if "ret" in function.returns else "value"


def failed(function, name):
    """The code of this name, or the value that stands for a failure."""
    return CONSTANTS[name] if "ret" in function.returns else f"= {FAILED[function.value]!r}"


def expected(function, kind, argument):
    """The outcome of one case; argument is None for cases of the whole call."""
    if kind in EXCEPTIONS:
        return EXCEPTIONS[kind]
    if kind == "before init":
        return "uninitialised" if function.needs_init else "called"
    if function.status == "refused":
        runtime = function.module == "acl.rt"
        return failed(function, "ACL_ERROR_RT_FEATURE_NOT_SUPPORT" if runtime else
                      "ACL_ERROR_FEATURE_UNSUPPORTED")
    if kind == "good":
        return accepted(function)
    if kind == "after finalize":
        if function.any_time:
            return accepted(function)
        return failed(function, "ACL_ERROR_UNINITIALIZE")
    if kind == "null" and (argument.optional or argument.name == "stream"):
        return accepted(function)  # may be left out; 0 is the default stream
    return failed(function, code_name(function, argument))


def code_name(function, argument):
    """The constant for an argument that is not what it has to be."""
    if function.module == "acl.himpi":
        unit = function.name.split(".")[2].partition("_")[0].upper()
        unit = unit if f"HI_ERR_{unit}_ILLEGAL_PARAM" in CONSTANTS else "SYS"
        return f"HI_ERR_{unit}_" + ("UNEXIST" if argument.name == "chn" else "ILLEGAL_PARAM")
    if function.module == "acl.rt":
        if argument.type == "handle":
            return "ACL_ERROR_RT_INVALID_HANDLE"
        if argument.name.endswith(("dev_id", "device_id")):
            return "ACL_ERROR_RT_INVALID_DEVICEID"
        return "ACL_ERROR_RT_PARAM_INVALID"
    if function.module == "acl.mdl" and argument.name == "model_id":
        return "ACL_ERROR_GE_EXEC_MODEL_ID_INVALID"
    return "ACL_ERROR_INVALID_PARAM"
