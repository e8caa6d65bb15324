# SPDX-License-Identifier: Apache-2.0
"""Every operator that tf2onnx converts converts here: its own table against atc's answer."""
import os
import re
import subprocess

import pytest
import tensorflow as tf
import tf2onnx.tfonnx  # noqa: F401  registers the operators
from tf2onnx.handler import tf_op

# Rows of tf2onnx's table that are no operators of a GraphDef: names of its own, for nodes that its
# rewriters and its reader of Keras layers make.
OWN = {"ConstV2", "Conv1D", "DepthwiseConv2d", "Dropout", "Flatten", "HardSwish", "L2Normalization",
       "Loop", "Prelu", "RandomNormal", "RandomNormalLike", "RandomUniformLike", "Scan",
       "SquaredDistance"}


def their_table():
    """Operators of the domain that onnxruntime has; another one needs a library of custom operators
    for strings, and operators of TFLite have a prefix."""
    return {name for versions in [tf_op.get_opsets()[""]] for names in versions for name in names
            if not name.startswith("TFL_")}


def names_without_a_row(tmp_path, names):
    """Those that atc lists as unknown, of a model with a node of each."""
    graph = tf.compat.v1.GraphDef()
    for name in sorted(names):
        graph.node.add(name="node_of_" + name, op=name)
    path = os.path.join(tmp_path, "all.pb")
    with open(path, "wb") as file:
        file.write(graph.SerializeToString())
    outputs = ";".join("node_of_" + name for name in sorted(names))
    done = subprocess.run(["atc", "--model=" + path, "--framework=3", "--output=" + path,
                           "--out_nodes=" + outputs, "--soc_version=Ascend310P3"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    return set(re.findall(r"^  (\w+) 'node_of_\1'", done.stderr, re.M))


def test_every_operator_of_the_table_has_a_row(tmp_path):
    missing = names_without_a_row(tmp_path, their_table() | {"SurelyNoOperator"})
    assert "SurelyNoOperator" in missing
    assert missing - {"SurelyNoOperator"} == OWN


@pytest.mark.parametrize("name", sorted(OWN))
def test_what_is_left_out_is_no_operator_of_tensorflow(name):
    assert not hasattr(tf.raw_ops, name)
