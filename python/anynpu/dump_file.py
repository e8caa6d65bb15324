# SPDX-License-Identifier: Apache-2.0
"""Reads the dump files of operators: a header in protobuf, then the bytes of all tensors."""
import os
import struct
from dataclasses import dataclass, field

import numpy as np

from .protowire import WireError, fields, integers, message

# OutputDataType of the header -> numpy; its numbers differ from aclDataType.
TYPES = {1: np.float32, 2: np.float16, 3: np.int8, 4: np.uint8, 5: np.int16, 6: np.uint16,
         7: np.int32, 8: np.int64, 9: np.uint32, 10: np.uint64, 11: np.bool_, 12: np.float64,
         16: np.complex64, 17: np.complex128}
BFLOAT16 = 27
OVERFLOW_MAGIC = b"ANYNPUOV"
OVERFLOW_RECORD = struct.Struct("<8sIIIIIIQQ")


class DumpError(Exception):
    """A file that is not a dump; the message says which and why."""


@dataclass
class Tensor:
    dtype: int = 0
    format: int = 2
    shape: list = field(default_factory=list)
    size: int = 0
    data: bytes = b""

    def array(self):
        if self.dtype not in TYPES and self.dtype != BFLOAT16:
            raise DumpError(f"elements of type {self.dtype} are not known")
        try:
            if self.dtype == BFLOAT16:  # numpy has none: widened, without loss
                wide = np.frombuffer(self.data, np.uint16).astype(np.uint32) << 16
                return wide.view(np.float32).reshape(self.shape)
            return np.frombuffer(self.data, TYPES[self.dtype]).reshape(self.shape)
        except (ValueError, OverflowError, TypeError) as error:
            raise DumpError(f"{len(self.data)} bytes are no tensor of shape {self.shape}: "
                            f"{error}") from None


@dataclass
class Dump:
    path: str
    op_type: str
    op_name: str
    inputs: list
    outputs: list


def _tensor(data, size_field):
    head = message(data, {1: int, 2: int, 3: bytes, size_field: int})
    dims = [value for number, value in fields(head.get(3, b"")) if number == 1]
    return Tensor(head.get(1, 0), head.get(2, 2), integers(dims), head.get(size_field, 0))


def read(path):
    """The dump of one operator."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 8:
        raise DumpError(f"{path}: {len(data)} bytes are no dump file")
    length, = struct.unpack_from("<Q", data)
    if length > len(data) - 8:
        raise DumpError(f"{path}: a header of {length} bytes in a file of {len(data)}; is it a "
                        "dump file?")
    inputs, outputs, name = [], [], ""
    try:
        for number, value in fields(data[8:8 + length]):
            if number == 3:
                outputs.append(_tensor(value, 6))
            elif number == 4:
                inputs.append(_tensor(value, 5))
            elif number == 6:
                name = value.decode("utf-8", "replace")
    except (WireError, TypeError, AttributeError) as error:
        raise DumpError(f"{path}: the header is damaged: {error}") from None
    at = 8 + length
    for tensor in inputs + outputs:
        if tensor.size > len(data) - at:
            raise DumpError(f"{path}: the tensors are longer than the file")
        tensor.data, at = data[at:at + tensor.size], at + tensor.size
    if at != len(data):
        raise DumpError(f"{path}: {len(data) - at} bytes behind the last tensor")
    words = os.path.basename(path).split(".")
    return Dump(path, words[0], name or (words[1] if len(words) > 1 else ""), inputs, outputs)


def is_overflow_record(path):
    with open(path, "rb") as file:
        return file.read(8) == OVERFLOW_MAGIC


def read_overflow(path):
    """The documented JSON object of an OpDebug file."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) != OVERFLOW_RECORD.size or data[:8] != OVERFLOW_MAGIC:
        raise DumpError(f"{path}: {len(data)} bytes are no record of an overflow")
    _, version, model, stream, task, kind, status, code, arguments = OVERFLOW_RECORD.unpack(data)
    if version != 1:
        raise DumpError(f"{path}: a record of version {version}, expected 1")
    none = {"model_id": 0, "stream_id": 0, "task_id": 0, "task_type": 0, "pc_start": "0x0",
            "para_base": "0x0", "status": 0}
    core = {"model_id": model, "stream_id": stream, "task_id": task, "task_type": kind,
            "pc_start": hex(code), "para_base": hex(arguments), "kernel_code": hex(code),
            "block_idx": 0, "status": status}
    return {"DHA Atomic Add": dict(none), "L2 Atomic Add": dict(none), "AI Core": core}
