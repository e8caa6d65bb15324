# SPDX-License-Identifier: Apache-2.0
"""Models whose values decide what runs and how large it gets: If, Loop, Scan, sequences, functions
of the model, and outputs whose size each run tells (0 is reported before, the description of the
dataset tells it afterwards)."""

import threading

import flow_models
import numpy as np
import pytest
from model_datasets import Model, atc, convert
from onnx.reference import ReferenceEvaluator

import acl

ROOM = 1 << 16
TYPES = {0: np.float32, 9: np.int64}
SHAPE_INVALID = 145021

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flow")
    made = {}
    for name in ("branches", "power_loop", "growing_loop", "running_sum", "positives", "sequence",
                 "functions"):
        source = getattr(flow_models, name)()
        made[name] = (convert(folder, name, source), source)
    return made


def load(path):
    """The model with room for outputs of unknown size."""
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc_from_file(desc, path) == 0
    sizes = [acl.mdl.get_output_size_by_index(desc, i) or ROOM
             for i in range(acl.mdl.get_num_outputs(desc))]
    acl.mdl.destroy_desc(desc)
    return Model(path, output_sizes=sizes)


def outputs_of(model):
    arrays = []
    for i in range(acl.mdl.get_num_outputs(model.desc)):
        dims, _ = acl.mdl.get_output_dims(model.desc, i)
        shape = dims["dims"]
        if min(shape, default=0) < 0:
            assert acl.mdl.get_output_size_by_index(model.desc, i) == 0
            desc = acl.mdl.get_dataset_tensor_desc(model.outputs, i)
            shape = [acl.get_tensor_desc_dim_v2(desc, k)[0]
                     for k in range(acl.get_tensor_desc_num_dims(desc))]
            kind = TYPES[acl.get_tensor_desc_type(desc)]
            assert acl.get_tensor_desc_size(desc) == np.prod(shape) * np.dtype(kind).itemsize
        arrays.append(model.read(i, shape, TYPES[acl.mdl.get_output_data_type(model.desc, i)]))
    return arrays


def check(files, name, *feeds):
    path, source = files[name]
    model = load(path)
    reference = ReferenceEvaluator(source)
    names = [value.name for value in source.graph.input]
    for feed in feeds:
        model.feed(*feed)
        assert model.execute() == 0, acl.get_recent_err_msg()
        want = reference.run(None, dict(zip(names, feed)))
        got = outputs_of(model)
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert list(a.shape) == list(np.shape(b))
            np.testing.assert_allclose(a, b, rtol=1e-6)
    model.close()


def floats(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_an_if_runs_the_branch_its_condition_names(files):
    check(files, "branches", [np.bool_(True), floats(2, 3)], [np.bool_(False), floats(2, 3)])


def test_a_loop_runs_as_often_as_its_count_says_and_not_at_all_for_0(files):
    model = load(files["power_loop"][0])
    for count in (3, 1, 0, 7):
        start, factor = floats(3), floats(4)[:3]
        model.feed(np.int64(count), start, factor)
        assert model.execute() == 0, acl.get_recent_err_msg()
        last, rows = outputs_of(model)
        assert rows.shape == (count, 3)
        for k in range(count):
            np.testing.assert_allclose(rows[k], start * factor ** (k + 1), rtol=1e-5)
        np.testing.assert_array_equal(last, rows[-1] if count else start)
    model.close()


def test_values_that_a_loop_carries_may_grow(files):
    check(files, "growing_loop", *[[floats(2) ** 2, np.float32([limit])] for limit in (1, 50, 3)])


def test_a_scan_cuts_along_any_axis_and_in_both_directions(files):
    model = load(files["running_sum"][0])
    start, data, scale = floats(2), floats(2, 5), floats(1)
    model.feed(start, data, scale)
    assert model.execute() == 0, acl.get_recent_err_msg()
    total, sums = outputs_of(model)
    want = start[:, None] + np.cumsum(data[:, ::-1] * scale, axis=1)[:, ::-1]
    np.testing.assert_allclose(sums, want, rtol=1e-5)
    np.testing.assert_allclose(total, want[:, 0], rtol=1e-5)
    model.close()


def test_values_decide_how_large_an_output_is(files):
    check(files, "positives", [floats(3, 4)], [-np.ones((3, 4), np.float32)],
          [np.ones((3, 4), np.float32)])


def test_sequences_live_inside_the_graph(files):
    check(files, "sequence", [floats(4, 2), np.int64(1)], [floats(4, 2), np.int64(-1)])


def test_functions_of_the_model_are_put_in_place(files):
    check(files, "functions", [np.bool_(True), floats(5)], [np.bool_(False), floats(5)])


def test_dims_are_open_before_the_run(files):
    model = load(files["positives"][0])
    assert acl.mdl.get_output_dims(model.desc, 0)[0]["dims"] == [-1]
    assert acl.mdl.get_output_dims(model.desc, 1)[0]["dims"] == [1]
    assert acl.mdl.get_output_dims(model.desc, 2)[0]["dims"] == [-2], "not even the rank is known"
    model.close()


def test_an_asynchronous_run_describes_its_outputs_when_it_ends(files):
    model = load(files["positives"][0])
    data = floats(3, 4)
    model.feed(data)
    assert model.execute_on_stream() == 0
    np.testing.assert_array_equal(outputs_of(model)[0], data[data > 0])
    model.close()


def test_memory_of_the_program_is_refused_where_values_decide_the_size(files):
    path = files["positives"][0]
    assert acl.mdl.query_size(path)[2] == SHAPE_INVALID
    memory, _ = acl.rt.malloc(4096, 0)
    assert acl.mdl.load_from_file_with_mem(path, memory, 4096, memory, 4096)[1] == SHAPE_INVALID
    assert "load it without memory of your own" in acl.get_recent_err_msg()
    assert acl.rt.free(memory) == 0


def test_threads_run_one_model_with_sizes_of_their_own(files):
    path, problems = files["positives"][0], []

    def work(seed):
        acl.rt.set_device(0)
        model = load(path)
        data = np.random.default_rng(seed).standard_normal((3, 4)).astype(np.float32)
        for _ in range(20):
            model.feed(data)
            if model.execute() or not np.array_equal(outputs_of(model)[0], data[data > 0]):
                problems.append(acl.get_recent_err_msg())
        model.close()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def refused(tmp_path, model):
    """What atc says about a hostile model; nothing may be written."""
    import onnx
    onnx.save(model, tmp_path / "bad.onnx")
    done = atc(f"--model={tmp_path}/bad.onnx", "--framework=5", f"--output={tmp_path}/bad",
               "--soc_version=Ascend310P3")
    assert done.returncode != 0
    assert not (tmp_path / "bad.om").exists()
    return done.stdout + done.stderr


def test_a_chain_of_else_branches_takes_the_one_its_value_names(tmp_path):
    source = flow_models.else_chain(16)
    files = {"chain": (convert(tmp_path, "chain", source), source)}
    check(files, "chain", *([np.float32(x)] for x in (-3, 0.5, 7, 14.5, 15, 16, 99)))


def test_loops_run_inside_loops(tmp_path):
    model = load(convert(tmp_path, "loops", flow_models.nested_loops(8)))
    model.feed(np.float32([2]))
    assert model.execute() == 0, acl.get_recent_err_msg()
    np.testing.assert_array_equal(outputs_of(model)[0], np.full(511, 2, np.float32))
    model.close()


@pytest.mark.parametrize("made", [flow_models.else_chain(17), flow_models.nested_loops(9)],
                         ids=["branches", "loops"])
def test_a_graph_inside_too_many_others_is_refused(tmp_path, made):
    said = refused(tmp_path, made)
    assert "deep inside one another" in said and "at most 16 and 8 are taken; export" in said


def chain_of_functions(count, calls):
    """Each function calls the one before it `calls` times."""
    from onnx import helper
    made = []
    for i in range(count):
        op, domain = (f"F{i - 1}", "local") if i else ("Neg", "")
        nodes = [helper.make_node(op, ["x" if k == 0 else f"t{k - 1}"],
                                  [f"t{k}" if k + 1 < calls else "y"], domain=domain)
                 for k in range(calls)]
        made.append(helper.make_function("local", f"F{i}", ["x"], ["y"], nodes,
                                         [helper.make_opsetid("", 17),
                                          helper.make_opsetid("local", 1)]))
    return flow_models.model([helper.make_node(f"F{count - 1}", ["x"], ["y"], domain="local")],
                             [flow_models.info("x", 1, [2])], [flow_models.info("y", 1, [2])],
                             functions=made, domains=["local"])


def test_functions_that_multiply_are_stopped(tmp_path):
    assert "nodes once its functions are in place" in refused(tmp_path, chain_of_functions(12, 8))


def test_a_function_that_calls_itself_is_stopped(tmp_path):
    model = chain_of_functions(1, 1)
    model.functions[0].node[0].op_type, model.functions[0].node[0].domain = "F0", "local"
    said = refused(tmp_path, model)
    assert "functions call one another more than 32 deep" in said and "none may call itself" in said


def test_a_loop_that_carries_another_type_is_named(tmp_path):
    model = flow_models.growing_loop()
    body = model.graph.node[0].attribute[0].g
    body.node[1].op_type = "Shape"
    del body.node[1].input[1:], body.node[1].attribute[:]
    assert "a carried value before and after are float32 and int64" in refused(tmp_path, model)
