# SPDX-License-Identifier: Apache-2.0
"""A model for every form of every operator of the default domain: what each opset made of it.

Most are the suite's cases of one node, given the opset of the form where their inputs, outputs and
attributes fit it. Forms that no case fits, or fits with another meaning, are written here.
"""
import collections
from dataclasses import dataclass

import cases
import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

IR_VERSION = 10
TYPES = {f"tensor({TensorProto.DataType.Name(number).lower()})": number
         for number in cases.DESCRIBED}

# Operators on strings alone, which AscendCL does not describe:
# tests/python/models/test_mdl_strings.py.
TEXT = {"RegexFullMatch", "StringConcat", "StringSplit"}


@dataclass
class Form:
    """One node in a graph; `outputs` are the suite's results, or None."""
    schema: defs.OpSchema
    model: onnx.ModelProto
    inputs: list
    outputs: list | None


def schemas():
    """All forms that an opset has; a deprecated one says that the operator is gone."""
    return sorted((schema for schema in defs.get_all_schemas_with_history()
                   if schema.domain == "" and not schema.deprecated),
                  key=lambda schema: (schema.name, schema.since_version))


def fits(node, schema):
    """Whether a form has the inputs, outputs and attributes of a node."""
    given = {attribute.name: attribute.type for attribute in node.attribute}
    known = schema.attributes
    return (schema.min_input <= len(node.input) <= schema.max_input
            and schema.min_output <= len(node.output) <= schema.max_output
            and all(name in known and int(known[name].type) == kind
                    for name, kind in given.items())
            and all(name in given for name, attribute in known.items() if attribute.required))


def of_the_suite():
    """{operator: [case]} of the cases of one node whose types can be changed."""
    found = collections.defaultdict(list)
    for case in cases.all_cases():
        model = cases.load(case)
        if len(model.graph.node) != 1 or model.functions or cases.why_out_of_scope(model):
            continue
        node = model.graph.node[0]
        if not node.domain and not any(a.HasField("g") for a in node.attribute):
            found[node.op_type].append((case, model))
    return found


def at_opset(model, version):
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.opset_import[:]
    made.opset_import.append(helper.make_opsetid("", version))
    return made


def all_forms():
    """At least one Form of each schema, one for each number of inputs that the suite has."""
    suite = of_the_suite()
    for schema in schemas():
        made = list(written(schema))
        yield from made
        counts = set()
        for case, model in [] if made else suite[schema.name]:
            node = model.graph.node[0]
            if len(node.input) in counts or not fits(node, schema):
                continue
            counts.add(len(node.input))
            inputs, outputs = next(cases.data_sets(case))
            yield Form(schema, at_opset(model, schema.since_version), inputs, outputs)


RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(0.5, 2, (2, 4, 6, 6)).astype(np.float32)
CHANNELS = {name: RANDOM.uniform(0.5, 2, 4).astype(np.float32) for name in "sbmv"}
ROIS = np.array([[0, 0, 0, 4, 4], [1, 1, 1, 5, 5]], np.float32)


def old(op, data=None, constants=None, outputs=1, **attributes):
    """(inputs of the model by name, constants by name, outputs, attributes)."""
    return op, {"x": X} if data is None else data, constants or {}, outputs, attributes


# (operator, first opset, last opset) of forms: a node.
REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
WRITTEN = [
    (1, 1, old("BatchNormalization", {"x": X, **CHANNELS}, consumed_inputs=[0], is_test=1)),
    (1, 5, old("Cast", to="FLOAT")),
    (1, 10, old("DepthToSpace", blocksize=2)),
    (1, 1, old("GlobalLpPool", p=2.0)),
    (2, 99, old("GlobalLpPool", p=2)),
    (1, 1, old("LpPool", kernel_shape=[2, 2], p=2.0)),
    (1, 99, old("MaxRoiPool", {"x": X, "r": ROIS}, pooled_shape=[2, 2])),
    (13, 99, old("MeanVarianceNormalization", axes=[0, 2, 3])),
    (1, 99, old("Multinomial", {"x": X[0, 0]}, sample_size=3, dtype=TensorProto.INT32)),
    (1, 1, old("Pad", paddings=[0, 0, 1, 1, 0, 0, 1, 1])),
    *((1, 99, old(op, {}, shape=[3, 4])) for op in ("RandomNormal", "RandomUniform")),
    (1, 6, old("PRelu", {"x": X, "s": CHANNELS["s"]})),
    *((1, 99, old(op, dtype=TensorProto.FLOAT)) for op in ("RandomNormalLike",
                                                           "RandomUniformLike")),
    *((1, 17, old(op, axes=[1, 2])) for op in REDUCTIONS),
    (1, 1, old("Reshape", shape=[2, -1])),
    (10, 10, old("Resize", constants={"s": np.array([1, 1, 2, 2], np.float32)})),
    (10, 15, old("RoiAlign", {"x": X, "r": ROIS[:, 1:], "i": np.array([0, 1])}, output_height=2,
                 output_width=2)),
    (1, 9, old("Slice", starts=[1, 0], ends=[3, 2], axes=[1, 2])),
    (1, 12, old("Squeeze", {"x": X[:, :1]}, axes=[1])),
    (1, 12, old("Unsqueeze", axes=[1])),
    (1, 1, old("Tile", constants={"t": np.array([2], np.float32), "a": np.array([1], np.float32)})),
    (1, 1, old("Split", constants={"s": np.array([1, 3], np.float32)}, outputs=2, axis=1)),
    (1, 9, old("TopK", outputs=2, k=2, axis=1)),
    (1, 1, old("Upsample", height_scale=2.0, width_scale=2.0)),
    (7, 8, old("Upsample", scales=[1.0, 1.0, 2.0, 2.0])),
]


def written(schema):
    for first, last, (op, data, constants, outputs, attributes) in WRITTEN:
        if op != schema.name or not first <= schema.since_version <= last:
            continue
        names = [f"y{i}" for i in range(outputs)]
        weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
        tensors = [numpy_helper.from_array(array, name) for name, array in data.items()]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node(op, [*data, *constants], names, **attributes)], "form",
            [value(t.name, t.data_type, t.dims) for t in tensors],
            [value(name, TensorProto.FLOAT, None) for name in names], weights)
        model = helper.make_model(graph, ir_version=IR_VERSION,
                                  opset_imports=[helper.make_opsetid("", schema.since_version)])
        yield Form(schema, model, tensors, None)
