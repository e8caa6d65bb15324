# SPDX-License-Identifier: Apache-2.0
"""Names of a model's inputs and outputs: whole, by their end, longer than dims have room for."""
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper
from onnx_models import network

import acl

INVALID_PARAM = 100000
LONG_IN, LONG_OUT = "i" * 300, "o" * 300

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def desc(tmp_path_factory, runtime):
    one = (TensorProto.FLOAT, [4])
    nodes = [helper.make_node("Add", ["part:x", "x"], ["sum"], name="add"),
             helper.make_node("Mul", ["sum", LONG_IN], [LONG_OUT], name="mul")]
    inputs = [("part:x", *one), ("x", *one), (LONG_IN, *one)]
    source = network(nodes, inputs, [("sum", *one), (LONG_OUT, *one)])
    model = Model(convert(tmp_path_factory.mktemp("names"), "names", source))
    yield model.desc
    model.close()


def test_outputs_are_called_node_index_and_tensor(desc):
    assert acl.mdl.get_output_name_by_index(desc, 0) == "add:0:sum"
    assert acl.mdl.get_output_name_by_index(desc, 1) == "mul:0:" + LONG_OUT
    assert acl.mdl.get_output_index_by_name(desc, "add:0:sum") == (0, 0)
    assert acl.mdl.get_output_index_by_name(desc, LONG_OUT) == (1, 0), "by the tensor alone"
    assert acl.mdl.get_output_index_by_name(desc, "um")[1] == INVALID_PARAM


def test_a_whole_name_counts_before_the_end_of_another(desc):
    assert acl.mdl.get_input_index_by_name(desc, "x") == (1, 0)
    assert acl.mdl.get_input_index_by_name(desc, "part:x") == (0, 0)
    assert acl.mdl.get_tensor_real_name(desc, "x") == "x"


@pytest.mark.parametrize("get_dims, index, get_index, real", [
    (acl.mdl.get_input_dims, 2, acl.mdl.get_input_index_by_name, LONG_IN),
    (acl.mdl.get_input_dims_v2, 2, acl.mdl.get_input_index_by_name, LONG_IN),
    (acl.mdl.get_output_dims, 1, acl.mdl.get_output_index_by_name, "mul:0:" + LONG_OUT),
    (acl.mdl.get_cur_output_dims, 1, acl.mdl.get_output_index_by_name, "mul:0:" + LONG_OUT),
])
def test_a_name_that_is_too_long_for_dims_has_a_short_form(desc, get_dims, index, get_index, real):
    dims, ret = get_dims(desc, index)
    assert ret == 0 and dims["dims"] == [4]
    assert 0 < len(dims["name"]) < 128 and dims["name"] != real
    assert acl.mdl.get_tensor_real_name(desc, dims["name"]) == real
    assert get_index(desc, dims["name"]) == (index, 0)


def test_a_name_that_nothing_has_gives_none(desc):
    assert acl.mdl.get_tensor_real_name(desc, "nothing") is None
    assert "'nothing'" in acl.get_recent_err_msg()
