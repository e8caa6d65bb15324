# SPDX-License-Identifier: Apache-2.0
"""`anynpu run`, `env` and `doctor`, run as a user would."""
import os
import resource
import signal
import subprocess
import sys

import pytest

BUILD = os.environ["ANYNPU_BUILD_DIR"]
ANYNPU = os.path.join(BUILD, "bin", "anynpu")


def call(*words, env=None, cwd=None):
    return subprocess.run([ANYNPU, *words], capture_output=True, text=True, check=False,
                          timeout=300, env=env, cwd=cwd)


def bare_environment():
    """Without what the test run itself set."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


def test_help_lists_the_commands_that_exist():
    done = call("--help")
    assert done.returncode == 0
    for command in ("run", "env", "doctor"):
        assert f"\n    {command} " in done.stdout


def test_no_command_is_a_usage_error():
    done = call()
    assert done.returncode == 2 and "usage: anynpu" in done.stderr


def test_run_keeps_arguments_and_exit_code(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(7)\n")
    done = call("run", str(app), "--flag", "a b", "-h", env=bare_environment())
    assert (done.returncode, done.stdout) == (7, "['--flag', 'a b', '-h'] __main__\n")


def test_run_makes_the_package_importable(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import anynpu, os\nprint(os.path.realpath(anynpu.__path__[0]))\n")
    done = call("run", str(app), env=bare_environment(), cwd=tmp_path)
    assert done.stdout.strip() == os.path.realpath(os.path.join(BUILD, "python", "anynpu"))


def test_run_makes_acl_importable(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import acl\nprint(acl.rt.get_run_mode())\n")
    done = call("run", str(app), env=bare_environment(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "(1, 0)\n"), done.stderr


def test_run_inside_run_finds_the_same_tree(tmp_path):
    script = f"{ANYNPU} run sh -c 'echo $ASCEND_HOME_PATH'; {ANYNPU} run {ANYNPU} env --path"
    done = call("run", "sh", "-c", script, env=bare_environment(), cwd=tmp_path)
    assert done.stdout.split() == [f"{BUILD}/ascend", f"{BUILD}/ascend/set_env.sh"], done.stderr


def test_run_starts_other_programs_too():
    done = call("run", "sh", "-c", "echo $ASCEND_HOME_PATH; exit 3", env=bare_environment())
    assert done.returncode == 3
    assert done.stdout.strip() == os.path.join(BUILD, "ascend")


@pytest.mark.parametrize("program", ["missing.py", "no-such-program-anywhere"])
def test_run_says_what_is_missing(program, tmp_path):
    done = call("run", program, cwd=tmp_path)
    assert done.returncode == 2 and program in done.stderr


def test_run_passes_signals_to_the_program(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    process = subprocess.Popen([ANYNPU, "run", str(app)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == -signal.SIGTERM
    process.stdout.close()


def sourced(command, script):
    done = subprocess.run(["sh", "-c", f"{script}\n{command}"], capture_output=True, text=True,
                          check=True, timeout=300, env=bare_environment())
    return done.stdout.strip()


def test_env_lines_and_set_env_set_the_same_variables():
    show = "env | grep -E '^(ASCEND|DDK|NPU|INSTALL|LD_LIB|PYTHONPATH|PATH)' | sort"
    by_eval = sourced(show, f'eval "$({ANYNPU} env)"')
    script = call("env", "--path").stdout.strip()
    by_file = sourced(show, f". {script}")
    assert by_eval == by_file
    assert f"ASCEND_TOOLKIT_HOME={BUILD}/ascend" in by_eval


def test_env_keeps_what_was_in_the_lists():
    env = dict(bare_environment(), PYTHONPATH="/mine")
    done = subprocess.run(["sh", "-c", f'eval "$({ANYNPU} env)"; echo $PYTHONPATH'],
                          capture_output=True, text=True, check=True, timeout=300, env=env)
    assert done.stdout.strip().endswith(":/mine")


@pytest.mark.parametrize("path", ["include", "lib64/libanynpu.so", "runtime/include",
                                  "runtime/lib64/stub/libanynpu.so", "latest/lib64",
                                  "bin/npu-smi", "python/site-packages/anynpu", "set_env.sh"])
def test_the_tree_has_the_paths_that_build_files_use(path):
    call("env")
    assert os.path.exists(os.path.join(BUILD, "ascend", path))


def test_doctor_tells_what_was_found_and_used():
    done = call("doctor", env=bare_environment())
    for word in ("found", "CPU", "features", "memory", "Python", "libanynpu", "used", "not used",
                 "NVIDIA GPU", "AMX", "logs", "set_env.sh"):
        assert word in done.stdout, word


FRONT_DOORS = """
import acl, aclruntime, hpe, mindspore.profiler
from ais_bench.infer.interface import InferSession
from importlib.metadata import version
print(version("aclruntime"), version("ais_bench"), mindspore.profiler.__name__)
"""


@pytest.mark.parametrize("way", ["anynpu run", "set_env.sh"])
def test_one_environment_gives_all_five_front_doors(way, tmp_path):
    app = tmp_path / "app.py"
    app.write_text(FRONT_DOORS)
    command = [ANYNPU, "run", str(app)]
    if way == "set_env.sh":
        command = ["sh", "-c", f". {BUILD}/ascend/set_env.sh; {sys.executable} {app}"]
    done = subprocess.run(command, capture_output=True, text=True, env=bare_environment(),
                          cwd=tmp_path, timeout=300)
    assert done.stdout == "0.0.2 0.0.2 anynpu.profiler\n", done.stderr


def test_a_real_mindspore_is_left_alone(tmp_path):
    (tmp_path / "site" / "mindspore").mkdir(parents=True)
    (tmp_path / "site" / "mindspore" / "__init__.py").write_text("real = True\n")
    (tmp_path / "site" / "mindspore" / "nn.py").write_text("Cell = 'a cell'\n")
    app = tmp_path / "app.py"
    app.write_text("import mindspore.nn\nprint(mindspore.real, mindspore.nn.Cell)\n")
    env = dict(bare_environment(), PYTHONPATH=str(tmp_path / "site"))
    done = call("run", str(app), env=env)
    assert done.stdout == "True a cell\n", done.stderr
    app.write_text("import mindspore\n")
    done = call("run", str(app), env=dict(bare_environment(), ANYNPU_NO_SHIM="1"))
    assert "No module named 'mindspore'" in done.stderr


def test_doctor_imports_every_front_door():
    done = call("doctor", env=bare_environment())
    row = next(line for line in done.stdout.splitlines() if line.startswith("  modules"))
    assert row.split()[1:] == ["acl", "aclruntime", "ais_bench.infer.interface", "hpe",
                               "mindspore.profiler"]


def test_doctor_says_why_a_front_door_stays_shut(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('numpy is broken here')\n")
    done = call("doctor", env=dict(bare_environment(), PYTHONPATH=str(tmp_path)))
    assert "numpy is broken here" in done.stdout


def test_doctor_says_ready_when_a_device_works():
    done = call("doctor", env=dict(bare_environment(), ANYNPU_DEVICES="cpu:2"))
    assert done.returncode == 0, done.stdout
    assert "2 x CPU" in done.stdout and "ready: anynpu run app.py" in done.stdout


def test_the_command_starts_quickly():
    """A tool that people type. Time of the processor: what else the machine does does not count."""
    def seconds(command):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=bare_environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    python = seconds([sys.executable, "-c", "pass"])
    assert seconds([ANYNPU, "--version"]) < 10 * python + 1


def test_doctor_says_which_gpus_and_libraries_there_are(monkeypatch):
    from anynpu import doctor
    report = {"cuda": "13.0", "gpus": [{"unit": 0, "name": "NVIDIA H200", "memory": 141 << 30},
                                       {"unit": 1, "problem": "it is in use"}],
              "libraries": [{"file": "libnvrtc.so.13", "use": "kernels", "path": "/cuda/nvrtc"},
                            {"file": "libcudnn.so.9", "use": "convolutions",
                             "missing": "cannot be opened; pip install it"}]}
    monkeypatch.setattr(doctor, "cuda_report", lambda: report)
    assert doctor.gpus() == [
        ("cuda:0", "NVIDIA H200, 141 GiB"), ("cuda:1", "it is in use"), ("driver", "CUDA 13.0"),
        ("nvrtc", "/cuda/nvrtc"),
        ("cudnn", "missing, needed for convolutions: cannot be opened; pip install it")]


def test_doctor_asks_the_plug_in_why_there_is_no_gpu():
    done = call("doctor", env=bare_environment())
    row = next((line for line in done.stdout.splitlines() if "NVIDIA GPU" in line), "")
    assert "580" in row or "sees no GPU" in row or "GPUs" in done.stdout
