# SPDX-License-Identifier: Apache-2.0
"""Plain records of the interface: options, descriptions of tensors, borrowed memory."""
import operator
from dataclasses import dataclass, field


def refuse(sentence, code=1004, text="Invalid parameter"):
    raise RuntimeError(f"[{code}][{text}] {sentence}")


def whole(name, value):
    """An int, or a numpy integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(value).__name__} ({value!r})") from None


_LIMITS = {"loop": (1, 100000), "log_level": (1, 4)}


class session_options:  # noqa: N801
    """Options of one session; `loop` may change while it lives."""

    def __init__(self):
        self.loop = 1
        self.log_level = 2
        self.acl_json_path = ""

    def __setattr__(self, name, value):
        if name in _LIMITS:
            least, most = _LIMITS[name]
            value = whole(name, value)
            if not least <= value <= most:
                refuse(f"{name} is {value}, it must be from {least} to {most}")
        elif name == "acl_json_path" and not isinstance(value, str):
            raise TypeError(f"acl_json_path is a str, not {type(value).__name__} ({value!r})")
        super().__setattr__(name, value)


class infer_options:  # noqa: N801
    """Options of a pipeline over files."""

    def __init__(self):
        self.output_dir = ""
        self.auto_dym_shape = False
        self.auto_dym_dims = False
        self.out_format = ""
        self.pure_infer_mode = False
        self.output_names = []
        self.shapes_list = []


@dataclass
class tensor_desc:  # noqa: N801
    """An input or output of a model. `size`: bytes by the model; `realsize`: needed now."""

    name: str = ""
    datatype: int = 0
    format: int = 0
    shape: list = field(default_factory=list)
    size: int = 0
    realsize: int = 0


class BaseTensor:
    """Borrowed host memory: address and bytes."""

    __slots__ = ("buf", "size")

    def __init__(self, buf, size):
        self.buf, self.size = int(buf), int(size)
