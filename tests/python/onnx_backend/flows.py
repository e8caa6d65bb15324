# SPDX-License-Identifier: Apache-2.0
"""Models that pass a tensor through branches, loops, sequences and optionals of one type."""
import re

import numpy as np
from forms import IR_VERSION
from onnx import TensorProto, defs, helper, numpy_helper

node, value = helper.make_node, helper.make_tensor_value_info
X = np.array([[0, 1, 1], [1, 0, 1]])


def body(number, names, results):
    """A graph whose results are its inputs, or values around it, of those names."""
    made = [node("Identity", [source], [name]) for name, source in results.items()]
    kinds = {"i": TensorProto.INT64, "c": TensorProto.BOOL}
    kind = {name: kinds.get(source, number) for name, source in results.items()}
    return helper.make_graph(made, "body", [value(n, kinds.get(n, number), None) for n in names],
                             [value(n, kind[n], None) for n in results])


def branch(number, opset):
    return [node("If", ["c"], ["y"], then_branch=body(number, [], {"t": "x"}),
                 else_branch=body(number, [], {"e": "x"}))], {"y": X}


def loop(number, opset):
    inside = body(number, ["i", "c", "v"], {"more": "c", "w": "v", "slice": "v"})
    return [node("Loop", ["n", "c", "x"], ["y", "slices"], body=inside)], {
        "y": X, "slices": np.stack([X, X])}


def scan(number, opset):
    inside = body(number, ["v"], {"w": "v"})
    if opset > 8:
        return [node("Scan", ["x"], ["y"], body=inside, num_scan_inputs=1)], {"y": X}
    # Opset 8 has a batch in front, and lengths that may be left out.
    axes = helper.make_attribute("axes", [0])
    nodes = [node("Unsqueeze", ["x"], ["b"]), node("Scan", ["", "b"], ["z"], body=inside,
                                                   num_scan_inputs=1),
             node("Squeeze", ["z"], ["y"])]
    for at in (0, 2):
        nodes[at].attribute.append(axes)
    return nodes, {"y": X}


def sequence(number, opset):
    return [node("SequenceConstruct", ["x", "x"], ["two"]),
            node("SequenceEmpty", [], ["none"], dtype=number),
            node("SequenceInsert", ["none", "x"], ["one"]),
            node("SequenceErase", ["two", "zero"], ["left"]),
            node("SequenceAt", ["one", "zero"], ["at"]),
            node("SequenceLength", ["two"], ["length"]),
            node("ConcatFromSequence", ["left"], ["joined"], axis=0)], {
        "at": X, "length": np.array(2), "joined": X}


def rows(number, opset):
    return [node("SplitToSequence", ["x"], ["parts"], axis=0),
            node("SequenceAt", ["parts", "zero"], ["y"])], {"y": X[:1]}


def mapped(number, opset):
    return [node("SequenceConstruct", ["x"], ["one"]),
            node("SequenceMap", ["one"], ["other"], body=body(number, ["v"], {"w": "v"})),
            node("SequenceAt", ["other", "zero"], ["y"])], {"y": X}


def optional(number, opset):
    return [node("Optional", ["x"], ["o"]), node("OptionalHasElement", ["o"], ["has"]),
            node("OptionalGetElement", ["o"], ["y"])], {"has": np.array(True), "y": X}


# {operators: nodes and the outputs they give}
FLOWS = {
    ("If",): branch, ("Loop",): loop, ("Scan",): scan,
    ("SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt",
     "SequenceLength", "ConcatFromSequence"): sequence,
    ("SplitToSequence",): rows, ("SequenceMap",): mapped,
    ("Optional", "OptionalHasElement", "OptionalGetElement"): optional,
}
OPERATORS = {name for names in FLOWS for name in names}
CONSTANTS = {"c": np.array(True), "n": np.array(2), "zero": np.array(0)}


def opsets(names):
    """The opsets in which one of the operators got a new form, from the first that has all."""
    changes = [{schema.since_version for schema in defs.get_all_schemas_with_history()
                if schema.domain == "" and schema.name == name} for name in names]
    first = max(min(versions) for versions in changes)
    return sorted(version for version in set.union(*changes) if version >= first)


def element_types(names, opset):
    """The types of tensors that all of the operators pass on, as 'tensor(int8)'."""
    return set.intersection(*(
        {found for constraint in defs.get_schema(name, opset, "").type_constraints
         if len(constraint.allowed_type_strs) > 2
         for found in re.findall(r"tensor\(\w+\)", " ".join(constraint.allowed_type_strs))}
        for name in names))


def model(make, number, opset):
    """(model, input, {output: its elements}) of one flow."""
    nodes, wanted = make(number, opset)
    kinds = {"length": TensorProto.INT64, "has": TensorProto.BOOL}
    used = {name for one in nodes for name in one.input}
    constants = [numpy_helper.from_array(array, name) for name, array in CONSTANTS.items()
                 if name in used]
    graph = helper.make_graph(nodes, "flow", [value("x", number, X.shape)],
                              [value(n, kinds.get(n, number), None) for n in wanted], constants)
    element = helper.tensor_dtype_to_np_dtype(number)
    return (helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                              ir_version=IR_VERSION),
            numpy_helper.from_array(X.astype(element)),
            {n: numpy_helper.from_array(w if n in kinds else w.astype(element))
             for n, w in wanted.items()})
