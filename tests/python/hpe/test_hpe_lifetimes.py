# SPDX-License-Identifier: Apache-2.0
"""Objects are dropped in any order, with work queued, in threads and at the end of a program."""
import itertools

import pytest
from hpe_programs import output

PREPARE = """
module = hpe.module(IMAGE)
stream = hpe.stream()
event = hpe.event()
first, second = hpe.device_mem(4096), hpe.device_mem(4096)
source, target = np.arange(1024, dtype=np.int32), np.zeros(1024, np.int32)
first.copy_from_host(source, stream=stream)
module.launch_kernel('work', [second, 300000], stream)
module.launch_kernel('copy', [first, second, 1024], stream)
event.record(stream)
stream.wait(event)
second.copy_to_host(target, stream=stream)
"""


@pytest.mark.parametrize("order", [
    ("module", "stream", "event", "first", "second", "source"),
    ("second", "first", "event", "stream", "module", "source"),
    ("source", "stream", "first", "module", "second", "event")])
def test_objects_dropped_with_work_queued(order):
    assert output(PREPARE + f"""
del {', '.join(order)}
gc.collect()
hpe.synchronize()
print((target == np.arange(1024)).all())
""").split() == ["True"]


def test_the_program_ends_with_work_queued():
    assert output(PREPARE + "print('end', flush=True)\n").split() == ["end"]


def test_what_kernels_print_is_shown_before_the_program_ends():
    assert "device says 7" in output("""
        module = hpe.module(IMAGE)
        module.launch_kernel('say', [7])
    """)


def test_objects_in_cycles_and_globals_at_the_end():
    assert output(PREPARE + """
class Node: pass
a, b = Node(), Node()
a.other, b.other, a.memory, b.module = b, a, first, module
sys.modules['kept'] = (a, stream)
print('end')
""").split() == ["end"]


def test_an_array_of_a_queued_copy_lives_until_the_copy_is_done():
    assert output("""
        module, stream = hpe.module(IMAGE), hpe.stream()
        memory, out = hpe.device_mem(1 << 20), hpe.device_mem(4)
        module.launch_kernel('work', [out, 2000000], stream)
        for value in (1, 2, 3):
            memory.copy_from_host(np.full(1 << 20, value, np.uint8), stream=stream)
            junk = [np.full(1 << 20, 99, np.uint8) for _ in range(3)]
        target = np.zeros(1 << 20, np.uint8)
        memory.copy_to_host(target, stream=stream)
        stream.synchronize()
        print((target == 3).all())
    """).split() == ["True"]


def test_many_objects_come_and_go():
    assert output("""
        module = hpe.module(IMAGE)
        for i in range(3000):
            stream, event = hpe.stream(), hpe.event()
            memory = hpe.device_mem(1 << 20)
            if i % 100 == 0:
                module = hpe.module(IMAGE)
            module.launch_kernel('who', [memory], stream)
            event.record(stream)
        hpe.synchronize()
        print('fine')
    """).split() == ["fine"]


def test_threads_drop_each_others_objects():
    order = list(itertools.permutations(range(3)))
    assert output(f"""
        module = hpe.module(IMAGE)
        def use():
            for order in {order!r}:
                objects = [hpe.stream(), hpe.device_mem(4096), hpe.event()]
                module.launch_kernel('who', [objects[1]], objects[0])
                objects[2].record(objects[0])
                for index in order:
                    objects[index] = None
        threads = [threading.Thread(target=use) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        hpe.synchronize()
        print('fine')
    """).split() == ["fine"]
