# SPDX-License-Identifier: Apache-2.0
"""Networks run forward and train alike on MindSpore's CPU back end and on Ascend."""
import os
import subprocess
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ("lenet", "resnet50", "mobilenet_v2", "bert", "llama", "lstm", "layer_lstm", "unet")
STEPS = 20
PLAIN = [f"{n}/{o}/{m}/float32" for n in NETWORKS for o in ("sgd", "adam") for m in ("pynative",
                                                                                     "o0")]
MIXED = [f"{n}/{o}/{m}/mixed" for n in NETWORKS for o in ("sgd", "adam") for m in ("pynative",
                                                                                   "o0")]


def train(device, cases, path):
    environment = {**os.environ, "GLOG_v": "3"}
    done = subprocess.run([sys.executable, os.path.join(HERE, "train.py"), device, path, str(STEPS),
                           *cases],
                          capture_output=True, text=True, timeout=3600, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return dict(np.load(path, allow_pickle=False))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    return {device: train(device, PLAIN + MIXED, str(folder / (device + ".npz")))
            for device in ("CPU", "Ascend")}


def agree(trained, case, tolerance):
    for device, made in trained.items():
        assert case + "/failed" not in made, f"{device}: {made[case + '/failed']}"
    for part in ("output", "loss"):
        want, got = trained["CPU"][f"{case}/{part}"], trained["Ascend"][f"{case}/{part}"]
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=part)


@pytest.mark.parametrize("case", PLAIN)
def test_a_network_in_float32(trained, case):
    # MindSpore's own LSTM layer hands float16 to a card: as far as that goes.
    agree(trained, case, 1e-3 if case.startswith("layer_lstm") else 1e-4)


# The CPU back end rounds to float16 at other places: losses agree as far as float16 goes. Both are
# up to 6e-3 from those of float32, and 6e-4 apart where it was measured; outputs of U-Net 2e-2.
@pytest.mark.parametrize("case", MIXED)
def test_a_network_with_mixed_precision(trained, case):
    agree(trained, case, 2e-2)
