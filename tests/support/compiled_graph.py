# SPDX-License-Identifier: Apache-2.0
"""The operators of a compiled model, as `atc --mode=1` shows them."""
import json
import os
import subprocess

CONVOLUTIONS = {"Conv", "ConvTranspose", "FusedConv", "FusedBottleneck"}
LAST_AXIS = {"LayerNormalization", "MatMul", "FusedMatMul", "Gemm", "FusedGemm"}
NO_OPERATORS = {"Data", "Const", "NetOutput"}


def operators_of(om):
    """{name: what is shown of it}, of the main graph."""
    shown = om.removesuffix(".om") + ".json"
    subprocess.run(["atc", "--mode=1", "--om=" + om, "--json=" + shown], check=True,
                   capture_output=True)
    with open(shown, encoding="utf-8") as file:
        found = {op["name"]: op for op in json.load(file)["graph"][0]["op"]}
    os.remove(shown)
    return found


def types_of(om):
    return [op["type"] for op in operators_of(om).values() if op["type"] not in NO_OPERATORS]


def transposes_between_convolutions(om):
    """The Transpose nodes on a way from one convolution to another on which nothing works along
    the last axis."""
    nodes = operators_of(om)
    sources = {name: {link.rpartition(":")[0] for link in op.get("input", [])} & set(nodes)
               for name, op in nodes.items()}
    readers = {name: set() for name in nodes}
    for name, froms in sources.items():
        for source in froms:
            readers[source].add(name)

    def reached(links):
        """What is behind a convolution."""
        waiting = [next_one for name, op in nodes.items() if op["type"] in CONVOLUTIONS
                   for next_one in links[name]]
        seen = set()
        while waiting:
            name = waiting.pop()
            if name not in seen and nodes[name]["type"] not in LAST_AXIS:
                seen.add(name)
                waiting += links[name]
        return seen

    assert any(op["type"] in CONVOLUTIONS for op in nodes.values()), "no convolution"
    return sorted(name for name in reached(readers) & reached(sources)
                  if nodes[name]["type"] == "Transpose")
