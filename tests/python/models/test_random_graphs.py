# SPDX-License-Identifier: Apache-2.0
"""Graphs drawn by chance give what onnxruntime gives, whatever the compiler makes of them."""
import os

import numpy as np
import onnxruntime
import pytest
from model_datasets import Model, convert
from random_graphs import draw_graph, with_open_batch

import acl

ROUNDS = int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "60"))  # more in `make fuzz`
ROOM = 1 << 20

pytestmark = pytest.mark.usefixtures("runtime")


def expected(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def check_outputs(model, shapes, wanted, names):
    for index, (name, shape, want) in enumerate(zip(names, shapes, wanted)):
        assert tuple(shape) == want.shape, name
        far = np.sqrt(np.mean(np.square(model.read(index, want.shape) - want, dtype=np.float64)))
        size = np.sqrt(np.mean(np.square(want, dtype=np.float64)))
        assert far <= 2e-4 * size + 2e-5, f"{name}: {far} apart, of {size}"


def names_of(proto):
    return [value.name for value in proto.graph.output]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_graph_gives_what_onnxruntime_gives_and_the_same_bytes_again(tmp_path, seed):
    proto, feeds = draw_graph(seed)
    model = Model(convert(tmp_path, "net", proto))
    model.feed(*feeds.values())
    assert model.execute() == 0, acl.get_recent_err_msg()
    wanted = expected(proto, feeds)
    shapes = [acl.mdl.get_output_dims(model.desc, i)[0]["dims"] for i in range(len(wanted))]
    check_outputs(model, shapes, wanted, names_of(proto))
    first = [model.read(i, want.shape).tobytes() for i, want in enumerate(wanted)]
    assert model.execute() == 0
    assert [model.read(i, want.shape).tobytes() for i, want in enumerate(wanted)] == first
    model.close()


@pytest.mark.parametrize("seed", range(1000, 1000 + ROUNDS // 5))
def test_a_graph_gives_the_same_with_its_batch_as_a_gear_and_as_a_range(tmp_path, seed):
    proto, feeds = draw_graph(seed)
    wanted, open_proto = expected(proto, feeds), with_open_batch(proto)
    batch = next(iter(feeds.values())).shape[0]
    shapes = ";".join(f"{name}:-1,{','.join(map(str, array.shape[1:]))}"
                      for name, array in feeds.items())

    geared = Model(convert(tmp_path, "geared", open_proto, f"--input_shape={shapes}",
                           "--dynamic_batch_size=1,2,3,4"))
    geared.feed(*feeds.values())
    assert acl.mdl.set_dynamic_batch_size(geared.id, geared.inputs,
                                          geared.index("ascend_mbatch_shape_data"), batch) == 0
    assert geared.execute() == 0, acl.get_recent_err_msg()
    dims = [acl.mdl.get_cur_output_dims(geared.desc, i)[0]["dims"] for i in range(len(wanted))]
    check_outputs(geared, dims, wanted, names_of(proto))
    geared.close()

    ranged = Model(convert(tmp_path, "ranged", open_proto, f"--input_shape={shapes}"),
                   [array.nbytes for array in feeds.values()], [ROOM] * len(wanted))
    ranged.feed(*feeds.values())
    for index, array in enumerate(feeds.values()):
        desc = acl.create_tensor_desc(0, list(array.shape), 0)
        assert acl.mdl.set_dataset_tensor_desc(ranged.inputs, desc, index)[1] == 0
        acl.destroy_tensor_desc(desc)
    assert ranged.execute() == 0, acl.get_recent_err_msg()
    dims = []
    for index in range(len(wanted)):
        desc = acl.mdl.get_dataset_tensor_desc(ranged.outputs, index)
        dims.append([acl.get_tensor_desc_dim_v2(desc, i)[0]
                     for i in range(acl.get_tensor_desc_num_dims(desc))])
    check_outputs(ranged, dims, wanted, names_of(proto))
    ranged.close()
