# SPDX-License-Identifier: Apache-2.0
"""Whole networks at a small size, for `make test`."""


class Whole:
    outside_graph = True

    def __init__(self, network, new_flow):
        self.network, self.new_flow = network, new_flow

    def __call__(self, rng):
        from networks import all as networks
        return networks.frozen(self.network, new_flow=self.new_flow)


def cases(add):
    from networks.all import NETWORKS
    for network in NETWORKS:
        for new_flow in (False, True) if network.loops else (False,):
            name = f"{network.name}.{'v2' if new_flow else 'v1'}"
            add.graph(name, ["(networks)"], Whole(network, new_flow), rtol=1e-4)
