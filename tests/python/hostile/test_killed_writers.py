# SPDX-License-Identifier: Apache-2.0
"""Programs that are killed while they write: what has its final name is whole, what does not is
removed by the next run."""
import glob
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import onnx
import pytest
from build_tree import SUPPORT
from hpe_programs import kernels
from model_datasets import convert
from onnx import TensorProto, helper, numpy_helper

from anynpu import dump_file, whole_file

ROUNDS = int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "6"))


def start(text, *arguments, **environment):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env={**os.environ, **environment})


def kill_soon(started, most=0.3):
    """Waits for "ready", then for a moment of any length."""
    assert started.stdout.readline() == "ready\n"
    time.sleep(random.uniform(0, most))
    started.send_signal(signal.SIGKILL)
    started.wait()
    started.stdout.close()


def leftovers(folder):
    return glob.glob(f"{folder}/**/*{whole_file.MARK}*", recursive=True)


WRITER = """
    import sys
    from anynpu.whole_file import write_whole
    path, text = sys.argv[1], "x" * 300000 + "\\n"
    write_whole(path, text)
    print("ready", flush=True)
    while True:
        write_whole(path, text)
"""


def test_a_report_or_table_is_whole_and_its_leftovers_go(tmp_path):
    path = tmp_path / "table.csv"
    for _ in range(ROUNDS):
        kill_soon(start(WRITER, path))
        assert os.path.getsize(path) == 300001
    whole_file._clean.discard(str(tmp_path))
    whole_file.write_whole(tmp_path / "other", "x")
    assert sorted(os.listdir(tmp_path)) == ["other", "table.csv"]


def test_the_file_of_a_living_writer_stays(tmp_path):
    with whole_file.temporary(tmp_path / "a") as (partial, _):
        assert whole_file.remove_leftovers(tmp_path) == 0 and os.path.exists(partial)
    assert os.listdir(tmp_path) == ["a"]


HOLDER = """
    import sys, time
    from anynpu.whole_file import temporary_folder
    with temporary_folder(sys.argv[1], "dump") as folder:
        open(folder + "/half", "w").close()
        print("ready", flush=True)
        time.sleep(300)
"""


def test_a_temporary_folder_goes_with_its_process_or_the_next(tmp_path):
    with whole_file.temporary_folder(tmp_path, "dump") as folder:
        assert os.stat(folder).st_mode & 0o777 == 0o700
        assert whole_file.remove_leftovers(tmp_path) == 0 and os.path.isdir(folder)
    assert os.listdir(tmp_path) == []
    run = tmp_path / "2026_01_02-03_04_05" / "deep"
    other = tmp_path / "notes"
    for place in (run, other):
        place.mkdir(parents=True)
        kill_soon(start(HOLDER, place))
        assert len(leftovers(place)) == 1
    assert whole_file.remove_leftovers_of_runs(tmp_path, r"[\d_-]+") == 1
    assert os.listdir(run) == [] and len(os.listdir(other)) == 1
    with whole_file.temporary_folder(other, "dump") as folder:
        assert os.listdir(other) == [os.path.basename(folder)]


def test_a_link_is_not_written_through_and_the_umask_counts(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    os.symlink(precious, tmp_path / "out")
    before = os.umask(0o077)
    try:
        whole_file.write_whole(tmp_path / "out", "new")
    finally:
        os.umask(before)
    assert precious.read_text() == "mine" and (tmp_path / "out").read_text() == "new"
    assert os.stat(tmp_path / "out").st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        whole_file.write_whole(tmp_path / "pipe", "x")


def model():
    weight = numpy_helper.from_array(np.ones((1, 30000), np.float32), "w")
    nodes = [helper.make_node("Add", ["x", "w"], ["a"], name="add"),
             helper.make_node("Softmax", ["a"], ["y"], name="soft")]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "net", [info("x", TensorProto.FLOAT, [1, 30000])],
                              [info("y", TensorProto.FLOAT, [1, 30000])], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.fixture(scope="module")
def om(tmp_path_factory):
    return convert(tmp_path_factory.mktemp("killed"), "net", model())


RUN = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import acl
    from model_datasets import Model
    assert acl.init(sys.argv[3]) == 0
    assert acl.rt.set_device(0) == 0
    model = Model(sys.argv[2])
    model.feed(np.zeros((1, 30000), np.float32))
    print("ready", flush=True)
    for _ in range(int(sys.argv[4])):
        assert model.execute() == 0
    assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
"""


def test_dumps_of_a_killed_program_are_whole(tmp_path, om):
    config = tmp_path / "acl.json"
    config.write_text('{"dump": {"dump_path": "%s", "dump_list": [{"model_name": "net"}], '
                      '"dump_mode": "all"}}' % (tmp_path / "dumps"))
    for _ in range(ROUNDS):
        kill_soon(start(RUN, SUPPORT, om, config, 1 << 30))
    files = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path / "dumps")
             for name in names if whole_file.MARK not in name]
    assert files
    for path in files:
        assert len(dump_file.read(path).outputs) == 1
    left = os.path.join(os.path.dirname(files[0]), f"x{whole_file.MARK}0123456789abcdef")
    open(left, "w").close()  # the moment of a kill may have left none
    start(RUN, SUPPORT, om, config, 1).communicate(timeout=300)
    assert leftovers(tmp_path / "dumps") == []


def test_a_profile_of_a_killed_program_exports_or_says_why(tmp_path, om):
    config = tmp_path / "acl.json"
    config.write_text('{"profiler": {"switch": "on", "output": "%s"}}' % (tmp_path / "prof"))
    for _ in range(ROUNDS):
        kill_soon(start(RUN, SUPPORT, om, config, 1 << 30))
    made = glob.glob(f"{tmp_path}/prof/PROF_*")
    assert made
    for path in made:
        done = subprocess.run(["msprof", "--export=on", f"--output={path}"], capture_output=True,
                              text=True, timeout=300)
        assert "Traceback" not in done.stderr and done.returncode in (0, 1), done.stderr
        assert leftovers(path) == []


def test_a_model_whose_compiler_was_killed_is_there_whole_or_not_at_all(tmp_path):
    weight = numpy_helper.from_array(np.ones((1, 4 << 20), np.float32), "w")
    info = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "net",
                              [info("x", TensorProto.FLOAT, [1, 1])],
                              [info("y", TensorProto.FLOAT, [1, 4 << 20])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              tmp_path / "net.onnx")
    command = ["atc", f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3"]
    began = time.monotonic()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=300).returncode == 0
    took = time.monotonic() - began
    whole = (tmp_path / "net.om").read_bytes()
    for _ in range(2 * ROUNDS):
        (tmp_path / "net.om").unlink(missing_ok=True)
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, took))
        started.kill()
        started.wait()
        if (tmp_path / "net.om").exists():
            assert (tmp_path / "net.om").read_bytes() == whole
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=300).returncode == 0
    assert (tmp_path / "net.om").read_bytes() == whole and leftovers(tmp_path) == []


EXPORT = """
    import sys
    from anynpu.msprof.export import export
    print("ready", flush=True)
    while True:
        export(sys.argv[1])
"""


def test_an_export_that_is_killed_is_done_by_the_next(tmp_path, om):
    config = tmp_path / "acl.json"
    config.write_text('{"profiler": {"switch": "on", "output": "%s"}}' % (tmp_path / "prof"))
    done = start(RUN, SUPPORT, om, config, 300)
    done.communicate(timeout=300)
    (path,) = glob.glob(f"{tmp_path}/prof/PROF_*")
    for _ in range(ROUNDS):
        kill_soon(start(EXPORT, path), most=1)
    done = subprocess.run(["msprof", "--export=on", f"--output={path}"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert leftovers(path) == []


CACHE = """
    import sys
    import numpy as np
    import hpe.hpert.api as hpe
    with open(sys.argv[1], "rb") as file:
        module = hpe.module(file.read())
    out = hpe.device_mem(32)
    print("ready", flush=True)
    module.launch_kernel("who", [out])
    hpe.synchronize()
    array = np.zeros(8, np.int32)
    out.copy_to_host(array)
    print(array.tolist())
"""


def test_a_code_cache_whose_writer_was_killed_is_used_or_made_again(tmp_path):
    image = tmp_path / "kernels.o"
    image.write_bytes(kernels())
    cache = tmp_path / "cache"
    for _ in range(ROUNDS):
        kill_soon(start(CACHE, image, ASCEND_CACHE_PATH=str(cache)))
    for _ in range(2):
        started = start(CACHE, image, ASCEND_CACHE_PATH=str(cache))
        out, _ = started.communicate(timeout=300)
        assert out == f"ready\n{[800 + i for i in range(8)]}\n" and started.returncode == 0
    assert os.stat(cache / "npc").st_mode & 0o777 == 0o700
