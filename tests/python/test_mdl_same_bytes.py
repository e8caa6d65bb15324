# SPDX-License-Identifier: Apache-2.0
"""One promise of execution: the same bytes for the same model and number of threads, whichever
thread, stream, device or process runs it, and whatever runs beside it."""
import hashlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from model_datasets import Model, convert

import acl

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "networks"))

from networks import NETWORKS  # noqa: E402

NAMES = ("MobileNetV2", "BERT-base", "U-Net")


@pytest.fixture(scope="module", autouse=True)
def runtime():
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield
    for device in range(4):
        acl.rt.reset_device(device)
    assert acl.finalize() == 0


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """{name: (path of the .om, inputs)}"""
    folder = tmp_path_factory.mktemp("same")
    made = {}
    for network in NETWORKS:
        if network.name in NAMES:
            source = network.model(False)
            feeds = list(network.inputs(source, False).values())
            np.savez(folder / f"{network.name}.npz", *feeds)
            made[network.name] = (convert(folder, network.name, source), feeds)
    return made


def digest(model):
    text = hashlib.sha256()
    for memory, _, size in model.output_data:
        text.update(model.read_memory(memory, (size,), np.uint8).tobytes())
    return text.hexdigest()


def run_once(path, feeds):
    model = Model(path)
    model.feed(*feeds)
    assert model.execute() == 0, acl.get_recent_err_msg()
    result = digest(model)
    model.close()
    return result


@pytest.fixture(scope="module")
def wanted(files):
    return {name: run_once(*entry) for name, entry in files.items()}


def together(jobs):
    """Runs the jobs in a thread each; their results in order."""
    results = [None] * len(jobs)

    def work(index, job):
        results[index] = job()

    threads = [threading.Thread(target=work, args=entry) for entry in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_threads_that_run_several_models_at_once(files, wanted):
    def job(name):
        def run():
            assert acl.rt.set_device(0) == 0
            return name, {run_once(*files[name]) for _ in range(3)}
        return run

    for name, results in together([job(name) for name in NAMES for _ in range(2)]):
        assert results == {wanted[name]}


def test_streams_that_run_one_model_at_once(files, wanted):
    path, feeds = files["MobileNetV2"]
    models = [Model(path) for _ in range(4)]
    streams = [acl.rt.create_stream()[0] for _ in models]
    for _ in range(3):
        for model, stream in zip(models, streams):
            model.feed(*feeds)
            assert acl.mdl.execute_async(models[0].id, model.inputs, model.outputs, stream) == 0
        for model, stream in zip(models, streams):
            assert acl.rt.synchronize_stream(stream) == 0
            assert digest(model) == wanted["MobileNetV2"]
    for model, stream in zip(models, streams):
        assert acl.rt.destroy_stream(stream) == 0
        model.close()


def test_every_device(files, wanted):
    def job(device):
        def run():
            assert acl.rt.set_device(device) == 0
            return {name: run_once(*entry) for name, entry in files.items()}
        return run

    for results in together([job(device) for device in range(4)]):
        assert results == wanted


def test_another_process(files, wanted):
    program = """
import sys
import numpy as np
import acl
from test_mdl_same_bytes import run_once
assert acl.init() == 0 and acl.rt.set_device(2) == 0
for path in sys.argv[1:]:
    data = np.load(path[:-3] + ".npz")
    print(run_once(path, [data[key] for key in data.files]))
"""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), env.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program, *(files[name][0] for name in NAMES)],
                          env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [wanted[name] for name in NAMES]
