# SPDX-License-Identifier: Apache-2.0
"""Rules around dumps: what excludes what, when a setting counts, where a relative folder begins,
and that addresses of overflow records are addresses."""
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from test_dump import RUN, files_in, make_model, msaccucmp

import acl

MODEL = {"dump_list": [{"model_name": "net"}]}
OPERATORS = {"dump_list": [], "dump_op_switch": "on"}
DEBUG, FAULTS = {"dump_debug": "on"}, {"dump_scene": "aic_err_brief_dump"}
WATCHER = {"dump_scene": "watcher", "dump_list": [{"layer": ["a"], "watcher_nodes": ["b"]}]}
EXCLUDED = {
    "overflow and models": ({**DEBUG, **MODEL}, "dump_debug"),
    "overflow and operators": ({**DEBUG, **OPERATORS}, "dump_debug"),
    "faults and models": ({**FAULTS, **MODEL}, "dump_scene"),
    "faults and operators": ({**FAULTS, **OPERATORS}, "dump_scene"),
    "brief faults and models": ({"dump_scene": "lite_exception", **MODEL}, "dump_scene"),
    "a watcher and overflow": ({**WATCHER, **DEBUG}, "watcher"),
    "a watcher and operators": ({**WATCHER, "dump_op_switch": "on"}, "watcher"),
    "a watcher and another mode": ({**WATCHER, "dump_mode": "input"}, "watcher"),
    "faults and statistics": ({**FAULTS, "dump_stats": ["Max"]}, "dump_stats"),
}  # fmt: skip


def write_config(folder, section, name="acl.json", path="out"):
    (folder / name).write_text(json.dumps({"dump": {"dump_path": str(folder / path), **section}}))
    return str(folder / name)


@pytest.mark.parametrize("what", EXCLUDED)
def test_dumps_that_exclude_each_other_are_refused_at_the_start(tmp_path, what):
    section, word = EXCLUDED[what]
    assert acl.init(write_config(tmp_path, section)) == 100009
    assert word in acl.get_recent_err_msg()
    assert not (tmp_path / "out").exists()
    assert acl.init() == 0, "nothing of the first start is left"
    assert acl.finalize() == 0


@pytest.mark.parametrize("what", EXCLUDED)
def test_a_refused_setting_leaves_the_one_before(tmp_path, what, device_0):
    make_model(tmp_path)
    assert acl.mdl.init_dump() == 0
    assert acl.mdl.set_dump(write_config(tmp_path, MODEL)) == 0
    section, word = EXCLUDED[what]
    assert acl.mdl.set_dump(write_config(tmp_path, section, "bad.json", "other")) == 100009
    assert word in acl.get_recent_err_msg()
    execute(load(tmp_path))
    assert len(files_in(tmp_path / "out")) == 3 and not (tmp_path / "other").exists()
    assert acl.mdl.finalize_dump() == 0


def load(folder):
    model, ret = acl.mdl.load_from_file(str(folder / "net.om"))
    assert ret == 0, acl.get_recent_err_msg()
    return model


def execute(model):
    sets, memory = [], []
    for size in (3 * 64 * 4, 20 * 64 * 4):
        memory.append(acl.rt.malloc(size, 2)[0])
        assert acl.rt.memset(memory[-1], size, 0, size) == 0
        sets.append(acl.mdl.create_dataset())
        acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(memory[-1], size))
    assert acl.mdl.execute(model, *sets) == 0
    for address, made in zip(memory, sets):
        assert acl.destroy_data_buffer(acl.mdl.get_dataset_buffer(made, 0)) == 0
        assert acl.mdl.destroy_dataset(made) == 0
        assert acl.rt.free(address) == 0


def test_a_setting_counts_for_models_loaded_after_it_and_the_last_one_wins(tmp_path, device_0):
    make_model(tmp_path)
    before = load(tmp_path)
    assert acl.mdl.init_dump() == 0
    assert acl.mdl.set_dump(write_config(tmp_path, MODEL, path="first")) == 0
    execute(before)
    assert not files_in(tmp_path / "first")
    between = load(tmp_path)
    assert acl.mdl.set_dump(write_config(tmp_path, MODEL, path="second")) == 0
    execute(load(tmp_path))
    assert len(files_in(tmp_path / "second")) == 3 and not files_in(tmp_path / "first")
    execute(between)
    assert len(files_in(tmp_path / "first")) == 3
    assert acl.mdl.finalize_dump() == 0
    execute(load(tmp_path))
    assert len(files_in(tmp_path / "first")) == len(files_in(tmp_path / "second")) == 3


def test_a_dump_of_the_start_cannot_be_set_again(tmp_path):
    assert acl.init(write_config(tmp_path, MODEL)) == 0
    assert acl.mdl.init_dump() == 100000
    assert "aclInit" in acl.get_recent_err_msg()
    assert acl.finalize() == 0


def run_program(folder, arguments, cwd, tail=""):
    (folder / "app.py").write_text(textwrap.dedent(RUN) + tail)
    done = subprocess.run([sys.executable, str(folder / "app.py"), *arguments], cwd=cwd,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_relative_folder_starts_at_the_folder_of_the_program(tmp_path):
    program, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    program.mkdir()
    elsewhere.mkdir()
    make_model(program)
    os.rename(program / "input.bin", elsewhere / "input.bin")
    (program / "acl.json").write_text(json.dumps({"dump": {"dump_path": "out", **MODEL}}))
    run_program(program, [str(program / "acl.json"), str(program / "net.om"), "1"], elsewhere)
    assert len(files_in(program / "out")) == 3
    assert os.listdir(elsewhere) == ["input.bin"]


MAPS = """
print([line.split()[0] for line in open("/proc/self/maps")])
"""


def test_addresses_of_overflow_records_are_memory_of_the_program_or_nothing(tmp_path):
    make_model(tmp_path, "--status_check=1", scale=3e38)
    data = np.full((1, 3, 8, 8), 3e38, np.float32)
    data.tofile(tmp_path / "input.bin")
    config = write_config(tmp_path, DEBUG)
    text = run_program(tmp_path, [config, "net.om", "1"], tmp_path, MAPS)
    ranges = [[int(end, 16) for end in one.split("-")]
              for one in json.loads(text.splitlines()[-1].replace("'", '"'))]
    records = [p for n, p in files_in(tmp_path / "out").items() if "Opdebug" in n]
    assert records
    for record in records:
        folder = tmp_path / os.path.basename(record)
        assert msaccucmp("convert", "-d", record, "-out", str(folder)).returncode == 0
        name, = os.listdir(folder)
        parts = json.loads((folder / name).read_text())
        addresses = {key: int(value, 16) for part in parts.values() for key, value in part.items()
                     if isinstance(value, str)}
        assert set(addresses) == {"pc_start", "para_base", "kernel_code"}
        assert addresses["para_base"] != 0
        for address in addresses.values():
            assert address == 0 or any(low <= address < high for low, high in ranges)
