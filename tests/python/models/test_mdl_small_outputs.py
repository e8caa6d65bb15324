# SPDX-License-Identifier: Apache-2.0
"""An output buffer that is too small gives the documented code, however the model is executed:
when the call is made where the size is known then, from the wait for the stream where values decide
it."""

import flow_models
import numpy as np
import pytest
from model_datasets import Model, convert
from shape_models import net

import acl

OUTPUT_NOT_MATCH = 100018
ROOM = 1 << 16

pytestmark = pytest.mark.usefixtures("runtime")

HOW = {
    "execute": Model.execute,
    "execute_v2": lambda model: model.execute_on_stream(
        lambda *args: acl.mdl.execute_v2(*args, 0)),
    "execute_async": Model.execute_on_stream,
    "execute_async_v2": lambda model: model.execute_on_stream(
        lambda *args: acl.mdl.execute_async_v2(*args, 0)),
}
BATCH = "--dynamic_batch_size=1,4,2"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    open_rows = flow_models.positives()
    open_rows.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    return {
        "fixed": convert(folder, "fixed", net(), "--input_shape=image:4,3,8,8"),
        "gears": convert(folder, "gears", net(), "--input_shape=image:-1,3,8,8", BATCH),
        "range": convert(folder, "range", net(), "--input_shape=image:1~4,3,8,8"),
        "values": convert(folder, "values", flow_models.positives()),
        "values_in_gears": convert(folder, "values_in_gears", open_rows, "--input_shape=x:-1,4",
                                   BATCH),
    }


@pytest.fixture(params=HOW)
def run(request):
    return HOW[request.param]


@pytest.mark.parametrize("kind", ["fixed", "gears", "range"])
def test_a_size_that_is_known_is_checked_when_the_call_is_made(files, run, kind):
    inputs = [4 * 3 * 8 * 8 * 4] + [8] * (kind == "gears")
    small = Model(files[kind], inputs, [4 * 5 * 4 - 1, ROOM])
    if kind == "range":
        desc = acl.create_tensor_desc(0, [4, 3, 8, 8], 0)
        assert acl.mdl.set_dataset_tensor_desc(small.inputs, desc, 0)[1] == 0
        acl.destroy_tensor_desc(desc)
    assert run(small) == OUTPUT_NOT_MATCH
    message = acl.get_recent_err_msg()
    assert "has a buffer of 79 bytes, the model needs 80 (float32 4x5)" in message
    if kind == "gears":
        assert acl.mdl.set_dynamic_batch_size(small.id, small.inputs, 1, 2) == 0
        assert run(small) == 0, "enough for a smaller gear"
    small.close()


@pytest.mark.parametrize("kind, rows", [("values", 3), ("values_in_gears", 2)])
def test_a_size_that_values_decide_is_told_by_the_run(files, run, kind, rows):
    inputs = [4 * 4 * 4, 8] if kind == "values_in_gears" else None
    small = Model(files[kind], inputs, output_sizes=[8, 8, ROOM])
    if inputs:
        assert acl.mdl.set_dynamic_batch_size(small.id, small.inputs, 1, rows) == 0
    small.feed(np.ones((rows, 4), np.float32))
    assert run(small) == OUTPUT_NOT_MATCH
    message = acl.get_recent_err_msg()
    assert f"takes {rows * 16} bytes; its buffer has 8: give a larger one" in message
    needed = acl.mdl.get_dataset_tensor_desc(small.outputs, 0)
    assert acl.get_tensor_desc_size(needed) == rows * 16, "the description says what to allocate"
    small.feed(np.diag(np.float32([0, 2, 3, 0]))[:rows])
    assert run(small) == 0, acl.get_recent_err_msg()
    small.close()
