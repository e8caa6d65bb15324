# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's operators through atc and acl.mdl, against recorded results of TensorFlow; the whole
suite runs once for all tests."""
import threading
import time

import numpy as np
import pytest
import tf_archive
import tf_suite
from build_tree import BUILD

PARTS = 8  # the tests show progress however slow the machine is


class Run(threading.Thread):
    """The suite as it goes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.names = [case.name for case in tf_archive.all_cases()]
        self.results = {}

    def run(self):
        tf_suite.run(self.names, BUILD, results=self.results)

    def of(self, names):
        """The results of some cases, as soon as all of them are there."""
        while self.is_alive() and not all(name in self.results for name in names):
            time.sleep(0.02)
        return {name: self.results[name] for name in names}


@pytest.fixture(scope="module")
def started():
    run = Run()
    run.start()
    return run


@pytest.fixture(scope="module")
def results(started):
    return started.of(started.names)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_case_ends_as_the_list_says(started, part):
    count = len(started.names)
    names = started.names[count * part // PARTS:count * (part + 1) // PARTS]
    problems, _ = tf_suite.judge(started.of(names), tf_suite.read_known())
    assert not problems, "\n" + "\n".join(problems[:50])


def test_more_cases_pass_than_with_tf2onnx_and_onnxruntime(results):
    ours = sum(outcome == "passed" for outcome, _ in results.values())
    theirs = sum(not case.tf2onnx for case in tf_archive.all_cases())
    assert ours > theirs


def test_there_are_cases_of_300_operators():
    assert len({op for case in tf_archive.all_cases() for op in case.ops}) >= 300


def test_every_line_of_the_list_names_a_case(results):
    known = tf_suite.read_known()
    _, used = tf_suite.judge(results, known)
    assert [pattern for pattern, _ in known if pattern not in used] == []


def test_no_case_ends_the_process(results):
    ended = {name: reason for name, (_, reason) in results.items()
             if reason.startswith("the process ended")}
    assert ended == {}


def test_an_archive_gives_back_what_was_written(tmp_path):
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    outputs = {"y:0": np.array([True, False]),
               "z:0": np.zeros((0, 2), tf_archive.dtype_of("bfloat16"))}
    case = tf_archive.Case("Abs.f32", ["Abs"], b"graph", inputs, outputs, is_open=True, rtol=0.5,
                           tf2onnx="why")
    tf_archive.write("one", [case, case], str(tmp_path))
    first, second = tf_archive.read(str(tmp_path / "one.tar.xz"))
    assert first.family == "one" and first.name == second.name == "Abs.f32"
    assert first.graph == b"graph" and first.rtol == 0.5 and first.tf2onnx == "why"
    assert first.input_shape == "x:2,3"
    for side in ("inputs", "outputs"):
        for name, array in getattr(case, side).items():
            assert tf_archive.difference(getattr(first, side)[name], array) == ""


@pytest.mark.parametrize("got, said", [
    (np.zeros(2, np.float64), "elements of float64, expected float32"),
    (np.zeros(3, np.float32), "shape (3,), expected (2,)"),
    (np.array([0, 1.1], np.float32), "Mismatched elements"),
    (np.array([0, np.nan], np.float32), "nan location")])
def test_a_wrong_array_is_told(got, said):
    assert said in tf_archive.difference(got, np.array([0, 1], np.float32))
