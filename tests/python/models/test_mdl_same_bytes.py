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
from networks import NETWORKS  # noqa: E402
from shape_models import image, net

import acl

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


@pytest.fixture(scope="module")
def shaped(tmp_path_factory):
    """A model with gears and one with ranges, of the same network; their shapes; one input."""
    folder = tmp_path_factory.mktemp("shaped")
    paths = {"gears": convert(folder, "gears", net(), "--input_shape=image:1,3,-1,-1",
                              "--dynamic_image_size=64,48;33,65;48,64"),
             "range": convert(folder, "range", net(), "--input_shape=image:1,3,8~80,8~80")}
    return paths, [(64, 48), (33, 65), (48, 64)], image(1, 3, 64, 64)


def run_shape(model, kind, size, stream=None):
    """Chooses a gear or shape and runs it; the bytes of both outputs, when they are there."""
    if kind == "gears":
        ret = acl.mdl.set_dynamic_hw_size(model.id, model.inputs, 1, *size)
    else:
        desc = acl.create_tensor_desc(0, [1, 3, *size], 0)
        _, ret = acl.mdl.set_dataset_tensor_desc(model.inputs, desc, 0)
        acl.destroy_tensor_desc(desc)
    assert ret == 0, acl.get_recent_err_msg()
    if stream is None:
        assert model.execute() == 0, acl.get_recent_err_msg()
    else:
        assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    features = model.read_memory(model.output_data[1][0], (4, *size), np.float32)
    return model.read(0, (5,)).tobytes() + features.tobytes()


def load_shaped(path, feed):
    model = Model(path, output_sizes=[20, 4 * 80 * 80 * 4],
                  input_sizes=[feed.nbytes] + [16] * ("gears" in path))
    model.feed(feed)
    return model


@pytest.mark.parametrize("kind", ["gears", "range"])
def test_a_gear_or_shape_gives_its_bytes_on_every_thread_stream_and_device(shaped, kind):
    paths, sizes, feed = shaped
    model = load_shaped(paths[kind], feed)
    wanted = {size: run_shape(model, kind, size) for size in sizes}
    assert len(set(wanted.values())) == len(sizes)
    if kind == "range":  # more than are kept: the plans are made again
        for width in range(8, 30):
            run_shape(model, kind, (8, width))
        assert {size: run_shape(model, kind, size) for size in sizes} == wanted
    model.close()

    def job(device, order):
        def run():
            assert acl.rt.set_device(device) == 0
            stream, _ = acl.rt.create_stream()
            model = load_shaped(paths[kind], feed)
            found = [{size: run_shape(model, kind, size, how) for size in order}
                     for how in (None, stream)]
            model.close()
            assert acl.rt.destroy_stream(stream) == 0
            return found
        return run

    jobs = [job(device, order) for device in (0, 1) for order in (sizes, sizes[::-1])]
    assert together(jobs) == [[wanted, wanted]] * len(jobs)


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
