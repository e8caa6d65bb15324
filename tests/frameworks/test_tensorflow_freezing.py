# SPDX-License-Identifier: Apache-2.0
"""Models that are not frozen: atc names the command that freezes them. The command is run as it is
printed, and what it writes gives TensorFlow's results."""
import os
import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from om_runner import run_om

import acl

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 12)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    acl.init()
    assert acl.rt.set_device(0) == 0


def small():
    keras.utils.set_random_seed(5)
    return keras.Sequential([keras.Input((12,), 1, name="x"), keras.layers.Dense(7, "relu"),
                             keras.layers.Dense(3)])


def atc(model, framework=3, *more):
    return subprocess.run(["atc", f"--model={model}", f"--framework={framework}", "--output=net",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=300)


def run_printed_command(path, **names):
    """atc refuses `path`; the command that it prints is run in a shell."""
    done = atc(path)
    assert done.returncode == 1 and not os.path.exists("net.om"), done.stderr
    command = next(line.strip() for line in done.stderr.splitlines()
                   if line.startswith("  python3"))
    for name, value in names.items():
        command = command.replace(name, value)
    subprocess.run(command.replace("python3", sys.executable, 1), shell=True, check=True,
                   capture_output=True, timeout=600)


def check_result(want, model="frozen.pb", framework=3):
    done = atc(model, framework)
    if wanted := re.search(r'(--input_shape)="(.*)"', done.stderr):  # the option to type
        done = atc(model, framework, "=".join(wanted.groups()))
    assert done.returncode == 0, done.stderr
    [got] = run_om("net.om", [X]).values()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["net.keras", "net.h5"])
def test_a_file_of_keras(name):
    model = small()
    model.save(name)
    run_printed_command(name)
    check_result(model.predict(X, verbose=0))


@pytest.mark.parametrize("path", ["saved", "saved/saved_model.pb"])
def test_a_saved_model(path):
    model = small()
    model.export("saved")
    run_printed_command(path)
    check_result(model.predict(X, verbose=0))


def test_a_file_of_tflite():
    model = small()
    with open("net.tflite", "wb") as file:
        file.write(tf.lite.TFLiteConverter.from_keras_model(model).convert())
    run_printed_command("net.tflite")
    check_result(model.predict(X, verbose=0), "model.onnx", 5)


@pytest.mark.parametrize("path", ["m.ckpt-3.meta", "m.ckpt-3.index",
                                  "m.ckpt-3.data-00000-of-00001", "checkpoint"])
def test_a_checkpoint_of_tensorflow_1(path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, (1, 12), "x")
        w = v1.get_variable("w", (12, 3), initializer=v1.random_normal_initializer(seed=1))
        y = tf.nn.relu(x @ w, name="y")
        session.run(v1.global_variables_initializer())
        want = session.run(y, {x: X})
        v1.train.Saver().save(session, "./m.ckpt", global_step=3)
    run_printed_command(path, OUTPUT_NODE="y")
    check_result(want)


def test_a_checkpoint_of_tensorflow_2_holds_no_graph():
    model = small()
    tf.train.Checkpoint(model).save("m.ckpt")
    done = atc("m.ckpt-1.index")
    assert done.returncode == 1
    # What the sentence says to add to the program.
    line = done.stderr[done.stderr.index("tf.train.Checkpoint"):].partition(". Then")[0]
    other = small()
    for variable in other.variables:
        variable.assign(tf.zeros_like(variable))
    exec(line, {"tf": tf, "model": other})
    run_printed_command("model.keras")
    check_result(model.predict(X, verbose=0))
