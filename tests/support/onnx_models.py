# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models written out in tests."""
from onnx import helper


def network(nodes, inputs, outputs, weights=(), opset=13):
    """A model of these nodes; inputs and outputs: (name, type, shape)."""
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
