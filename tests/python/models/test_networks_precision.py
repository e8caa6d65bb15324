# SPDX-License-Identifier: Apache-2.0
"""Whole networks, reduced, in float16 and bfloat16: how far they move from float32."""
import subprocess

import exactness  # noqa: E402
import onnx
import pytest
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
            capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        results[mode] = exactness.run_anynpu(str(tmp_path / f"{mode}.om"), feeds)
    errors = {mode: exactness.distance(results[mode], results["origin"]) for mode in LIMITS}
    for mode, limit in LIMITS.items():
        assert errors[mode] <= limit, errors


def printed(path):
    done = subprocess.run(["anynpu", "graph", path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("network", [n for n in NETWORKS if n.name in ("BERT-base", "ViT-B/16")],
                         ids=lambda network: network.name)
def test_attention_is_one_node_in_every_precision(network, tmp_path):
    model = network.model(False)
    softmaxes = sum(node.op_type == "Softmax" for node in model.graph.node)
    onnx.save(model, tmp_path / "net.onnx")
    for mode, kind in {"origin": "float32", "fp16": "float16", "mixed_float16": "float16",
                       "mixed_bfloat16": "bfloat16"}.items():
        done = subprocess.run(
            ["atc", f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/{mode}",
             "--soc_version=Ascend310P3", f"--precision_mode_v2={mode}"],
            capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        lines = [line for line in printed(tmp_path / f"{mode}.om").splitlines()
                 if "FusedAttention" in line]
        assert len(lines) == softmaxes > 0, mode
        assert all(f": {kind}[" in line or f": {kind} [" in line for line in lines), lines
