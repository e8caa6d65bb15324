# SPDX-License-Identifier: Apache-2.0
"""Small networks of bench/zoo, of every family that has some, against onnxruntime. They have the
spellings that exporters write, so all passes of the compiler run on them."""
import os
import sys

import numpy as np
import pytest
from model_datasets import Model, convert

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "bench", "zoo"))

from all_networks import NETWORKS  # noqa: E402

SMALL = ["densenet-bc-k12", "mobilenetv3-small", "shufflenetv2-x1", "levit-128s", "bert-tiny",
         "mamba-like-scan64", "tacotron-gru-decoder", "demucs-slice", "dlrm-b1",
         "din-attention-b32",
         "deepfm-b256", "sasrec-b16", "patchtst", "nbeats-b32", "tcn-b4", "gru-forecast-b8",
         "pointnet2-grouping", "pointpillars-scatter", "gcn-scatter", "dcgan", "mlp-64", "lenet",
         "kws-dscnn", "autoencoder-640", "elementwise-chain", "gru-cell-step", "yolov5n-nms",
         "pwc-warp", "caformer-slice", "t5-small-encoder", "llama-576-token-int4",
         "retinanet-head", "efficientdet-bifpn", "raft-small-updates", "conformer-relative",
         "wave-u-net", "bigvgan-snake", "silero-like-vad", "tabtransformer-b64",
         "temporal-fusion-transformer", "nhits-b16", "pointnet2-two-levels", "gat-attention"]
WORST = 5e-5  # norm of the difference over the norm: both sides round


@pytest.mark.parametrize("name", SMALL)
def test_a_network_gives_what_onnxruntime_gives(device_0, tmp_path, name):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, feeds = NETWORKS[name].make()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    wanted = session.run(None, feeds)
    ours = Model(convert(tmp_path, "net", model))
    try:
        ours.run(*feeds.values())
        for index, array in enumerate(wanted):
            if array.dtype != np.float32:
                continue  # boxes whose scores tie may come in another order
            made = ours.read(index, array.shape)
            assert np.linalg.norm(made - array) < WORST * np.linalg.norm(array), index
    finally:
        ours.close()


def test_names_and_families_of_the_zoo():
    assert len(NETWORKS) >= 150
    assert all(network.family for network in NETWORKS.values())
