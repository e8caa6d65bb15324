# SPDX-License-Identifier: Apache-2.0
"""Guide 3.2: contexts, threads and the default stream. Both blocks execute operators, whose
models atc makes from a list."""
import json
import subprocess

import numpy as np
import pytest
from blocks import block, read_bytes, run_block, write_bytes

import acl

FLOAT, ND = 0, 2
LEFT, RIGHT = np.float32([1, 2, 3, 4]), np.float32([10, 20, 30, 40])


@pytest.fixture
def op_models(tmp_path):
    """A folder with models of Add, Sub and Mul for two tensors of four floats."""
    tensor = {"format": "ND", "shape": [4], "type": "float"}
    (tmp_path / "ops.json").write_text(json.dumps(
        [{"op": op, "input_desc": [tensor, tensor], "output_desc": [tensor]}
         for op in ("Add", "Sub", "Mul")]))
    done = subprocess.run(["atc", "--singleop=ops.json", "--output=op_models",
                           "--soc_version=Ascend310P3"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return str(tmp_path / "op_models")


def operands():
    """What the blocks leave to the reader, in its order: the descriptions and buffers of two
    inputs and one output in memory of the current device, and no attributes."""
    descs = [acl.create_tensor_desc(FLOAT, [4], ND) for _ in range(3)]
    buffers = []
    for values in (LEFT, RIGHT, 0 * LEFT):
        address, ret = acl.rt.malloc(values.nbytes, 2)
        assert ret == 0
        write_bytes(acl, address, values.tobytes())
        buffers.append(acl.create_data_buffer(address, values.nbytes))
    return descs[:2], buffers[:2], descs[2:], buffers[2:], acl.op.create_attr()


def result(stream, outputs):
    """The values of the only output, once the stream has done its work."""
    assert acl.rt.synchronize_stream(stream) == 0
    address = acl.get_data_buffer_addr(outputs[0])
    return np.frombuffer(read_bytes(acl, address, LEFT.nbytes), np.float32).tolist()


@block("3.2", "ctx1, ret = acl.rt.create_context(0)",
       slips=["`...` and `s1` stand for what the reader fills in",
              "the second operator is given the first one's tensors, which are on device 0",
              "no reset: the contexts are destroyed here"])
def test_3_2_switching_the_context_switches_the_device(op_models):
    assert acl.init() == 0 and acl.op.set_model_dir(op_models) == 0
    names = run_block("""
        ctx1, ret = acl.rt.create_context(0)
        stream, ret = acl.rt.create_stream()
        input_desc, inputs, output_desc, outputs, attr = on_0 = operands()
        ret = acl.op.execute_v2(op_type, input_desc, inputs, output_desc, outputs, attr, stream)
        sums = result(stream, outputs)
        ctx2, ret = acl.rt.create_context(1)

        stream2, ret = acl.rt.create_stream()
        second, ret = acl.rt.get_device()
        input_desc, inputs, output_desc, outputs, attr = operands()
        ret = acl.op.execute_v2(op_type2, input_desc, inputs, output_desc, outputs, attr, stream2)
        differences = result(stream2, outputs)
        ret = acl.rt.set_context(ctx1);

        third, ret = acl.rt.get_device()
        ret = acl.op.execute_v2(op3, *on_0, stream)
        products = result(stream, on_0[3])
        """, acl=acl, operands=operands, result=result, op_type="Add", op_type2="Sub", op3="Mul")
    assert (names["second"], names["third"]) == (1, 0)
    assert names["sums"] == (LEFT + RIGHT).tolist()
    assert names["differences"] == (LEFT - RIGHT).tolist()
    assert names["products"] == (LEFT * RIGHT).tolist()
    for name in ("stream2", "stream"):
        assert acl.rt.destroy_stream(names[name]) == 0
    for name in ("ctx2", "ctx1"):
        assert acl.rt.destroy_context(names[name]) == 0
    assert acl.finalize() == 0


@block("3.2", "ret = acl.init(config_path)",
       slips=["config_path and device_id are not defined",
              "both comments break and go on in the next line without #"])
def test_3_2_operators_run_one_after_the_other_on_the_default_stream(tmp_path, op_models):
    config = tmp_path / "acl.json"
    config.write_text("{}")
    names = run_block("""
        ret = acl.init(config_path)
        ret = acl.rt.set_device(device_id)

        ret = acl.op.set_model_dir(op_models)
        input_desc, inputs, output_desc, outputs, attr = operands()
        ret = acl.op.execute_v2(op1, input_desc, inputs, output_desc, outputs, attr, 0)
        ret = acl.op.execute_v2(op2, input_desc, inputs, output_desc, outputs, attr, 0)
        ret = acl.rt.synchronize_stream(0)

        values = result(0, outputs)
        ret = acl.rt.reset_device(device_id)
        """, acl=acl, operands=operands, result=result, config_path=str(config), device_id=0,
        op_models=op_models, op1="Add", op2="Mul")
    assert names["values"] == (LEFT * RIGHT).tolist(), "the second operator ran last"
    assert acl.rt.synchronize_stream(0) != 0, "the default stream ended with its device"
    assert acl.finalize() == 0
