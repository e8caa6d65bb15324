# SPDX-License-Identifier: Apache-2.0
"""Dumps of models whose values decide what runs: every operator that ran is there, those inside If
and Loop as often as they ran, and one execution is one folder."""
import collections
import json
import subprocess
import sys

import flow_models
import numpy as np
import pytest
from build_tree import SUPPORT
from model_datasets import convert
from test_dump import files_in, read_dump

PROGRAM = """
import pickle
import sys
config, om, folder = sys.argv[1:4]
sys.path.insert(0, folder)
import acl
assert acl.init(config) == 0, acl.get_recent_err_msg()
assert acl.rt.set_device(0) == 0
from model_datasets import Model
feeds, outputs = pickle.load(sys.stdin.buffer)
model = Model(om, output_sizes=[1 << 16] * outputs)
for feed in feeds:
    model.feed(*feed)
    assert model.execute() == 0, acl.get_recent_err_msg()
"""


def dumped(folder, name, *feeds):
    """{execution: {type of operator: files}} of a model of flow_models."""
    import pickle
    source = getattr(flow_models, name)()
    om = convert(folder, name, source)
    (folder / "acl.json").write_text(json.dumps(
        {"dump": {"dump_path": str(folder / "out"), "dump_mode": "all",
                  "dump_list": [{"model_name": name}]}}))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "acl.json"), om, SUPPORT],
        input=pickle.dumps((feeds, len(source.graph.output))), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    for relative, path in sorted(files_in(folder / "out").items()):
        *_, run, file = relative.split("/")
        runs[int(run)][file.split(".")[0]].append(path)
    return runs


def test_operators_whose_sizes_values_decide_are_dumped(tmp_path):
    x = np.float32([[1, -2, 3, -4], [0, 5, -6, 7], [-1, -1, -1, 8]])
    runs = dumped(tmp_path, "positives", [x], [-x])
    assert sorted(runs) == [0, 1], "one folder for each execution"
    for run in runs.values():
        assert {"NonZero", "GatherND"} <= set(run)
        assert all(len(paths) == 1 for paths in run.values())
    with open(runs[0]["GatherND"][0], "rb") as file:
        assert file.read().endswith(x[x > 0].tobytes()), "what it made, in the size of this run"


@pytest.mark.parametrize("count", [3, 1])
def test_operators_in_a_loop_are_dumped_once_an_iteration(tmp_path, count):
    start, factor = np.float32([1, 2, 3]), np.float32([2, 3, 4])
    runs = dumped(tmp_path, "power_loop", [np.int64(count), start, factor])
    assert list(runs) == [0] and len(runs[0]["Mul"]) == count
    made = sorted(read_dump(path)["outputs"][0].tolist() for path in runs[0]["Mul"])
    assert made == [(start * factor ** (k + 1)).tolist() for k in range(count)]


def test_the_operators_of_the_branch_that_ran_are_dumped(tmp_path):
    x = np.ones((2, 3), np.float32)
    runs = dumped(tmp_path, "branches", [np.bool_(True), x], [np.bool_(False), x])
    assert "Mul" in runs[0] and "Relu" not in runs[0]
    assert "Relu" in runs[1] and "Mul" not in runs[1]
    assert all("ReduceSum" in run for run in runs.values()), "and what stands around it"
