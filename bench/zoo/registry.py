# SPDX-License-Identifier: Apache-2.0
"""The list of networks: each is a function that fills a Net, with its family and name."""

from dataclasses import dataclass
from typing import Callable

from net import Net

NETWORKS = {}


@dataclass(frozen=True)
class Network:
    name: str
    family: str
    build: Callable

    def make(self):
        """The ONNX model and the arrays to feed it."""
        net = Net()
        self.build(net)
        return net.model(self.name), net.feeds


def network(family, name, **options):
    """Adds a network; several decorators on one function make its variants."""

    def register(build):
        assert name not in NETWORKS, name
        NETWORKS[name] = Network(name, family, lambda net: build(net, **options))
        return build

    return register
