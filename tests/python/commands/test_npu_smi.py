# SPDX-License-Identifier: Apache-2.0
"""npu-smi shows the devices in the vendor's layout; texts are checked on given facts, and the
program itself is run against the real runtime."""
import os
import re
import subprocess
import sys

import pytest
from build_tree import ROOT

from anynpu import npu_smi, npu_smi_text, other_processes
from anynpu.runtime_facts import DeviceFacts, RuntimeFacts, RuntimeUnavailable

MIB = 1 << 20


@pytest.fixture
def facts(monkeypatch):
    devices = [DeviceFacts(i, 8192 * MIB, (8192 - 512 * i) * MIB, 7 * i) for i in range(2)]
    made = RuntimeFacts("Ascend310P3", "0.1.0", devices)
    monkeypatch.setattr(npu_smi, "read", lambda: made)
    return made


def test_info_draws_a_table_whose_lines_have_one_width(facts):
    lines = npu_smi_text.table(facts).splitlines()
    assert {len(line) for line in lines} == {106}
    assert all(line[0] in "+|" and line[-1] in "+|" for line in lines)
    assert "| NPU     Name                  | Health          | Power(W)     Temp(C)" in lines[3]


def test_info_rows_show_name_health_and_memory_of_each_device(facts):
    rows = [[cell.split() for cell in line.strip("|").split("|")]
            for line in npu_smi_text.table(facts).splitlines()[6:11] if line.startswith("|")]
    assert rows[0] == [["0", "310P3"], ["OK"], ["NA", "NA", "0", "/", "0"]]
    assert rows[1] == [["0", "0"], ["NA"], ["0", "0", "/", "8192"]]
    assert rows[2] == [["1", "310P3"], ["OK"], ["NA", "NA", "0", "/", "0"]]
    assert rows[3] == [["0", "1"], ["NA"], ["7", "512", "/", "8192"]]


def test_list_counts_the_devices(facts, capsys):
    assert npu_smi.main(["info", "-l"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"Total Count\s+: 2\n", out)
    assert re.findall(r"NPU ID\s+: (\d)", out) == ["0", "1"]


def test_map_names_the_chip_of_each_device(facts, capsys):
    assert npu_smi.main(["info", "-m"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1:] == [["0", "0", "0", "Ascend", "310P3"], ["1", "0", "1", "Ascend", "310P3"]]


@pytest.mark.parametrize("kind", sorted(npu_smi_text.TYPES))
def test_each_type_prints_fields_of_one_device(facts, capsys, kind):
    assert npu_smi.main(["info", "-t", kind, "-i", "1"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines and all(line.startswith("\t") for line in lines)


def test_usages_tells_memory_and_load(facts, capsys):
    assert npu_smi.main(["info", "-t", "usages", "-i", "1", "-c", "0"]) == 0
    out = capsys.readouterr().out
    for name, value in (("DDR Capacity(MB)", "8192"), ("DDR Usage Rate(%)", "6"),
                        ("Aicore Usage Rate(%)", "7")):
        assert re.search(re.escape(name) + rf"\s+: {value}\n", out), name


@pytest.mark.parametrize("words, part", [
    ([], "a command is missing"),
    (["set"], "unknown command 'set'"),
    (["info", "-x"], "unknown option '-x'"),
    (["info", "-t"], "the option -t needs a value"),
    (["info", "-t", "colour", "-i", "0"], "unknown type 'colour'"),
    (["info", "-t", "board"], "needs a device"),
    (["info", "-t", "board", "-i", "one"], "expected a number"),
    (["info", "-t", "board", "-i", "9"], "there is no device 9"),
    (["info", "-t", "usages", "-i", "0", "-c", "3"], "has one chip"),
    (["info", "-i", "0"], "need -t type"),
    (["info", "-l", "-m"], "exclude each other"),
])
def test_wrong_words_give_the_usage_and_a_failing_exit_code(facts, capsys, words, part):
    assert npu_smi.main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err and "Usage: npu-smi info" in captured.err


def test_help_and_version_need_no_runtime(monkeypatch, capsys):
    monkeypatch.setattr(npu_smi, "read", lambda: pytest.fail("asked the runtime"))
    assert npu_smi.main(["-h"]) == 0 and npu_smi.main(["info", "-h"]) == 0
    assert npu_smi.main(["-v"]) == 0
    assert "npu-smi version: " in capsys.readouterr().out


def test_a_missing_runtime_is_said_and_is_not_a_usage_error(monkeypatch, capsys):
    def absent():
        raise RuntimeUnavailable("the module acl cannot be imported: gone")
    monkeypatch.setattr(npu_smi, "read", absent)
    assert npu_smi.main(["info"]) == 2
    assert "gone" in capsys.readouterr().err


def test_a_reader_that_stops_early_is_no_failure():
    line = f"{os.path.join(os.environ['ANYNPU_BUILD_DIR'], 'bin', 'npu-smi')} info | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True,
                          text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("+--")


def run_program(*words, **env):
    program = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "bin", "npu-smi")
    return subprocess.run([program, *words], capture_output=True, text=True, check=False,
                          timeout=300, env={**os.environ, **env})


def test_the_name_is_the_soc_name_without_ascend():
    done = run_program("info", ANYNPU_SOC="Ascend910B4", ANYNPU_DEVICES="cpu:3")
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^\| \d+ +(\S+) +\| OK", done.stdout, re.M)
    assert names == ["910B4"] * 3


def test_ascend_and_the_name_is_the_soc_name_that_atc_accepts(tmp_path):
    import acl
    names = re.findall(r"^\| \d+ +(\S+) +\| OK", run_program("info").stdout, re.M)
    assert {"Ascend" + name for name in names} == {acl.get_soc_name()}
    model = os.path.join(ROOT, "examples", "shapes", "shapes.onnx")
    done = subprocess.run(["atc", f"--model={model}", "--framework=5", "--output=shapes",
                           "--input_shape=actual_input_1:1,3,224,224",
                           f"--soc_version=Ascend{names[0]}"], cwd=tmp_path, timeout=300,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "ATC run success" in done.stdout


def test_the_memory_is_the_configured_one():
    done = run_program("info", "-t", "memory", "-i", "0", ANYNPU_DEVICE_MEMORY="3G")
    assert done.returncode == 0, done.stderr
    assert re.search(r"DDR Capacity\(MB\)\s+: 3072\n", done.stdout)


HOLDER = """
import sys, acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, code = acl.rt.malloc(96 << 20, 0)
stream, code = acl.rt.create_stream()
print("ready", flush=True)
while True:
    for _ in range(200):
        acl.rt.memset_async(memory, 96 << 20, 1, 96 << 20, stream)
    acl.rt.synchronize_stream(stream)
"""


@pytest.fixture
def holder(tmp_path):
    """A program that uses 96 MiB of device 0 and works all the time; and its environment."""
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    child = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True,
                             env=env)
    assert child.stdout.readline() == "ready\n"
    yield child, env
    child.kill()
    child.wait()


def used(env):
    done = subprocess.run(["npu-smi", "info", "-t", "usages", "-i", "0"], capture_output=True,
                          text=True, timeout=60, env=env)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"Aicore Usage Rate\(%\)\s+: (\d+)", done.stdout)[1])


def test_other_processes_are_seen_with_memory_and_load(holder):
    child, env = holder
    done = subprocess.run(["npu-smi", "info"], capture_output=True, text=True, timeout=60, env=env)
    rows = [line.strip("|").split("|") for line in done.stdout.splitlines()
            if f" {child.pid} " in line]
    assert len(rows) == 1, done.stdout
    assert {len(line) for line in done.stdout.splitlines()} == {106}
    assert "python" in rows[0][2] and 96 <= int(rows[0][3]) < 200
    assert used(env) > 20
    listed = subprocess.run(["npu-smi", "info", "-t", "proc-mem", "-i", "0"], capture_output=True,
                            text=True, timeout=60, env=env).stdout
    assert f"Process id:{child.pid} " in listed


def test_a_killed_process_disappears_with_its_page(holder, tmp_path):
    child, env = holder
    page = tmp_path / "anynpu" / str(child.pid)
    assert page.exists() and (page.stat().st_mode & 0o777) == 0o600
    child.kill()
    child.wait()
    assert page.exists(), "nobody has looked yet"
    done = subprocess.run(["npu-smi", "info"], capture_output=True, text=True, timeout=60, env=env)
    assert f" {child.pid} " not in done.stdout and "No running processes" in done.stdout
    assert not page.exists()


def test_a_process_that_ends_takes_its_page_along(tmp_path):
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import acl; acl.init(); acl.rt.set_device(0)"],
                   check=True, env=env)
    assert os.listdir(tmp_path / "anynpu") == []


def test_pages_of_others_and_damaged_ones_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "anynpu").mkdir()
    (tmp_path / "anynpu" / "1").write_bytes(b"nonsense")
    (tmp_path / "anynpu" / "words").write_bytes(b"")
    assert other_processes.uses() == []
    # A number that was used again: the start of the process differs.
    header = other_processes.HEADER.pack(other_processes.MAGIC, os.getppid(), 0, 1, 1, 0, b"x")
    (tmp_path / "anynpu" / str(os.getppid())).write_bytes(header)
    assert other_processes.read_pages() == {}
    assert not (tmp_path / "anynpu" / str(os.getppid())).exists()


def test_what_the_machine_knows_about_a_card_is_shown(monkeypatch, capsys):
    """Memory and load are those of the card, not of this process."""
    card = {"product": "NVIDIA H200", "bus": "0000:19:00.0", "memory_total": 143771 * MIB,
            "memory_used": 1024 * MIB, "load_percent": 37.0, "temperature_c": 42, "power_w": 116.04}
    device = DeviceFacts(0, 100 * MIB, 90 * MIB, 1, card)
    monkeypatch.setattr(npu_smi, "read", lambda: RuntimeFacts("Ascend310P3", "0.1.0", [device]))
    assert npu_smi.main(["info"]) == 0
    rows = [[cell.split() for cell in line.strip("|").split("|")]
            for line in capsys.readouterr().out.splitlines()[6:8]]
    assert rows == [[["0", "310P3"], ["OK"], ["116.0", "42", "0", "/", "0"]],
                    [["0", "0"], ["0000:19:00.0"], ["37", "1024", "/", "143771"]]]
    for kind, words in (("temp", "(C)            : 42"), ("power", "(W)           : 116.0"),
                        ("board", "NVIDIA H200"), ("usages", "Rate(%)           : 37")):
        assert npu_smi.main(["info", "-t", kind, "-i", "0"]) == 0
        assert words in capsys.readouterr().out
