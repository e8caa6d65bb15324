# SPDX-License-Identifier: Apache-2.0
"""Networks in the style of TensorFlow 1, frozen, against TensorFlow."""
import compare
import pytest
from networks.all import NETWORKS, frozen

CASES = [(network, flow) for network in NETWORKS
         for flow in ((False, True) if network.loops else (False,))]


@pytest.mark.parametrize("network, new_flow", CASES,
                         ids=[f"{n.name}-{'v2' if flow else 'v1'}" for n, flow in CASES])
def test_a_network_gives_the_results_of_tensorflow(network, new_flow, errors):
    error = compare.distance(*frozen(network, large=True, new_flow=new_flow))
    errors[network.name + (" (control flow of TensorFlow 2)" if new_flow else "")] = error
    assert error < 1e-4
