# SPDX-License-Identifier: Apache-2.0
"""Whole networks, reduced, in float16 and bfloat16: how far they move from float32."""
import os
import subprocess
import sys

import onnx
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "networks"))

import exactness  # noqa: E402
from networks import NETWORKS  # noqa: E402

LIMITS = {"fp16": 5e-3, "mixed_float16": 5e-3, "mixed_bfloat16": 2e-2}


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_short_floats_stay_near_float32(network, tmp_path, device_0):
    model = network.model(False)
    onnx.save(model, tmp_path / "net.onnx")
    feeds = list(network.inputs(model, False).values())
    results = {}
    for mode in ("origin", *LIMITS):
        done = subprocess.run(
            ["atc", f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/{mode}",
             "--soc_version=Ascend310P3", f"--precision_mode_v2={mode}"],
            capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        results[mode] = exactness.run_anynpu(str(tmp_path / f"{mode}.om"), feeds)
    errors = {mode: exactness.distance(results[mode], results["origin"]) for mode in LIMITS}
    for mode, limit in LIMITS.items():
        assert errors[mode] <= limit, errors
