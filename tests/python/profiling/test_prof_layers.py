# SPDX-License-Identifier: Apache-2.0
"""One event stream for everything: what each layer does is in a profile, tied to the call that
caused it, without the layer's functions knowing of profiling."""
import json
import os
import struct
import threading
import time

import numpy as np
from hpe_programs import compile_kernels, kernels
from prof_case import API, MEMORY, RUNTIME, TASK, TX, directory, exported, one, session, table
from single_op import run

import acl
from anynpu.msprof.recording import read_recording
from anynpu.msprof.work import ENGINES, Work

EVERYTHING = API | TASK | RUNTIME | MEMORY | TX
KERNEL = """
#include <npurt.h>
extern "C" __global__ void fill(int* out, int value) { if (CoreID == 0) *out = value; }
"""


def work_of(folder):
    return Work(read_recording(directory(folder)))


def test_single_operators_have_shapes_and_their_call(device_0, tmp_path):
    with session(tmp_path, EVERYTHING):
        run("Add", [np.ones([3, 5], np.float32), np.ones([3, 5], np.float32)],
            [np.zeros([3, 5], np.float32)])
    work = work_of(tmp_path)
    [add] = [i for i, op in enumerate(work.ops) if work.text(op["arg"]).type == "Add"]
    text = work.text(work.ops[add]["arg"])
    assert text.inputs[:2] == ("3,5;3,5", "FLOAT;FLOAT") and text.outputs[:2] == ("3,5", "FLOAT")
    call = work.api_of(work.tasks[work.op_owner[add]][None])[0]
    assert "Execute" in work.name(work.apis[call]["name"])


def test_callbacks_are_recorded_in_the_thread_that_ran_them(device_0, tmp_path):
    with session(tmp_path, EVERYTHING):
        stream, _ = acl.rt.create_stream()
        assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
        seen = []
        assert acl.rt.launch_callback(lambda data: seen.append(data), 7, 1, stream) == 0
        while not seen:
            assert acl.rt.process_report(-1) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0
        assert acl.rt.destroy_stream(stream) == 0
    work = work_of(tmp_path)
    assert work.callbacks["thread"].tolist() == [threading.get_native_id()]
    assert work.kinds.tolist().count("callback") == 1


def test_kernels_of_the_program_are_tasks_on_the_npc(device_0, tmp_path):
    path = compile_kernels(KERNEL, str(tmp_path), "fill", "-O2")
    binary, ret = acl.rt.binary_load_from_file(path, None)
    assert ret == 0, acl.get_recent_err_msg()
    function, ret = acl.rt.binary_get_function(binary, "fill")
    assert ret == 0
    stream, _ = acl.rt.create_stream()
    memory, _ = acl.rt.malloc(64, 2)
    with session(tmp_path / "prof", EVERYTHING):
        arguments = np.frombuffer(struct.pack("<Qi4x", memory, 5), np.uint8)
        assert acl.rt.launch_kernel(function, 1, acl.util.numpy_to_ptr(arguments),
                                    arguments.nbytes, stream) == 0, acl.get_recent_err_msg()
        assert acl.rt.synchronize_stream(stream) == 0
    work = work_of(tmp_path / "prof")
    [task] = [t for t in work.tasks if ENGINES[t["d_second"]] == "npc"]
    call = work.api_of(task[None])[0]
    assert "LaunchKernel" in work.name(work.apis[call]["name"])
    assert acl.rt.free(memory) == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.binary_unload(binary) == 0


def test_kernels_of_hpe_are_in_a_profile_too(tmp_path):
    import hpe.hpert.api as hpe
    from anynpu.profiler import ProfilerLevel, _ExperimentalConfig, profile
    from anynpu.profiler import tensorboard_trace_handler as place
    place(str(tmp_path))
    module = hpe.module(kernels())
    config = _ExperimentalConfig(profiler_level=ProfilerLevel.Level1)
    with profile(experimental_config=config) as running:
        for _ in range(3):
            module.launch_kernel("nothing")
        hpe.synchronize()
    work = work_of(running.directory)
    assert work.kinds.tolist().count("hpe_kernel") == 3


def test_media_tasks_of_both_versions_name_their_engines(device_0, tmp_path):
    from media_programs import NV12, Picture, jpeg_bytes, nv12_bytes, ok, upload
    himpi = acl.himpi
    ok(himpi.sys_init())
    ok(himpi.vpc_create_chn(0, {"attr": 0}))
    with session(tmp_path, EVERYTHING):
        stream = ok(acl.rt.create_stream())
        channel = acl.media.dvpp_create_channel_desc()
        ok(acl.media.dvpp_create_channel(channel))
        source, target = Picture(NV12, 64, 64, nv12_bytes(64, 64)), Picture(NV12, 32, 32)
        config = acl.media.dvpp_create_resize_config()
        ok(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc, config, stream))
        data = jpeg_bytes(64, 64)
        decoded = Picture(NV12, 64, 64)
        ok(acl.media.dvpp_jpeg_decode_async(channel, upload(data), len(data), decoded.desc, stream))
        ok(acl.rt.synchronize_stream(stream))
        ok(acl.media.dvpp_destroy_channel(channel))
        ok(acl.rt.destroy_stream(stream))
        pictures = [{"picture_address": upload(bytes(size)), "picture_buffer_size": size,
                     "picture_format": layout, "picture_width": 64, "picture_height": 64,
                     "picture_width_stride": stride, "picture_height_stride": 64}
                    for layout, stride, size in ((1, 64, 6144), (12, 192, 12288))]
        number = ok(himpi.vpc_convert_color(0, *pictures, -1))
        ok(himpi.vpc_get_process_result(0, number, -1))
    ok(himpi.vpc_destroy_chn(0))
    ok(himpi.sys_exit())
    rows = {r["Engine Type"]: int(r["All Frame"]) for r in table(exported(tmp_path), "dvpp")}
    assert rows == {"VPC": 2, "JPEG": 1}


def test_copies_and_sets_carry_their_bytes_with_and_without_a_stream(device_0, tmp_path):
    with session(tmp_path, EVERYTHING):
        stream, _ = acl.rt.create_stream()
        memory, _ = acl.rt.malloc(4096, 0)
        assert acl.rt.memset(memory, 4096, 0, 1000) == 0
        assert acl.rt.memset_async(memory, 4096, 0, 2000, stream) == 0
        assert acl.rt.memcpy(memory, 4096, memory + 2048, 512, 3) == 0
        assert acl.rt.memcpy_async(memory, 4096, memory + 2048, 256, 3, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.free(memory) == 0
        assert acl.rt.destroy_stream(stream) == 0
    work = work_of(tmp_path)
    assert sorted(work.copies["arg"].tolist()) == [512, 1000]
    queued = {work.name(t["name"]): int(t["arg"]) for t in work.tasks}
    assert queued["memset_async"] == 2000 and 256 in queued.values()


def wait_for_a_sample(path):
    """Until the memory of the device has been sampled from now on."""
    file = os.path.join(path, "host", "data", "samples.jsonl")

    def count():
        with open(file, encoding="utf-8") as samples:
            return samples.read().count('"npu_mem"')

    before = count()
    while count() < before + 2:  # one may be on its way
        time.sleep(0.005)


def test_counters_of_memory_and_load_go_over_time(device_0, tmp_path):
    for number, value in ((3, "50"), (8, "cpu,mem"), (10, "50")):
        assert acl.prof.set_config(number, value) == 0
    with session(tmp_path, EVERYTHING):
        held = [acl.rt.malloc(1 << 20, 0)[0] for _ in range(3)]
        wait_for_a_sample(directory(tmp_path))
        assert all(acl.rt.free(memory) == 0 for memory in held)
    path = exported(tmp_path)
    used = [float(r["memory(KB)"]) for r in table(path, "npu_mem") if r["event"] == "app"]
    assert max(used) - min(used) >= 3 * 1024
    with open(one(path, "msprof_[0-9]*.json"), encoding="utf-8") as file:
        counters = {e["name"] for e in json.load(file) if e["ph"] == "C"}
    assert {"APP/DDR", "CPU Avg", "Memory Usage"} <= counters
