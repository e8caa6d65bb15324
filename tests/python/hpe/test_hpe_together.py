# SPDX-License-Identifier: Apache-2.0
"""Several streams, events, modules and clusters at once: random schedules of copies and kernels,
against the same steps one after another in numpy."""
import random
import threading

import numpy as np
import pytest
from hpe_programs import compile_kernels, output

import hpe.hpert.api as hpe

WORDS, STREAMS, STEPS = 96, 3, 120
SCALE = """
#include <npurt.h>
extern "C" void step(unsigned *own, unsigned by) {
    for (int i = CoreID; i < 96; i += CoreNum) own[i] = own[i] * 3 + by + i;
    sync();
}
"""
MIX = """
#include <npurt.h>
__shared__ unsigned sum[8];
extern "C" void step(unsigned *own, const unsigned *other) {
    unsigned part = 0;
    for (int i = CoreID; i < 96; i += CoreNum) part += other[i];
    sum[CoreID] = part;
    sync();
    unsigned all = 0;
    for (int i = 0; i < CoreNum; i++) all += sum[i];
    for (int i = CoreID; i < 96; i += CoreNum) own[i] ^= all + other[95 - i];
    sync();
}
"""


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    return [open(compile_kernels(source, folder, name, "-O2"), "rb").read()
            for name, source in (("scale", SCALE), ("mix", MIX))]


class Schedule:
    """Random steps on the streams of one cluster. Each stream owns one piece of memory; who reads
    another's waits for its event, and the other goes on when that is read."""

    def __init__(self, device, images, seed):
        self.random = random.Random(seed)
        self.scale, self.mix = (hpe.module(image, device) for image in images)
        self.streams = [hpe.stream(device) for _ in range(STREAMS)]
        self.events = [hpe.event(device) for _ in range(STREAMS)]
        self.own = [hpe.device_mem(4 * WORDS, device) for _ in range(STREAMS)]
        self.expected = [np.zeros(WORDS, np.uint32) for _ in range(STREAMS)]
        self.read = []  # (what a queued copy fills, what it has to be)
        for memory, array in zip(self.own, self.expected):
            memory.copy_from_host(array)

    def order(self, first, then):
        self.events[first].record(self.streams[first])
        self.streams[then].wait(self.events[first])

    def step(self):
        at, other = self.random.sample(range(STREAMS), 2)
        stream, own, cores = self.streams[at], self.own[at], self.random.randint(1, 8)
        kind = self.random.choice(["scale", "scale", "mix", "write", "read"])
        if kind == "scale":
            by = self.random.getrandbits(32)
            self.scale.launch_kernel("step", [own, by], stream, cores)
            self.expected[at] = (self.expected[at] * np.uint32(3) + np.uint32(by)
                                 + np.arange(WORDS, dtype=np.uint32))
        elif kind == "mix":
            self.order(other, at)
            self.mix.launch_kernel("step", [own, self.own[other]], stream, cores)
            self.order(at, other)
            value = self.expected[other]
            self.expected[at] = self.expected[at] ^ (value.sum(dtype=np.uint32) + value[::-1])
        elif kind == "write":
            array = np.array([self.random.getrandbits(32) for _ in range(WORDS)], np.uint32)
            own.copy_from_host(array, stream=stream)
            self.expected[at] = array.copy()
        else:
            array = np.zeros(WORDS, np.uint32)
            own.copy_to_host(array, stream=stream)
            self.read.append((array, self.expected[at].copy()))

    def check(self):
        for stream in self.streams:
            stream.synchronize()
        for memory, expected in zip(self.own, self.expected):
            array = np.zeros(WORDS, np.uint32)
            memory.copy_to_host(array)
            self.read.append((array, expected))
        for number, (array, expected) in enumerate(self.read):
            assert (array == expected).all(), number


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_all_clusters_mixed_by_one_thread(images, seed):
    schedules = [Schedule(device, images, seed * 10 + device) for device in range(4)]
    which = random.Random(seed)
    for _ in range(4 * STEPS):
        schedules[which.randrange(4)].step()
    for schedule in schedules:
        schedule.check()


@pytest.mark.parametrize("seed", range(5))
def test_a_thread_for_each_schedule_two_on_every_cluster(images, seed):
    failures = []

    def use(number):
        try:
            schedule = Schedule(number % 4, images, seed * 10 + number)
            for _ in range(STEPS):
                schedule.step()
            schedule.check()
        except Exception as failure:
            failures.append(f"schedule {number}: {failure!r}")

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


MEET = """
#include <npurt.h>
__shared__ int turn;
extern "C" void meet(int *out) {
    for (int i = 0; i < 2000; i++) {
        if (i % CoreNum == CoreID) turn = turn + i;  // the others have to see it before they go on
        sync();
    }
    out[CoreID] = turn;
}
"""


@pytest.mark.parametrize("interpret", ["0", "1"])
@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_eight_cores_meet_in_sync_on_any_number_of_host_threads(tmp_path, threads, interpret):
    path = compile_kernels(MEET, tmp_path, options="-O2")
    assert output(f"""
        module, out = hpe.module({path!r}), hpe.device_mem(32)
        module.launch_kernel('meet', [out])
        hpe.synchronize()
        array = np.zeros(8, np.int32)
        out.copy_to_host(array)
        print(*array)
    """, ANYNPU_THREADS=threads, ANYNPU_NPC_INTERPRET=interpret).split() == [str(1999000)] * 8
