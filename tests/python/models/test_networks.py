# SPDX-License-Identifier: Apache-2.0
"""Whole networks, reduced: as near to onnxruntime as float32 allows, hardly further from float64
than onnxruntime itself, and as near as the short types allow. docs/exactness.md has the published
sizes."""

import exactness  # noqa: E402
import pytest
from networks import NETWORKS  # noqa: E402


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_results_are_exact(network, tmp_path, device_0):
    runs = exactness.Runs(network, False, str(tmp_path))
    to_peer, to_exact, peer_to_exact = runs.exact()
    assert to_peer <= exactness.LIMIT
    assert to_exact <= exactness.TIMES * peer_to_exact
    for mode, limit in exactness.SHORT.items():
        assert runs.short(mode) <= limit, mode
