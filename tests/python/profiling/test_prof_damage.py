# SPDX-License-Identifier: Apache-2.0
"""Damaged PROF_* directories: whatever is in their files, exporting, reporting and analysing them
ends with files or with one sentence, never with a traceback. `make fuzz` does it longer."""
import glob
import json
import os
import random
import shutil
import struct

import pytest
from prof_case import (
    API,
    MEMORY,
    METRICS,
    RUNTIME,
    TASK,
    TX,
    directory,
    make_model,
    queue_model,
    session,
)

import acl
from anynpu.msprof.crc32c import crc32c
from anynpu.msprof.export import export
from anynpu.msprof.recording import RecordingError
from anynpu.report.lanes import open_source
from anynpu.report.others import write_perfetto
from anynpu.report.page import page_data

ROUNDS = int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "25"))
HEADER, CHUNK = 32, 16
TRIES = (None, 0, -1, 1e400, "", "x", [], {}, [1], {"a": 1}, 2**70, True)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording with something of every kind."""
    folder = tmp_path_factory.mktemp("recorded")
    path = make_model(tmp_path_factory.mktemp("model"))
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    assert acl.prof.set_config(8, "cpu,mem,disk,network") == 0
    assert acl.prof.set_config(3, "100") == 0
    with session(folder, API | TASK | RUNTIME | MEMORY | TX | METRICS, metrics=1):
        queue_model(path, "mark")
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    return directory(folder)


def chunks(data):
    """(begin of the content, its size) of each chunk."""
    at = HEADER
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield at + CHUNK, size
        at += CHUNK + size


def damage_events(path, dice):
    """Bytes of a chunk's content, with a checksum that fits them again."""
    data = bytearray(path.read_bytes())
    for begin, size in list(chunks(data)):
        for _ in range(dice.randint(0, 8)):
            if size:
                data[begin + dice.randrange(size)] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
        content = bytes(data[begin:begin + size])
        struct.pack_into("<I", data, begin - 4, crc32c(content))
    path.write_bytes(data)


def damage_json(path, dice):
    """A value of another type in place of one, or a text that is no JSON."""
    text = path.read_text()
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    for i in range(len(lines)):
        if dice.random() < 0.3:
            continue
        try:
            value = json.loads(lines[i])
        except ValueError:
            continue
        if isinstance(value, dict) and value and dice.random() < 0.8:
            key = dice.choice(list(value))
            value[key] = dice.choice(TRIES)
            if dice.random() < 0.3:
                del value[key]
        else:
            value = dice.choice(TRIES)
        lines[i] = json.dumps(value)[:dice.choice((None, None, None, 20))]
    path.write_text("\n".join(lines))


def use(path):
    export(str(path))
    source = open_source(str(path))
    json.dumps(page_data(source))
    write_perfetto(str(path / "trace.json"), source)


@pytest.fixture(scope="module")
def framework(tmp_path_factory):
    """A *_ascend_ms directory with steps and stacks."""
    from anynpu.profiler import profile, schedule, tensorboard_trace_handler
    folder = tmp_path_factory.mktemp("framework")
    tensorboard_trace_handler(str(folder), analyse_flag=False)
    with profile(with_stack=True, schedule=schedule(wait=0, active=3, warmup=1, repeat=1),
                 hbm_ddr=True, pcie=True) as running:
        for _ in range(4):
            json.dumps({"a": 1})
            running.step()
    return running.directory


def test_whatever_a_directory_of_mindspore_profiler_holds_is_analysed_or_explained(framework,
                                                                                   tmp_path):
    from anynpu.profiler.analysis import analyse_directory
    dice = random.Random(11)
    analysed = 0
    for number in range(ROUNDS):
        path = tmp_path / "me_1_20260101000000000_ascend_ms"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(framework, path)
        for name in (*path.glob("profiler_info_*.json"), *(path / "FRAMEWORK").iterdir()):
            lines = name.read_text().splitlines()
            for i in range(len(lines)):
                if dice.random() < 0.2 / (1 + len(lines) / 40):
                    lines[i] = dice.choice(("", "[]", "{", "null", '["a", 1, 2, 3, 4]', "[1e999]",
                                            lines[i][:9], lines[i].replace("1", "-1")))
            name.write_text("\n".join(lines) + "\n")
        if dice.random() < 0.2:
            events = next(path.glob("PROF_*/host/data/anynpu.events"))
            events.write_bytes(events.read_bytes()[:dice.choice((0, 10, 40))])
        try:
            json.dumps(page_data(open_source(str(path))))
            analyse_directory(str(path))
            analysed += 1
        except (RecordingError, ValueError) as error:
            assert type(error) in (RecordingError, ValueError) and len(str(error)) > 30, error
        except Exception as error:
            raise AssertionError(f"round {number}: {error!r}") from error
    assert 0 < analysed < ROUNDS


@pytest.mark.parametrize("what", ["events", "json"])
def test_whatever_a_directory_holds_is_exported_or_explained(recorded, tmp_path, what):
    dice = random.Random(7)
    exported = 0
    for number in range(ROUNDS):
        path = tmp_path / os.path.basename(recorded)
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(recorded, path)
        if what == "events":
            damage_events(path / "host" / "data" / "anynpu.events", dice)
        else:
            for name in glob.glob(str(path / "host" / "**" / "*.json*"), recursive=True):
                damage_json(type(path)(name), dice)
        try:
            use(path)
            exported += 1
        except RecordingError as error:
            assert len(str(error)) > 20
        except Exception as error:
            raise AssertionError(f"round {number}: {error!r}") from error
    assert exported > ROUNDS // 2
