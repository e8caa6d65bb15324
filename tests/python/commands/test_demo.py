# SPDX-License-Identifier: Apache-2.0
"""The guide's quick start (chapter 2), run as a user runs it, on the committed classifier."""
import os
import re
import shutil
import subprocess
import sys

import pytest
from build_tree import ROOT

EXAMPLES = os.path.join(ROOT, "examples")
SHAPES = os.path.join(EXAMPLES, "shapes")
sys.path.insert(0, SHAPES)

from draw_shapes import LABELS  # noqa: E402


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          timeout=300)


@pytest.fixture(scope="module")
def app_folder(tmp_path_factory):
    """first_app/ as the guide lays it out: data/ with pictures, model/ with the compiled model."""
    folder = tmp_path_factory.mktemp("first_app")
    (folder / "model").mkdir()
    draw = os.path.join(SHAPES, "draw_shapes.py")
    assert run(folder, sys.executable, draw, "data").returncode == 0
    for name in ("shapes.onnx", "labels.txt"):
        shutil.copy(os.path.join(SHAPES, name), folder / "model")
    done = run(folder / "model", "atc", "--model=shapes.onnx", "--framework=5", "--output=shapes",
               "--input_shape=actual_input_1:1,3,224,224", "--soc_version=Ascend310P3")
    assert done.returncode == 0 and "ATC run success" in done.stdout, done.stdout + done.stderr
    return folder


def test_quick_start_names_every_shape(app_folder):
    done = run(app_folder, "anynpu", "run", os.path.join(EXAMPLES, "quick_start", "first_app.py"))
    assert (done.returncode, done.stderr) == (0, "")
    parts = re.findall(r"\./data/(\w+?)_\S+\n==== top5 inference results: =====\n"
                       r"((?:\[\d+\]: \d\.\d+  \w+\n){5})", done.stdout)
    assert sorted(drawn for drawn, _ in parts) == sorted(LABELS)
    for drawn, lines in parts:
        rows = re.findall(r"\[(\d+)\]: ([\d.]+)  (\w+)", lines)
        assert rows[0][2] == drawn
        assert [LABELS[int(index)] for index, _, _ in rows] == [name for _, _, name in rows]
        shares = [float(share) for _, share, _ in rows]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.00001


def test_a_model_is_timed(app_folder):
    done = run(app_folder, "anynpu", "run", os.path.join(EXAMPLES, "time_model.py"),
               "model/shapes.om", "3")
    assert re.search(r"one image [\d.]+ ms .*median of 3", done.stdout), done.stdout + done.stderr


def test_timing_a_missing_model_says_what_is_wrong(app_folder):
    done = run(app_folder, "anynpu", "run", os.path.join(EXAMPLES, "time_model.py"), "model/no.om")
    assert done.returncode == 1 and "no.om" in done.stderr
