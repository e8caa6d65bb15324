# SPDX-License-Identifier: Apache-2.0
"""Every type that ONNX allows an operator and AscendCL describes is compiled and loaded.

The models are the suite's own cases of one node, with the elements of one type variable changed.
"""
import ctypes
import os

import cases
import onnx
import pytest
import worker
from build_tree import BUILD
from onnx import TensorProto

TYPES = {f"tensor({TensorProto.DataType.Name(number).lower()})": number
         for number in cases.DESCRIBED}


def one_node_models():
    """(node, its schema, model): one for each operator, version and number of inputs."""
    seen = set()
    for case in cases.all_cases():
        model = cases.load(case)
        if case.kind != "node" or len(model.graph.node) != 1 or model.functions:
            continue
        node = model.graph.node[0]
        if node.domain or cases.why_out_of_scope(model) or \
                any(attribute.HasField("g") for attribute in node.attribute):
            continue
        opset = next(entry.version for entry in model.opset_import if not entry.domain)
        schema = onnx.defs.get_schema(node.op_type, opset, "")
        key = (node.op_type, schema.since_version, len(node.input))
        if key not in seen:
            seen.add(key)
            yield node, schema, model


def retyped(node, schema, model, variable, number):
    """The model with the elements of `variable` of type `number`; None where that is no change."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    values = {value.name: value for value in [*changed.graph.input, *changed.graph.output]}
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for index, name in enumerate(names):
            if name in values and formals[min(index, len(formals) - 1)].type_str == variable:
                values[name].type.tensor_type.elem_type = number
    if changed == model:
        return None
    if node.op_type == "BitCast":  # to a type of as many bits: its own
        del changed.graph.node[0].attribute[:]
        changed.graph.node[0].attribute.append(onnx.helper.make_attribute("to", number))
        for value in values.values():
            value.type.tensor_type.elem_type = number
    if node.op_type == "DequantizeLinear" and number == TensorProto.FLOAT8E8M0:
        changed.graph.node[0].attribute.append(
            onnx.helper.make_attribute("output_dtype", TensorProto.FLOAT))
    return changed


@pytest.fixture(scope="module")
def refusal(tmp_path_factory):
    """Why a model is refused, by atc's library or by the load; empty when it is not."""
    folder = tmp_path_factory.mktemp("types")
    source, made = str(folder / "net.onnx"), str(folder / "net.om")
    library = ctypes.CDLL(os.path.join(BUILD, "lib", "libanynpu.so"))
    message = ctypes.create_string_buffer(2000)
    worker.check(worker.acl.init(), "acl.init")
    worker.check(worker.acl.rt.set_device(0), "acl.rt.set_device")

    def compile_and_load(model):
        onnx.save(model, source)
        if library.anynpu_atc(source.encode(), made.encode(), worker.SOC, b"", message,
                              len(message)) != 0:
            return message.value.decode(errors="replace")
        model_id, ret = worker.acl.mdl.load_from_file(made)
        if ret != 0:
            return worker.acl.get_recent_err_msg()
        worker.acl.mdl.unload(model_id)
        return ""

    yield compile_and_load
    worker.acl.rt.reset_device(0)
    worker.acl.finalize()


def test_operators_take_every_type_that_onnx_allows_and_acl_describes(refusal):
    tried, refused = 0, {}
    for node, schema, model in one_node_models():
        if refusal(model):
            continue  # known_failures.yaml says why
        for constraint in schema.type_constraints:
            for name in constraint.allowed_type_strs:
                changed = name in TYPES and retyped(node, schema, model,
                                                    constraint.type_param_str, TYPES[name])
                if changed:
                    tried += 1
                    why = refusal(changed)
                    if why:
                        refused[node.op_type, name[7:-1]] = why
    assert tried > 1500
    assert refused == {}
