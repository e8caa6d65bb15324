# SPDX-License-Identifier: Apache-2.0
"""Files that MindSpore exported, and what its CPU computed: tests/data/mindspore."""
import io
import os
import subprocess
import tarfile

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "mindspore")


def read_archive(file):
    """{name: (bytes of the .mindir, inputs, outputs)}"""
    content = {}
    with tarfile.open(os.path.join(DATA, file)) as archive:
        for entry in archive:
            content[entry.name] = archive.extractfile(entry).read()
    read = {}
    for name in sorted(content):
        if not name.endswith(".mindir"):
            continue
        arrays = np.load(io.BytesIO(content[name.removesuffix(".mindir") + ".npz"]))
        lists = [[arrays[f"{kind}{i}"] for i in range(len(arrays)) if f"{kind}{i}" in arrays]
                 for kind in ("in", "out")]
        read[name.removesuffix(".mindir")] = (content[name], *lists)
    return read


def convert(path, *more):
    """atc on a MindSpore model; net.om lies beside it."""
    output = os.path.join(os.path.dirname(str(path)), "net")
    return subprocess.run(["atc", "--framework=1", f"--model={path}", f"--output={output}",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=600)


def check_outputs(read, wanted, tolerance=1e-4):
    """Every output within `tolerance` of the largest element; whole numbers are equal."""
    assert len(read) == len(wanted)
    for (name, ours), theirs in zip(read.items(), wanted):
        assert ours.size == theirs.size, name
        assert ours.dtype == theirs.dtype, (name, ours.dtype, theirs.dtype)
        ours = ours.reshape(theirs.shape)
        if theirs.dtype.kind != "f":
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
            continue
        if theirs.dtype == np.float16:
            tolerance = max(tolerance, 1e-3)
        finite = np.isfinite(theirs)
        np.testing.assert_array_equal(ours[~finite], theirs[~finite], err_msg=name)
        scale = np.abs(theirs[finite]).max(initial=1e-6)
        difference = np.abs(ours[finite].astype(np.float64) - theirs[finite]).max(initial=0)
        assert difference <= tolerance * scale, f"{name}: {difference} of {scale}"
