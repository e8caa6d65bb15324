# SPDX-License-Identifier: Apache-2.0
"""Inference sessions on AscendCL: what ais_bench is built on, usable by itself."""
from aclruntime import _aclruntime
from aclruntime._aclruntime import Tensor
from aclruntime.enums import dtype
from aclruntime.enums import type_ as type  # noqa: A004
from aclruntime.options import BaseTensor, infer_options, session_options, tensor_desc
from aclruntime.times import ExecTime, MemorySummary, sumary

_aclruntime.set_enums(dtype, type)
globals().update(dtype.__members__)
globals().update(type.__members__)
from aclruntime.session import InferenceSession, batch, model  # noqa: E402

__version__ = "0.0.2"
__all__ = ["BaseTensor", "ExecTime", "InferenceSession", "MemorySummary", "Tensor", "batch",
           "dtype", "infer_options", "model", "session_options", "sumary", "tensor_desc", "type",
           *dtype.__members__, *type.__members__]
