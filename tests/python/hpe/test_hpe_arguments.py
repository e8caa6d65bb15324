# SPDX-License-Identifier: Apache-2.0
"""hpe.hpert.api without kernels: devices, memory, copies, streams, events, and what is refused."""
import resource

import numpy as np
import pytest
from hpe_programs import kernels

import hpe.hpert.api as hpe


def refused(call, name):
    with pytest.raises(hpe.CruntimeException) as caught:
        call()
    assert caught.value.name == name, str(caught.value)
    return caught.value


@pytest.fixture(autouse=True)
def device_zero():
    hpe.set_device(0)
    yield
    hpe.set_device(0)


def test_detect_prints_every_cluster_and_marks_pci_as_simulated(capsys):
    assert hpe.detect() is True
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    for number, line in enumerate(lines):
        assert line.startswith(f"NPC Cluster {number}: STCP920") and "simulated" in line


def test_the_device_is_kept_per_thread():
    import threading
    seen = []
    hpe.set_device(2)
    thread = threading.Thread(target=lambda: seen.append(hpe.get_device()))
    thread.start()
    thread.join()
    assert hpe.get_device() == 2 and seen == [0]


def test_set_device_without_a_number_is_device_zero():
    hpe.set_device(3)
    hpe.set_device()
    assert hpe.get_device() == 0


def test_without_a_device_id_objects_belong_to_the_device_of_the_thread():
    hpe.set_device(3)
    made = (hpe.device_mem(8), hpe.module(kernels()), hpe.stream(), hpe.event())
    assert [thing.device_id for thing in made] == [3] * 4
    memory, module, stream, event = made
    hpe.set_device(1)
    assert hpe.stream(None).device_id == 1 and hpe.stream(2).device_id == 2
    # Objects stay with their device.
    module.launch_kernel("who", [memory], stream, core_num=2)
    event.record(stream)
    event.synchronize()
    hpe.synchronize(3)
    target = np.zeros(2, np.int32)
    memory.copy_to_host(target)
    assert target.tolist() == [200, 201]


@pytest.mark.parametrize("number", [4, -1, 2**40])
def test_a_device_that_is_not_there(number):
    for call in (hpe.set_device, hpe.synchronize, hpe.stream, hpe.event,
                 lambda n: hpe.device_mem(8, n), lambda n: hpe.module(b"x", n)):
        refused(lambda call=call: call(number), "stcErrorInvalidDevice")
    refused(lambda: hpe.set_device("0"), "stcErrorInvalidValue")


def test_copies_go_there_and_back():
    source = np.arange(1000, dtype=np.float16)
    target = np.zeros(1000, np.float16)
    memory = hpe.device_mem(source.nbytes)
    memory.copy_from_host(source)
    memory.copy_to_host(target)
    assert (source == target).all()


@pytest.mark.parametrize("size", [(4 << 20) - 1, (4 << 20) + 3, (32 << 20) - 1, (32 << 20) + 77])
def test_large_copies_from_any_offset_move_every_byte_and_no_other(size):
    source = np.random.default_rng(size).integers(0, 256, size + 200, np.uint8)
    memory = hpe.device_mem(size + 200)
    for host, device in ((0, 0), (1, 63), (64, 7)):
        memory.copy_from_host(np.zeros(size + 200, np.uint8))
        memory.copy_from_host(source, device_offset=device, host_offset=host, size=size)
        target = np.zeros(size + 200, np.uint8)
        memory.copy_to_host(target)
        assert (target[device:device + size] == source[host:host + size]).all()
        assert not target[:device].any() and not target[device + size:].any()
        target[:] = 0
        memory.copy_to_host(target, device_offset=device, host_offset=host, size=size)
        assert (target[host:host + size] == source[host:host + size]).all()
        assert not target[:host].any() and not target[host + size:].any()


def test_copies_with_offsets_and_size():
    memory = hpe.device_mem(64)
    memory.copy_from_host(np.zeros(64, np.uint8))
    source = np.arange(16, dtype=np.uint8)
    memory.copy_from_host(source, device_offset=8, host_offset=4, size=5)
    target = np.full(20, 255, np.uint8)
    memory.copy_to_host(target, device_offset=7, host_offset=2, size=8)
    assert target.tolist() == [255] * 2 + [0, 4, 5, 6, 7, 8, 0, 0] + [255] * 10
    # Without a size, the rest of the array behind host_offset.
    memory.copy_from_host(source, device_offset=60, host_offset=12)
    memory.copy_to_host(target, device_offset=56, size=8)
    assert target[:8].tolist() == [0, 0, 0, 0, 12, 13, 14, 15]


def test_copies_that_do_not_fit():
    memory = hpe.device_mem(16)
    array = np.zeros(16, np.uint8)
    for wrong in ({"size": 17}, {"host_offset": 17}, {"device_offset": 17}, {"device_offset": 1},
                  {"host_offset": 1, "size": 16}, {"size": -1}, {"host_offset": -1},
                  {"device_offset": -1}, {"size": 1.5}, {"size": "4"}):
        for copy in (memory.copy_from_host, memory.copy_to_host):
            refused(lambda copy=copy, wrong=wrong: copy(array, **wrong), "stcErrorInvalidValue")


def test_arrays_that_copies_refuse():
    memory = hpe.device_mem(64)
    strided = np.zeros(32, np.uint8)[::2]
    constant = np.zeros(8, np.uint8)
    constant.flags.writeable = False
    for copy in (memory.copy_from_host, memory.copy_to_host):
        assert "contiguous" in refused(lambda copy=copy: copy(strided),
                                       "stcErrorInvalidValue").detail
        refused(lambda copy=copy: copy([1, 2, 3]), "stcErrorInvalidValue")
    assert "read-only" in refused(lambda: memory.copy_to_host(constant),
                                  "stcErrorInvalidValue").detail
    memory.copy_from_host(constant)
    memory.copy_from_host(b"bytes")


def test_streams_that_are_none():
    memory = hpe.device_mem(8)
    array = np.zeros(8, np.uint8)
    for stream in (1, None, "0", object()):
        refused(lambda stream=stream: memory.copy_from_host(array, stream=stream),
                "stcErrorInvalidStream")
    other = hpe.stream(device_id=1)
    refused(lambda: memory.copy_from_host(array, stream=other), "stcErrorInvalidStream")
    refused(lambda: hpe.event().record(other), "stcErrorInvalidStream")


def test_memory_that_cannot_be_had():
    for size in (0, -1, 1.5, "8"):
        refused(lambda size=size: hpe.device_mem(size), "stcErrorInvalidValue")
    refused(lambda: hpe.device_mem(3 << 30), "stcErrorDeviceMemoryAllocation")
    refused(lambda: hpe.host_mem((1 << 45,)), "stcErrorHostMemoryAllocation")


def test_dropped_memory_can_be_had_again():
    for _ in range(8):
        memory = hpe.device_mem(2 << 30)
        assert memory.size == 2 << 30
        del memory


def test_offset_addresses_are_numbers_of_32_bits():
    memory = hpe.device_mem(4096)
    start = memory.offset_address(0)
    assert isinstance(start, int) and 0 < start < 2**32
    assert memory.offset_address(100) == start + 100
    assert memory.offset_address(4096) == start + 4096
    for offset in (-1, 4097, "1"):
        refused(lambda offset=offset: memory.offset_address(offset), "stcErrorInvalidValue")


def test_host_mem_is_a_plain_array_of_float16():
    array = hpe.host_mem((3, 4))
    assert array.dtype == np.float16 and array.shape == (3, 4) and array.flags.writeable
    array[:] = 2
    part = array[1:]
    del array
    assert part.sum() == 16  # the pages stay with the last array that shows them
    assert hpe.host_mem((2, 3), np.int32).nbytes == 24
    assert hpe.host_mem((0, 3)).shape == (0, 3)
    assert hpe.host_mem(7, dtype="int8").shape == (7,)
    refused(lambda: hpe.host_mem((-1,)), "stcErrorInvalidValue")
    refused(lambda: hpe.host_mem((2,), object), "stcErrorInvalidValue")
    refused(lambda: hpe.host_mem(("a",)), "stcErrorInvalidValue")
    refused(lambda: hpe.host_mem((2**70, 0)), "stcErrorInvalidValue")
    refused(lambda: hpe.host_mem((1,) * 100), "stcErrorInvalidValue")
    refused(lambda: hpe.host_mem(float("nan")), "stcErrorInvalidValue")


def test_host_pinned_locks_an_array_until_it_is_dropped():
    array = np.zeros(5000)
    assert hpe.host_pinned(array) is None
    refused(lambda: hpe.host_pinned(array), "stcErrorInvalidValue")  # it is pinned already
    refused(lambda: hpe.host_pinned([1]), "stcErrorInvalidValue")
    refused(lambda: hpe.host_pinned(np.zeros(8)[::2]), "stcErrorInvalidValue")
    refused(lambda: hpe.host_pinned(np.zeros(0)), "stcErrorInvalidValue")


def locked_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmLck:"))


def test_pages_of_host_mem_and_host_pinned_are_locked_as_far_as_the_process_may():
    size = 1 << 20
    allowed, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    may = allowed == resource.RLIM_INFINITY or allowed >= 4 * size
    before = locked_kib()
    array = hpe.host_mem((size,), np.uint8)
    array[:] = 1
    pinned = np.ones(size, np.uint8)
    hpe.host_pinned(pinned)
    if may:
        assert locked_kib() >= before + 2 * size // 1024
    memory = hpe.device_mem(size)
    memory.copy_from_host(array)
    memory.copy_to_host(pinned)
    assert (pinned == 1).all()
    del array, pinned
    assert locked_kib() <= before


def test_an_event_has_to_be_recorded_before_it_is_waited_for():
    event = hpe.event()
    refused(event.synchronize, "stcErrorInvalidEvent")
    refused(lambda: hpe.stream().wait(event), "stcErrorInvalidEvent")
    refused(lambda: hpe.stream().wait(0), "stcErrorInvalidEvent")
    event.record()
    event.synchronize()
    event.record(hpe.stream())
    event.synchronize()


def test_asynchronous_copies_keep_their_array():
    import sys
    stream = hpe.stream()
    memory = hpe.device_mem(1 << 20)
    source = np.full(1 << 20, 7, np.uint8)
    target = np.zeros(1 << 20, np.uint8)
    before = sys.getrefcount(target)
    memory.copy_from_host(source, stream=stream)
    del source
    memory.copy_to_host(target, stream=stream)
    stream.synchronize()
    assert (target == 7).all()
    assert sys.getrefcount(target) == before


def test_images_that_are_none():
    refused(lambda: hpe.module("/no/such/file.o"), "stcErrorNoImage")
    refused(lambda: hpe.module("nul\0byte"), "stcErrorNoImage")
    refused(lambda: hpe.module(b""), "stcErrorNoImage")
    refused(lambda: hpe.module(b"not an ELF"), "stcErrorInvalidImage")
    refused(lambda: hpe.module(17), "stcErrorInvalidValue")


def test_classes_of_the_document_are_there():
    assert isinstance(hpe.device_mem(8), hpe.DeviceMem)
    assert isinstance(hpe.stream(), hpe.Stream)
    assert isinstance(hpe.event(), hpe.Event)
    assert [flag.value for flag in hpe.KernelFlag] == [0, 1, 2, 3]
    assert isinstance(hpe.version(), str)
