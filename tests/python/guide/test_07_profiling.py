# SPDX-License-Identifier: Apache-2.0
"""Guide 7.11: profiling by acl.prof, by marks of the program, and by subscription."""
import glob
import os

import numpy as np
import pytest
from blocks import block, run_block, write_bytes

import acl


@pytest.fixture
def loaded(ready, first_app):
    """Steps 1 to 3 of the blocks: context, model and datasets; and step 8, the release."""
    context, ret = acl.rt.get_context()
    assert ret == 0
    model_id, ret = acl.mdl.load_from_file(str(first_app / "model" / "resnet50.om"))
    assert ret == 0
    kept = []

    def dataset(size):
        memory, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        buffer = acl.create_data_buffer(memory, size)
        made = acl.mdl.create_dataset()
        acl.mdl.add_dataset_buffer(made, buffer)
        kept.append((made, buffer, memory))
        return made

    names = {"model_id": model_id, "context": context, "input": dataset(3 * 224 * 224 * 4),
             "output": dataset(1000 * 4)}
    write_bytes(acl, kept[0][2], np.ones([3, 224, 224], np.float32).tobytes())

    def release():
        for made, buffer, memory in kept:
            assert acl.mdl.destroy_dataset(made) == 0
            assert acl.destroy_data_buffer(buffer) == 0
            assert acl.rt.free(memory) == 0
        assert acl.mdl.unload(model_id) == 0

    return {**names, "release": release}


SESSION = """
import acl
import numpy as np
ret = acl.prof.init(PROF_INIT_PATH)

device_list = [0]
ACL_PROF_ACL_API = 0x0001
ACL_PROF_TASK_TIME = 0x0002
ACL_PROF_AICORE_METRICS = 0x0004
ACL_PROF_AICPU_TRACE = 0x0008
ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3

prof_config = acl.prof.create_config(device_list, 0, 0, ACL_PROF_ACL_API | ACL_PROF_TASK_TIME |
ACL_PROF_AICPU | ACL_PROF_AICORE_METRICS | ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE)
mem_freq = "15"
ret = acl.prof.set_config(ACL_PROF_SYS_HARDWARE_MEM_FREQ, mem_freq)
ret = acl.prof.start(prof_config)

ret = acl.mdl.execute(model_id, input, output)

release()

ret = acl.prof.stop(prof_config)
ret = acl.prof.destroy_config(prof_config)
ret = acl.prof.finalize()
"""


@block("7.11", "import acl (acl.prof.init)",
       slips=["ACL_PROF_AICPU, ACL_PROF_L2CACHE and ACL_PROF_HCCL_TRACE are used and never set"])
def test_session_after_the_model_was_loaded_records_calls_and_operators(loaded, tmp_path):
    run_block(SESSION, PROF_INIT_PATH=str(tmp_path), ACL_PROF_AICPU=8, ACL_PROF_L2CACHE=0x10,
              ACL_PROF_HCCL_TRACE=0x20, **loaded)
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    work = Work(read_recording(glob.glob(str(tmp_path / "PROF_*"))[0]))
    names = [work.name(n) for n in work.ops["name"]]
    assert "fc" in names and "pool" in names
    assert "aclmdlExecute" in {work.name(n) for n in work.apis["name"]}


@pytest.fixture
def marks(ready, tmp_path):
    """Between start and stop, with the bit for marks; gives what was recorded."""
    assert acl.prof.init(str(tmp_path)) == 0
    config = acl.prof.create_config([0], 0, 0, 0x80)
    assert acl.prof.start(config) == 0

    def recorded():
        from anynpu.msprof.recording import read_recording
        from anynpu.msprof.work import Work
        assert acl.prof.stop(config) == 0
        assert acl.prof.destroy_config(config) == 0
        assert acl.prof.finalize() == 0
        recording = read_recording(glob.glob(str(tmp_path / "PROF_*"))[0])
        assert recording.lost == 0
        stamps = Work(recording).stamps
        assert {recording.name(n) for n in stamps["name"]} == {"test msprof tx"}
        return stamps

    return recorded


HEAD = """
def loop():
    FAILED = 1
    for i in range(200000):
        stamp = acl.prof.create_stamp()
        if stamp == 0:
            print("create stamp failed")
            return FAILED

        msg = "test msprof tx"
        msg_len = len(msg)
        ret = acl.prof.set_stamp_trace_message(stamp, msg, msg_len)
"""


@block("7.11", "for i in range(200000): (acl.prof.mark)", slips=["printed without its indentation"])
def test_two_hundred_thousand_marks_without_destroying_a_stamp(marks):
    run_block(HEAD + """
        ret = acl.prof.mark(stamp)

    unused = acl.prof.destroy_stamp(stamp)

assert loop() is None
""", acl=acl)
    stamps = marks()
    assert len(stamps) == 200000 and set(stamps["d_arg"]) == {0}


@block("7.11", "for i in range(200000): (acl.prof.push)",
       slips=["printed without its indentation",
              "push and pop stand behind the loop, which makes 200000 stamps and pushes one"])
def test_push_and_pop_behind_two_hundred_thousand_stamps(marks):
    run_block(HEAD + """
    ret = acl.prof.push(stamp)
    ret = acl.prof.pop()

    unused = acl.prof.destroy_stamp(stamp)

assert loop() is None
""", acl=acl)
    stamps = marks()
    assert list(stamps["d_arg"]) == [1] and stamps["duration"][0] > 0


@block("7.11", "for i in range(200000): (acl.prof.range_start)",
       slips=["printed without its indentation", "the range stands behind the loop as well"])
def test_a_range_behind_two_hundred_thousand_stamps(marks):
    run_block(HEAD + """
    range_id = 0
    range_id, ret = acl.prof.range_start(stamp)
    ret = acl.prof.range_stop(range_id)

    unused = acl.prof.destroy_stamp(stamp)

assert loop() is None
""", acl=acl)
    assert list(marks()["d_arg"]) == [2]


SUBSCRIBE = """
import acl
import numpy as np
import os
r, w = os.pipe()

ACL_AICORE_NONE = 0xFF
subscribe_config = acl.prof.create_subscribe_config(1, ACL_AICORE_NONE, w)
ret = acl.prof.model_subscribe(model_id, subscribe_config)

def get_model_info(data, data_len):
    op_number, ret = acl.prof.get_op_num(data, data_len)
    for i in range(op_number):
        model_id = acl.prof.get_model_id(data, data_len, i)
        op_type, ret = acl.prof.get_op_type(data, data_len, i, 65)
        op_name, ret = acl.prof.get_op_name(data, data_len, i, 275)
        op_start = acl.prof.get_op_start(data, data_len, i)
        op_end = acl.prof.get_op_end(data, data_len, i)
        op_duration = acl.prof.get_op_duration(data, data_len, i)
        found.append((model_id, op_type, op_name, op_start, op_end, op_duration))

def prof_data_read(args):
    fd, ctx = args
    ret = acl.rt.set_context(ctx)
    buffer_size, ret = acl.prof.get_op_desc_size()
    N = 10
    data_len = buffer_size * N
    while True:
        data = os.read(fd, data_len)
        if len(data) == 0:
            break
        np_data = np.array(data)

        bytes_data = np_data.tobytes()
        np_data_ptr = acl.util.bytes_to_ptr(bytes_data)
        size = np_data.itemsize * np_data.size
        get_model_info(np_data_ptr, size)

thr_id, ret = acl.util.start_thread(prof_data_read, [r, context])

ret = acl.mdl.execute(model_id, input, output)

release()

ret = acl.prof.model_unsubscribe(model_id)
ret = acl.util.stop_thread(thr_id)
os.close(r)
ret = acl.prof.destroy_subscribe_config(subscribe_config)
"""


@block("7.11", "import acl (acl.prof.model_subscribe)", slips=["os is used and never imported"],
       note="the block is printed in three pieces; the reader ends when the model is unloaded")
def test_subscription_gives_the_operators_and_its_reader_ends(loaded):
    found = []
    run_block(SUBSCRIBE, found=found, **loaded)
    assert {name for _, _, name, *_ in found} >= {"fc", "pool"}
    for model_id, op_type, _, start, end, duration in found:
        assert model_id == loaded["model_id"] and op_type
        assert end - start == duration and start > 0


@block("7.11", "..... (acl.prof.model_subscribe)", note="the middle of the block before")
@block("7.11", "10. (acl.prof.model_unsubscribe)", note="the end of the block before")
def test_unsubscribing_twice_is_told(loaded):
    r, w = os.pipe()
    config = acl.prof.create_subscribe_config(1, 0xFF, w)
    assert acl.prof.model_subscribe(loaded["model_id"], config) == 0
    loaded["release"]()
    assert os.read(r, 100) == b""  # closed by the library
    assert acl.prof.model_unsubscribe(loaded["model_id"]) == 0
    assert acl.prof.model_unsubscribe(loaded["model_id"]) == 100011
    assert acl.prof.destroy_subscribe_config(config) == 0
    os.close(r)
