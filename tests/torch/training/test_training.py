# SPDX-License-Identifier: Apache-2.0
"""Losses of the usual networks, step by step, on the device and on the CPU."""
import functools

import networks
import pytest
import torch
from training import OPTIMIZERS, train


@functools.lru_cache(None)
def trained_on_cpu(network, optimizer, clip):
    return train(network, "cpu", optimizer, clip=clip)


def losses_of_cpu(network, optimizer, clip=None):
    """foreach and fused are other ways to the same numbers."""
    return trained_on_cpu(network, optimizer.split("_")[0], clip)


@pytest.mark.parametrize("network", networks.NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_losses_follow_those_of_the_cpu(network, optimizer):
    expected = losses_of_cpu(network, optimizer)
    assert train(network, "npu", optimizer) == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("network", networks.NETWORKS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_autocast_learns_as_float32_does(network, optimizer, dtype):
    expected = losses_of_cpu(network, optimizer)
    losses = train(network, "npu", optimizer, autocast=dtype)
    # Eight bits of mantissa: the losses wander apart slowly.
    assert losses == pytest.approx(expected, rel=0.05, abs=0.05)


@pytest.mark.parametrize("network", ["resnet50", "gpt2"])
def test_gradients_are_clipped_to_the_same_norm(network):
    expected = losses_of_cpu(network, "sgd", clip=0.5)
    assert train(network, "npu", "sgd", clip=0.5) == pytest.approx(expected, rel=1e-4, abs=1e-4)
