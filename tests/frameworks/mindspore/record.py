#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/mindspore: files that MindSpore exported, with the inputs and outputs of its
CPU. `make test` reads them, so that it needs no MindSpore.

    .venv-mindspore/bin/python tests/frameworks/mindspore/record.py
"""
import io
import os
import sys
import tarfile
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cases  # noqa: E402
import nets  # noqa: E402
from export import run_and_export  # noqa: E402

DATA = os.path.join(HERE, "..", "..", "data", "mindspore")


def add(archive, name, content):
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def record(makers, file):
    with tarfile.open(os.path.join(DATA, file), "w:xz") as archive, \
            tempfile.TemporaryDirectory() as folder:
        for name, make in sorted(makers.items()):
            path = os.path.join(folder, f"{name}.mindir")
            inputs, outputs = run_and_export(*make(), path)
            with open(path, "rb") as model:
                add(archive, f"{name}.mindir", model.read())
            arrays = io.BytesIO()
            np.savez(arrays, **{f"in{i}": x for i, x in enumerate(inputs)},
                     **{f"out{i}": y for i, y in enumerate(outputs)})
            add(archive, f"{name}.npz", arrays.getvalue())


if __name__ == "__main__":
    os.makedirs(DATA, exist_ok=True)
    record({name: nets.NETS[name] for name in nets.SMALL}, "nets.tar.xz")
    record(cases.CASES, "primitives.tar.xz")
