# SPDX-License-Identifier: Apache-2.0
"""The code blocks and definitions of the interface's guide, as printed; docs/ais_bench_blocks.md is
made from the marks (tools/gen_guide_blocks.py)."""
import inspect
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from om_models import image

import aclruntime
from ais_bench.infer.interface import InferSession, MemorySummary, MultiDeviceSession


def block(section, first_line, slips=(), note=""):
    """Says which block of the guide a test runs. Read from the source, so write literals only."""
    return lambda test: test


def arguments(function):
    """Names and defaults of a function, without self."""
    return [(name, p.default) for name, p in inspect.signature(function).parameters.items()
            if name != "self"]


NONE = inspect.Parameter.empty


@pytest.fixture
def there(models, tmp_path, monkeypatch):
    """The folder of a user: model.om lies in it."""
    (tmp_path / "model.om").write_bytes(open(models("fixed"), "rb").read())
    monkeypatch.chdir(tmp_path)
    return tmp_path


QUICK_START = """
from ais_bench.infer.interface import InferSession

session = InferSession(device_id=0, model_path="model.om")
outputs = session.infer(feeds=inputs, mode="static")
exec_time = session.summary().exec_time_list[-1]
"""


@block("快速上手", "from ais_bench.infer.interface import InferSession")
@block("快速上手", 'outputs = session.infer(feeds=inputs, mode="static")')
@block("快速上手", "exec_time = session.summary().exec_time_list[-1]",
       note="a float that also unpacks as (start, end)")
def test_quick_start(there):
    names = {"inputs": [image(1, 3, 8, 8)]}
    exec(QUICK_START, names)  # noqa: S102
    assert all(isinstance(output, np.ndarray) for output in names["outputs"])
    assert 0 < names["exec_time"] < 10000
    start, end = names["exec_time"]
    assert end - start == names["exec_time"]


@block("快速上手", "pip3 install ./aclruntime-{version}-{python_version}-linux_{arch}.whl",
       note="the vendor's packages; `pip install .` installs both (tests/packaging)")
def test_both_packages_import_and_have_versions():
    code = "import aclruntime, ais_bench; print(aclruntime.__version__, ais_bench.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.0.2", "0.0.2"]


@block("InferSession", "class InferSession(device_id: int, model_path: str, acl_json_path: str = "
                       "None, debug: bool = False, loop: int = 1)")
def test_infer_session(there, tmp_path):
    assert arguments(InferSession.__init__) == [
        ("device_id", NONE), ("model_path", NONE), ("acl_json_path", None), ("debug", False),
        ("loop", 1)]
    (tmp_path / "acl.json").write_text("{}")
    for path in ("model.om", "./model.om", str(tmp_path / "model.om")):
        session = InferSession(1, path, "acl.json", False, 3)
        session.infer([image(1, 3, 8, 8)])
        assert len(session.summary()) == 3
        session.free_resource()


@block("InferSession", "get_inputs()")
@block("InferSession", "get_outputs()")
def test_get_inputs_and_outputs(make):
    session = make("fixed")
    for descs, count in ((session.get_inputs(), 1), (session.get_outputs(), 2)):
        assert isinstance(descs, list) and len(descs) == count
        assert all(isinstance(desc, aclruntime.tensor_desc) for desc in descs)


@block("InferSession", "infer(feeds, mode='static', custom_sizes=100000, out_array=True)")
def test_infer(make):
    assert arguments(InferSession.infer) == [("feeds", NONE), ("mode", "static"),
                                             ("custom_sizes", 100000), ("out_array", True)]
    session, x = make("range"), image(2, 3, 8, 8)
    for sizes in (100000, [100000, 100000]):
        host = session.infer([x], "dymshape", sizes)
        assert all(isinstance(one, np.ndarray) for one in host)
        device = session.infer([x], "dymshape", sizes, out_array=False)
        assert all(isinstance(one, aclruntime.Tensor) and one.device == 0 for one in device)


@block("InferSession", "infer_pipeline(feeds_list, mode = 'static', custom_sizes = 100000)")
def test_infer_pipeline(make):
    assert arguments(InferSession.infer_pipeline) == [
        ("feeds_list", NONE), ("mode", "static"), ("custom_sizes", 100000)]
    session = make("step")
    kinds = [image(4, 8), aclruntime.Tensor(image(4, 8))]
    results = session.infer_pipeline([[kinds[0], kinds[1]]] * 3)
    assert len(results) == 3 and all(isinstance(one, np.ndarray) for row in results for one in row)


@block("InferSession", "infer_iteration(feeds, in_out_list = None, iteration_times = 1, mode = "
                       "'static', custom_sizes = 100000, mem_copy = True)")
def test_infer_iteration(make):
    assert arguments(InferSession.infer_iteration) == [
        ("feeds", NONE), ("in_out_list", None), ("iteration_times", 1), ("mode", "static"),
        ("custom_sizes", 100000), ("mem_copy", True)]
    session, a, b = make("step"), image(4, 8), image(4, 8) + 1
    by_hand = [a, b]
    for _ in range(4):
        outputs = session.infer(by_hand)
        by_hand = [a, outputs[1]]  # [-1, 1]: the first stays, the second is output 1
    for mem_copy in (True, False):
        got = session.infer_iteration([a, b], [-1, 1], 4, "static", 100000, mem_copy)
        assert all(np.array_equal(x, y) for x, y in zip(got, outputs))


@block("InferSession", "summary()")
@block("InferSession", "reset_summaryinfo()")
def test_summary(make):
    session = make("fixed")
    for _ in range(3):
        session.infer([image(1, 3, 8, 8)])
    assert [type(time) is not tuple and time > 0 for time in session.summary()] == [True] * 3
    assert session.reset_summaryinfo() is None and session.summary() == []


@block("InferSession", "free_resource()")
@block("InferSession", "finalize()")
def test_free_resource_and_finalize(models):
    x = image(1, 3, 8, 8)
    one, two = InferSession(0, models("fixed")), InferSession(0, models("fixed"))
    assert one.free_resource() is None
    assert len(two.infer([x])) == 2, "other sessions stay"
    assert two.finalize() is None
    with pytest.raises(RuntimeError):
        two.infer([x])


MULTI = """
from ais_bench.infer.interface import MultiDeviceSession, MemorySummary
import numpy as np
session = MultiDeviceSession("model.om")
feeds = [np.ones((1, 3, 8, 8), np.float32)]
assert len(session.infer({0: [feeds, feeds], 1: [feeds]})[0]) == 2
assert len(session.infer_pipeline({0: [[feeds, feeds]]})[0][0]) == 2
assert len(session.infer_iteration({1: [feeds]}, [-1], 2)[1]) == 1
assert list(session.summary()) == [1] and session.summary()[1][0] > 0
session.reset_summaryinfo()
assert session.summary() == {}
"""


@block("MultiDeviceSession", "class MultiDeviceSession(model_path: str, acl_json_path: str = None, "
                             "debug: bool = False, loop: int = 1)")
@block("MultiDeviceSession", "infer(), infer_pipeline(), infer_iteration(), summary(), "
                             "reset_summaryinfo()",
       note="the guide leaves their arguments blank; {device: [feeds, ...]} as in later versions")
def test_multi_device_session(there):
    assert arguments(MultiDeviceSession.__init__)[:4] == [
        ("model_path", NONE), ("acl_json_path", None), ("debug", False), ("loop", 1)]
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(MULTI)], capture_output=True,
                          text=True, timeout=300, env=dict(os.environ))
    assert done.returncode == 0, done.stderr


@block("MemorySummary", "get_h2d_time_list()")
@block("MemorySummary", "get_d2h_time_list()")
@block("MemorySummary", "reset()")
def test_memory_summary(make):
    session = make("fixed")
    assert MemorySummary.reset() is None
    session.infer([image(1, 3, 8, 8)])
    assert len(MemorySummary.get_h2d_time_list()) == 1
    assert len(MemorySummary.get_d2h_time_list()) == 2
    assert all(isinstance(time, float) for time in MemorySummary().get_d2h_time_list())
