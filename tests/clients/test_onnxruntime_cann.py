# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's CANN provider, as published, against its CPU provider."""
import numpy as np
import onnxruntime
import pytest
from networks import NETWORKS

CANN = "CANNExecutionProvider"
WHOLE = ("ResNet-50", "MobileNetV2", "BERT-base", "YOLOv5s style")
# Whole graphs, or one operator of the provider after the other.
MODES = {"graph": "1", "operators": "0"}


def run(path, feeds, providers):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=providers)
    return session.get_providers(), session.run(None, feeds)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("network", [n for n in NETWORKS if n.name in WHOLE], ids=lambda n: n.name)
def test_a_network_gives_the_results_of_the_cpu_provider(tmp_path, network, mode):
    model = network.model(whole=True)
    path = str(tmp_path / "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    feeds = network.inputs(model, whole=True)
    cann = (CANN, {"device_id": 0, "enable_cann_graph": MODES[mode]})
    used, got = run(path, feeds, [cann, "CPUExecutionProvider"])
    assert used[0] == CANN, "the provider could not be loaded"
    _, expected = run(path, feeds, ["CPUExecutionProvider"])
    for mine, theirs in zip(got, expected, strict=True):
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-4 * scale)


def test_a_second_session_uses_the_compiled_model_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = next(n for n in NETWORKS if n.name == "MobileNetV2")
    model = network.model(whole=False)
    with open("model.onnx", "wb") as file:
        file.write(model.SerializeToString())
    feeds = network.inputs(model, whole=False)
    cann = (CANN, {"device_id": 0, "enable_cann_graph": "1", "dump_om_model": "1"})
    first = run("model.onnx", feeds, [cann, "CPUExecutionProvider"])[1]
    assert list(tmp_path.glob("*.om")), "the provider saves what it compiles"
    second = run("model.onnx", feeds, [cann, "CPUExecutionProvider"])[1]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
