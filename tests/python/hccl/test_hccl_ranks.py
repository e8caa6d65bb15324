# SPDX-License-Identifier: Apache-2.0
"""HCCL between processes: the programs of tests/hccl_programs, built from the headers alone."""
import json
import os
import subprocess

import pytest
from build_tree import BUILD, TESTS

SOURCES = os.path.join(TESTS, "hccl_programs")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hccl")
    for name in ("collectives", "faults", "groups"):
        done = subprocess.run(
            ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
             os.path.join(SOURCES, name + ".c"), "-o", str(folder / name), f"-I{BUILD}/include",
             f"-L{BUILD}/lib", "-lhccl", "-lascendcl", f"-Wl,-rpath,{BUILD}/lib"],
            capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    return folder


def run(*command, **env):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240,
                          env={**os.environ, "ANYNPU_ERRORS": "off", **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_operation_with_every_type(programs, ranks):
    assert run(programs / "collectives", str(ranks)) == "all equal\n"


def test_one_thread_is_enough(programs):
    assert run(programs / "collectives", "2", ANYNPU_THREADS="1") == "all equal\n"


def test_small_buffers_give_the_same(programs):
    assert run(programs / "collectives", "3", HCCL_BUFFSIZE="1") == "all equal\n"


@pytest.mark.parametrize("case", [
    "killed", "left", "silent", "silent_by_config", "absent", "died_before_joining",
    "other_rank_count", "same_rank", "other_operation", "other_count", "resumed",
    "wrong_arguments"])
def test_what_goes_wrong_is_an_error_in_time(programs, case):
    assert run(programs / "faults", case) == "as expected\n"


@pytest.mark.parametrize("case", ["two", "parts", "in_one_process", "settings"])
def test_several_communicators(programs, case):
    assert run(programs / "groups", case) == "as expected\n"


REMOTE = {"REMOTE_RANKS": "all", "HCCL_IF_IP": "127.0.0.1"}


def needs_remote_ranks():
    """Ranks that count as other machines need the plug-in for UCX and namespaces of processes."""
    if not os.path.exists(os.path.join(BUILD, "lib", "libanynpu_ucx.so")):
        pytest.skip("libucx-dev was not there when this was built")
    if subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine gives no namespace of process numbers")


@pytest.mark.parametrize("ranks, who", [(2, "all"), (3, "all"), (4, "odd")])
def test_every_operation_between_machines(programs, ranks, who):
    needs_remote_ranks()
    environment = {**REMOTE, "REMOTE_RANKS": who}
    assert run(programs / "collectives", str(ranks), **environment) == "all equal\n"


@pytest.mark.parametrize("case", [
    "killed", "left", "silent", "absent", "died_before_joining", "other_rank_count", "same_rank",
    "other_operation", "other_count", "resumed", "wrong_arguments"])
def test_what_goes_wrong_between_machines(programs, case):
    needs_remote_ranks()
    assert run(programs / "faults", case, **REMOTE) == "as expected\n"


@pytest.mark.parametrize("case", ["two", "parts", "settings"])
def test_several_communicators_between_machines(programs, case):
    needs_remote_ranks()
    assert run(programs / "groups", case, **REMOTE) == "as expected\n"


def test_ranks_of_several_machines_are_told_what_they_need(programs):
    needs_remote_ranks()
    done = subprocess.run([programs / "groups", "two"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "REMOTE_RANKS": "odd", "HCCL_CONNECT_TIMEOUT": "2"})
    assert done.returncode != 0 and "set HCCL_IF_IP in all processes" in done.stderr


def test_an_address_that_is_not_of_this_machine_is_named(programs):
    needs_remote_ranks()
    done = subprocess.run([programs / "groups", "two"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HCCL_IF_IP": "203.0.113.7"})
    assert done.returncode != 0 and "'203.0.113.7', which no interface" in done.stderr


def rank_table(path, ranks):
    devices = [{"device_id": str(i), "device_ip": f"192.168.100.{i}", "rank_id": str(i)}
               for i in range(ranks)]
    path.write_text(json.dumps({
        "version": "1.0", "server_count": "1", "status": "completed",
        "server_list": [{"server_id": "10.0.0.1", "device": devices}]}))
    return str(path)


def test_ranks_of_a_table_meet(programs, tmp_path):
    table = rank_table(tmp_path / "ranks.json", 2)
    assert run(programs / "groups", "by_table", RANK_TABLE=table) == "as expected\n"


def test_nothing_is_left_in_shared_memory_after_a_kill(programs):
    before = set(os.listdir("/dev/shm"))
    run(programs / "faults", "killed")
    assert set(os.listdir("/dev/shm")) - before == set()


def test_a_full_dev_shm_does_not_matter(programs):
    """Shared memory here has no file in it."""
    script = ("mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/full;"
              " exec " + str(programs / "collectives") + " 2")
    probe = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],
                           capture_output=True, timeout=60)
    if probe.returncode != 0:
        pytest.skip("this machine gives no namespace of mounts")
    assert run("unshare", "-rm", "sh", "-c", script) == "all equal\n"


def test_the_python_module_tells_the_version_of_the_operators():
    from anynpu.ascend_tree import COMPILER_VERSION
    from hccl.sys_version import __sys_version__
    assert __sys_version__ == COMPILER_VERSION
