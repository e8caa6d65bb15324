# SPDX-License-Identifier: Apache-2.0
"""Whole networks, reduced: as near to onnxruntime as float32 allows, and hardly further from
float64 than onnxruntime itself. docs/exactness.md has the published sizes."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "networks"))

import exactness  # noqa: E402
from networks import NETWORKS  # noqa: E402


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_results_are_exact(network, tmp_path, device_0):
    to_peer, to_exact, peer_to_exact = exactness.measure(network, False, str(tmp_path))
    assert to_peer <= exactness.LIMIT
    assert to_exact <= exactness.TIMES * peer_to_exact
