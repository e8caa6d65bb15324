# SPDX-License-Identifier: Apache-2.0
"""Dump files that are damaged: the reader names them."""
import os
import random
import struct

import numpy as np
from net_models import files_in, make_model, run_model
from onnx import TensorProto, helper

from anynpu import dump_file

F32 = TensorProto.FLOAT


def test_damaged_dump_files_are_named_and_never_crash_the_reader(tmp_path):
    """Whole bytes changed, cut off and repeated at random: a DumpError, or arrays that fit."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    make_model(tmp_path, [helper.make_node("Relu", ["x"], ["y"], name="relu")],
               [("x", F32, [3, 4])], [("y", F32, [3, 4])], arrays=[x])
    run_model(tmp_path, {"dump": {"dump_path": "out", "dump_mode": "all", "dump_list": []}})
    (path,) = files_in(tmp_path / "out").values()
    good = open(path, "rb").read()
    rng = random.Random(7)
    target = tmp_path / "Relu.relu.1.1.1"
    rounds = int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "1000"))
    read = 0
    for _ in range(rounds):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(min(len(data), 120))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)):]
        if rng.random() < 0.1:
            data[:8] = struct.pack("<Q", rng.choice([0, 1 << 63, len(data), len(good)]))
        target.write_bytes(data)
        try:
            dump = dump_file.read(target)
            for tensor in dump.inputs + dump.outputs:
                tensor.array()
            read += 1
        except dump_file.DumpError as error:
            assert str(error)
    assert read > rounds / 100
