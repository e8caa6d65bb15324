# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/tensorflow, as their README starts them, against TensorFlow."""
import os
import subprocess
import sys

import live
import numpy as np
import tensorflow as tf

EXAMPLE = os.path.join(live.ROOT, "examples", "tensorflow")


def test_the_example_gives_the_classes_of_tensorflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, os.path.join(EXAMPLE, "make_frozen.py"), "frozen.pb"],
                   check=True, capture_output=True, timeout=300)
    done = subprocess.run(["anynpu", "run", os.path.join(EXAMPLE, "run_frozen.py"), "frozen.pb"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with open("frozen.pb", "rb") as file:
        graph = tf.compat.v1.GraphDef.FromString(file.read())
    pictures = np.random.default_rng(0).random((4, 32, 32, 3), np.float32)
    [scores] = live.run_graph(graph, {"picture": pictures}, [graph.node[-1].name + ":0"]).values()
    assert f"classes: {scores.argmax(1).tolist()}" in done.stdout, done.stdout
