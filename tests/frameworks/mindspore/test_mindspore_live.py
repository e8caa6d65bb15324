# SPDX-License-Identifier: Apache-2.0
"""MindSpore itself beside AnyNPU (`make test-frameworks`): every network of nets.py and every case
of cases.py is run on MindSpore's CPU, exported, converted with atc and run with acl.mdl."""
import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]

import cases  # noqa: E402
import nets  # noqa: E402
from export import run_and_export  # noqa: E402
from mindspore_files import check_outputs, convert  # noqa: E402
from om_runner import run_om  # noqa: E402

import acl  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def device():
    acl.init()
    acl.rt.set_device(0)
    yield
    acl.rt.reset_device(0)
    acl.finalize()


@pytest.mark.parametrize("name", list(nets.NETS))
def test_networks_equal_mindspore(name, tmp_path):
    inputs, outputs = run_and_export(*nets.NETS[name](), str(tmp_path / "net.mindir"))
    done = convert(tmp_path / "net.mindir")
    assert done.returncode == 0, done.stderr
    check_outputs(run_om(tmp_path / "net.om", inputs), outputs)


@pytest.mark.parametrize("name", list(cases.CASES))
def test_primitives_equal_mindspore(name, tmp_path):
    inputs, outputs = run_and_export(*cases.CASES[name](), str(tmp_path / "net.mindir"))
    done = convert(tmp_path / "net.mindir")
    assert done.returncode == 0, done.stderr
    check_outputs(run_om(tmp_path / "net.om", inputs), outputs)


def test_the_example_gives_the_results_of_mindspore(tmp_path):
    example = os.path.join(HERE, "..", "..", "..", "examples", "mindspore", "lenet.py")
    done = subprocess.run([sys.executable, os.path.abspath(example)], cwd=tmp_path,
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"largest difference: (\S+)", done.stdout)[1]) < 1e-4


def test_weights_in_files_beside_the_model(tmp_path):
    """MindSpore splits models of more than a gigabyte; a smaller one is split when it is encrypted
    by parts or asked to, so this one is large."""
    if not os.environ.get("ANYNPU_LARGE_MODELS"):
        pytest.skip("writes 1.1 GB: set ANYNPU_LARGE_MODELS=1")
    from mindspore import nn
    net = nets.seeded(nn.Dense(16384, 17000))
    inputs, outputs = run_and_export(net, [nets.noise(1, 16384)], str(tmp_path / "net.mindir"))
    done = convert(tmp_path / "net_graph.mindir")
    assert done.returncode == 0, done.stderr
    check_outputs(run_om(tmp_path / "net.om", inputs), outputs)
