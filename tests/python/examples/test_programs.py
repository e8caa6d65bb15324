# SPDX-License-Identifier: Apache-2.0
"""Examples that tests/python/check does not compare with anything: what they print and write."""
import ast
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from build_tree import ROOT

EXAMPLES = os.path.join(ROOT, "examples")


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(name, *arguments, cwd):
    return run(sys.executable, os.path.join(EXAMPLES, name), *arguments, cwd=cwd)


def atc(model, output, *options, cwd):
    run("atc", f"--model={model}", "--framework=5", f"--output={output}",
        "--soc_version=Ascend310P3", *options, cwd=cwd)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    atc(f"{EXAMPLES}/shapes/shapes.onnx", "shapes", "--input_shape=actual_input_1:1,3,224,224",
        cwd=folder)
    return folder


def overlap(a, b):
    """Shared area over the area of both."""
    left, top, right, bottom = (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
    shared = max(0, right - left) * max(0, bottom - top)
    return shared / (sum((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)) - shared)


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    folder = tmp_path_factory.mktemp("video")
    example("video/make_video.py", "data", cwd=folder)
    atc("data/detector.onnx", "data/detector", "--insert_op_conf=data/aipp.cfg", cwd=folder)
    return folder


def test_the_detector_finds_every_disc_and_draws_its_box(video):
    from PIL import Image
    out = example("detection/detect.py", "data/discs.jpg", "data/found.jpg", "--model",
                  "data/detector.om", cwd=video)
    found = [(m[1], ast.literal_eval(m[2])) for m in re.finditer(r"^(\w+) [\d.]+ (\[.*\])$", out,
                                                                 re.MULTILINE)]
    discs = json.loads((video / "data" / "discs.json").read_text())
    assert len(found) == len(discs)
    drawn = np.asarray(Image.open(video / "data" / "found.jpg").convert("RGB")).astype(int)
    for name, *box in discs:
        best = max((overlap(box, other), other) for kind, other in found if kind == name)
        assert best[0] > 0.8, (name, box, found)
        left, top, right, _ = best[1]
        frame = drawn[top + 2, (left + right) // 2 - 30:(left + right) // 2 + 30].mean(axis=0)
        assert frame.argmax() == ["red", "green", "blue"].index(name), frame


def test_the_boxes_of_a_video_follow_the_discs(video):
    out = example("video/annotate.py", "data/discs.h265", "data/found.h265", "640", "480",
                  "--model", "data/detector.om", cwd=video)
    lefts = [int(x) for x in re.findall(r"frame \d+: .*?red at (\d+),", out)]
    assert len(lefts) == 8
    assert all(abs(left - (40 + 40 * i)) <= 16 for i, left in enumerate(lefts)), lefts
    if shutil.which("ffprobe"):
        count = run("ffprobe", "-v", "error", "-count_frames", "-show_entries",
                    "stream=nb_read_frames,width,height", "-of", "csv=p=0", "data/found.h265",
                    cwd=video)
        assert count.strip() == "640,480,8"


def test_callbacks_answer_in_order(shapes):
    out = example("asynchronous/callbacks.py", "shapes.om", "6", cwd=shapes)
    assert "6 requests queued" in out and "all answered in order: True" in out


def test_two_devices_answer_with_the_same_bytes(shapes):
    out = example("several_devices/serve.py", "shapes.om", "shapes.om", "8", cwd=shapes)
    answered = r"8 answers from devices \[(0|1|0, 1)\], the same bytes on each: True"
    assert re.search(answered, out), out


def test_the_kernel_gives_what_numpy_gives(tmp_path):
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    out = example("custom_kernel/saxpy.py", cwd=tmp_path)
    assert float(re.search(r"largest difference from numpy: (\S+)", out)[1]) < 1e-6


def test_the_profile_names_the_operators(shapes):
    out = example("profiling/profile_model.py", "shapes.om", "3", cwd=shapes)
    assert re.search(r"^\w*Conv\w* +\d+ times +\d+\.\d %$", out, re.MULTILINE), out


@pytest.mark.parametrize("name", ["pyacl", "ais_bench", "hpe"])
def test_a_notebook_runs_from_top_to_end(name, tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    if name == "hpe" and shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    monkeypatch.setenv("EXAMPLES", EXAMPLES)
    notebook = nbformat.read(f"{EXAMPLES}/notebooks/{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    text = json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == "code"])
    expected = {"pyacl": "107000", "ais_bench": "True", "hpe": "True"}[name]
    assert expected in text
