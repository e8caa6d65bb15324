# SPDX-License-Identifier: Apache-2.0
"""Plain records of the interface: options, descriptions of tensors, borrowed memory."""
from dataclasses import dataclass, field


class session_options:  # noqa: N801
    """Options of one session; `loop` may change while it lives."""

    def __init__(self):
        self.loop = 1
        self.log_level = 2
        self.acl_json_path = ""


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
    """Host memory that somebody else owns: address and bytes."""

    __slots__ = ("buf", "size")

    def __init__(self, buf, size):
        self.buf, self.size = int(buf), int(size)
