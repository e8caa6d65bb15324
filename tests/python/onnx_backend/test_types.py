# SPDX-License-Identifier: Apache-2.0
"""Every form of every operator, in every type that ONNX allows it and AscendCL describes, is
compiled, loaded and run; where a change of type keeps the numbers, the results are those of the
suite."""
import collections
import os
import tempfile

import cases
import flows
import forms
import numpy as np
import onnx
import pytest
import worker
from onnx import TensorProto, helper, numpy_helper

# At most this far from the suite's results, as the norm of the difference over theirs.
FLOATS = {TensorProto.FLOAT: 1e-4, TensorProto.DOUBLE: 1e-4, TensorProto.COMPLEX64: 1e-4,
          TensorProto.COMPLEX128: 1e-4, TensorProto.FLOAT16: 1e-2, TensorProto.BFLOAT16: 5e-2}

# The attribute that gives an output its type where no input has its type variable.
BY_ATTRIBUTE = {"Bernoulli": "dtype", "BitCast": "to", "BlackmanWindow": "output_datatype",
                "Cast": "to", "Constant": "value", "ConstantOfShape": "value",
                "DequantizeLinear": "output_dtype", "EyeLike": "dtype",
                "HammingWindow": "output_datatype", "HannWindow": "output_datatype",
                "LayerNormalization": "stash_type", "MelWeightMatrix": "output_datatype",
                "Multinomial": "dtype", "QuantizeLinear": "output_dtype", "RandomNormal": "dtype",
                "RandomNormalLike": "dtype", "RandomUniform": "dtype",
                "RandomUniformLike": "dtype"}

# Forms below an opset whose results are not those of the suite, and why.
OTHER_NUMBERS = {
    "Bernoulli": (99, "draws"), "Dropout": (99, "draws"),
    "BitCast": (99, "other bits"), "QuantizeLinear": (99, "other steps and ends"),
    "Softmax": (13, "over all axes from one on"), "LogSoftmax": (13, "as Softmax"),
    "Hardmax": (13, "as Softmax"),
}
OTHER_MEANINGS = {("Attention", "U"): "a mask of bool says what is seen, any other is added"}


def variables(schema, node):
    """{name of an input, constant or output of the node: type variable of the form}."""
    found = {}
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for index, name in enumerate(names):
            found[name] = formals[min(index, len(formals) - 1)].type_str
    return found


def converted(tensor, number):
    dtype = helper.tensor_dtype_to_np_dtype(number)
    with np.errstate(all="ignore"):
        return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(dtype), tensor.name)


def set_attribute(node, attribute, number):
    """States the type of the output."""
    kept = [a for a in node.attribute if a.name == attribute.name]
    others = [a for a in node.attribute if a.name != attribute.name]
    value = number
    if attribute.name == "value":
        value = converted(kept[0].t if kept else numpy_helper.from_array(np.zeros(1)), number)
    elif int(attribute.type) == onnx.AttributeProto.STRING:
        value = TensorProto.DataType.Name(number)
    del node.attribute[:]
    node.attribute.extend([*others, helper.make_attribute(attribute.name, value)])


def output_types(form, model, bound):
    """The types that ONNX gives the outputs; None where it gives none that the form allows."""
    schema = form.schema
    attribute = schema.attributes.get(BY_ATTRIBUTE.get(schema.name))
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output
    except onnx.shape_inference.InferenceError:
        return None
    of, types = variables(schema, model.graph.node[-1]), []
    for value, before in zip(inferred, form.model.graph.output):
        variable = of[value.name]
        number = (bound.get(variable) or (attribute and attribute.default_value.i)
                  or value.type.tensor_type.elem_type or before.type.tensor_type.elem_type)
        if f"tensor({TensorProto.DataType.Name(number).lower()})" not in allowed.get(
                variable, [variable]):
            return None
        types.append(number)
    return types


def retyped(form, variable, number):
    """(model, inputs) with `variable` of type `number`; None where nothing is of that variable or
    ONNX has no such node."""
    model = onnx.ModelProto()
    model.CopyFrom(form.model)
    graph, node = model.graph, model.graph.node[-1]
    of, bound, inputs = variables(form.schema, node), {}, []
    for value, tensor in zip(cases.graph_inputs(graph), form.inputs):
        if of[value.name] == variable:
            value.type.tensor_type.elem_type = number
            tensor = converted(tensor, number)
        bound[of[value.name]] = value.type.tensor_type.elem_type
        inputs.append(tensor)
    for tensor in graph.initializer:
        if of[tensor.name] == variable:
            tensor.CopyFrom(converted(tensor, number))
        bound[of[tensor.name]] = tensor.data_type
    if variable not in bound:
        attribute = form.schema.attributes.get(BY_ATTRIBUTE.get(node.op_type))
        if not attribute or variable not in [of[name] for name in node.output if name]:
            return None
        set_attribute(node, attribute, number)
        bound[variable] = number
    for value in graph.output:
        value.type.tensor_type.Clear()
    types = output_types(form, model, bound)
    for value, kind in zip(graph.output, types or []):
        value.type.tensor_type.elem_type = kind
    return types and (model, inputs)


def distance(got, want):
    """Of finite elements; 0 where both are empty."""
    with np.errstate(all="ignore"):
        got, want = (np.asarray(a).astype(np.complex128).ravel() for a in (got, want))
    finite = np.isfinite(want)
    got, want = got[finite], want[finite]
    return np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-6)


class Runner:
    """Compiles, loads and runs models, in a folder in memory: atc waits for the disk."""

    def __init__(self, folder):
        self.worker = worker.Worker(folder)
        self.file = os.path.join(folder, "net.onnx")

    def run(self, model, inputs):
        onnx.save(model, self.file)
        self.worker.compile(self.file, worker.ONNX, worker.open_shapes(model, inputs))
        model_id = self.worker.load()
        try:
            return self.worker.execute(model_id, worker.in_order(inputs))
        finally:
            worker.acl.mdl.unload(model_id)

    def fault(self, form, variable, number, model, inputs):
        """What is wrong with a model of a form; empty when nothing is."""
        schema = form.schema
        try:
            results = self.run(model, inputs)
        except worker.Mismatch as mismatch:
            return str(mismatch)
        for value, (raw, acl_type, shape), want in zip(model.graph.output, results,
                                                       form.outputs or [None] * len(results)):
            kind = value.type.tensor_type.elem_type
            if cases.ACL_TYPES.get(acl_type) != kind:
                return f"'{value.name}' has aclDataType {acl_type}, expected {kind}"
            if (want is None or (schema.name, variable) in OTHER_MEANINGS
                    or schema.since_version < OTHER_NUMBERS.get(schema.name, (0,))[0]):
                continue
            limit = max(FLOATS.get(number, 0), FLOATS.get(kind, 0))
            kept = [distance(cases.expected_array(converted(b, a.data_type)),
                             cases.expected_array(b)) <= limit
                    for a, b in zip([*inputs, TensorProto(data_type=kind)], [*form.inputs, want])]
            if all(kept):
                self.compared += 1
                away = distance(cases.from_bytes(raw, kind, shape), cases.expected_array(want))
                if not away <= limit:
                    return f"'{value.name}' is {away} from the suite's, at most {limit}"
        return ""

    compared = 0


@pytest.fixture(scope="module")
def runner():
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="anynpu-types-", dir=memory) as folder:
        yield Runner(folder)
    worker.acl.rt.reset_device(0)
    worker.acl.finalize()


def test_every_form_takes_every_type_that_onnx_allows_and_acl_describes(runner):
    tried, faults = collections.Counter(), {}
    for form in forms.all_forms():
        schema = form.schema
        for constraint in schema.type_constraints:
            for name in constraint.allowed_type_strs:
                number = forms.TYPES.get(name)
                variable = constraint.type_param_str
                made = number and retyped(form, variable, number)
                if made:
                    tried[schema.name, schema.since_version] += 1
                    why = runner.fault(form, variable, number, *made)
                    if why:
                        faults[schema.name, schema.since_version, variable, name] = why
    assert faults == {}
    assert tried.total() > 6000 and runner.compared > 2000
    untried = {(schema.name, schema.since_version) for schema in forms.schemas()
               if schema.type_constraints} - set(tried)
    assert {name for name, _ in untried} == forms.TEXT | flows.OPERATORS


@pytest.mark.parametrize("names", flows.FLOWS, ids=lambda names: names[0])
def test_branches_loops_sequences_and_optionals_pass_every_type_on(runner, names):
    tried, faults = 0, {}
    for opset in flows.opsets(names):
        for name in flows.element_types(names, opset) & set(forms.TYPES):
            model, given, wanted = flows.model(flows.FLOWS[names], forms.TYPES[name], opset)
            tried += 1
            try:
                results = runner.run(model, [given])
            except worker.Mismatch as mismatch:
                faults[opset, name] = str(mismatch)
                continue
            for (raw, kind, shape), want in zip(results, wanted.values(), strict=True):
                if (cases.ACL_TYPES[kind], raw, list(shape)) != (
                        want.data_type, cases.to_bytes(want), list(want.dims)):
                    faults[opset, name] = f"{raw} {shape}"
    assert faults == {} and tried >= 14
