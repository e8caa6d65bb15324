# SPDX-License-Identifier: Apache-2.0
"""The functions to walk: name, argument names and types, from the tables of the API."""

import csv
import os
import re
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
API = os.path.join(ROOT, "src", "api")


def _needs_init():
    with open(os.path.join(API, "acl", "needs_init.def"), encoding="utf-8") as file:
        return tuple(re.findall(r'^NEEDS_INIT\("(\w+)"\)', file.read(), re.MULTILINE))


NEEDS_INIT = _needs_init()  # beginnings of C names


@dataclass
class Argument:
    name: str
    type: (
        str  # as in the table, without '?' and default: handle, ptr, size, i32, str, list[i64] ...
    )
    optional: bool  # None is a value
    required: bool  # has no default
    handle: str = ""  # for handles: the C type without const and *, e.g. aclrtStream


@dataclass
class Function:
    name: str
    arguments: list
    returns: list  # names; 'ret' is the code
    value: str  # the type of the last thing it returns: 'ret' is no value, None is "None"
    c_function: str
    any_time: bool  # also after finalize
    status: str

    @property
    def needs_init(self):
        return not self.any_time and self.c_function.startswith(NEEDS_INIT)

    @property
    def module(self):
        return self.name.rpartition(".")[0]

    def argument(self, name):
        """The argument of this name; None for '-', the call as a whole."""
        return next((a for a in self.arguments if a.name == name), None)


# For rows whose C call is written by hand, where the table does not tie arguments to C types.
HANDLE_OF_NAME = {
    "stream": "aclrtStream", "event": "aclrtEvent", "context": "aclrtContext",
    "desc": "aclTensorDesc", "tensor_desc": "aclTensorDesc", "data_buffer": "aclDataBuffer",
    "dataset": "aclmdlDataset", "model_desc": "aclmdlDesc", "notify": "aclrtNotify",
    "config_handle": "aclmdlConfigHandle", "aipp_parms_set": "aclmdlAIPP",
    "allocator_desc": "aclrtAllocatorDesc", "group_info": "aclrtGroupInfo",
    "handle": "aclmdlExecConfigHandle", "stamp": "aclprofStamp",
    "vdec_channel_desc": "aclvdecChannelDesc",
    "venc_channel_desc": "aclvencChannelDesc", "input_stream_desc": "acldvppStreamDesc",
    "output_pic_desc": "acldvppPicDesc", "input_pic_desc": "acldvppPicDesc",
}  # fmt: skip


def _c_types(signature, call):
    """Python argument name -> C type of the parameter that it is passed as."""
    inside = signature[signature.find("(") + 1 : signature.rfind(")")]
    parameters = [p.strip() for p in inside.split(",")]
    passed = [c.strip() for c in call.split(",")]
    types = {}
    for parameter, name in zip(parameters, passed):
        kind = re.sub(r"\bconst\b|\*|\w+$", "", parameter).strip()
        types[name] = kind
    return types


def _argument(text, c_types, by_hand):
    name, _, kind = text.partition(":")
    name, kind = name.strip(), kind.strip()
    kind, _, default = kind.partition("=")
    kind = kind.strip()
    argument = Argument(name, kind.rstrip("?"), kind.endswith("?"), not default)
    if argument.type == "handle" and name == "handle" and "attr" in c_types:
        argument.handle = "aclmdlExecConfigHandle"
    elif argument.type == "handle":
        known = c_types.get(name)
        if known in (None, "", "void"):
            known = HANDLE_OF_NAME.get(name, "") or by_hand.get(name, "")
        argument.handle = known
    return argument


def _rows(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _function(row):
    c_types = _c_types(row["c_signature"] or "", row["call"] or "")
    unit = re.match(r"acl\.media\.(dvpp|vdec|venc)_", row["python"] or "")
    channel = f"acl{unit[1]}ChannelDesc" if unit else ""
    config = f"acl{unit[1]}FrameConfig" if unit else ""
    by_hand = {"channel_desc": channel, "frame_config": config}
    texts = [t for t in re.split(r",\s*(?![^\[]*\])", row["arguments"] or "") if t]
    return Function(
        name=row["python"],
        arguments=[_argument(t, c_types, by_hand) for t in texts],
        returns=[r.partition(":")[0].strip() for r in (row["returns"] or "").split(",")],
        value=(row["returns"] or "").rpartition(":")[2].strip(),
        c_function=row["c_function"] or "",
        any_time=row["any_time"] == "y",
        status=row["status"],
    )


def load():
    """Every function that Python sees, library by library."""
    folders = [row["folder"] for row in _rows(os.path.join(API, "libraries.tsv"))]
    rows = [row for f in folders for row in _rows(os.path.join(API, f, "api.tsv"))]
    return [
        _function(row)
        for row in rows
        if row["python"].startswith("acl.") and row["status"] != "not a function"
    ]
