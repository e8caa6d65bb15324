# SPDX-License-Identifier: Apache-2.0
"""Devices, tensors, streams, events and the memory pool of MindSpore on Ascend."""
START = """
import mindspore as ms, numpy as np
from mindspore import Tensor, mint, ops
ms.set_device("Ascend")
"""


def test_tensors_go_there_and_back(program):
    assert program(START + """
x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
y = (x + 1) * 2
print(y.asnumpy().sum(), y.shape, y.dtype, ms.get_context("device_target"))
""") == "156.0 (3, 4) Float32 Ascend\n"


def test_every_type_of_element(program):
    assert program(START + """
for kind in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"):
    x = np.array([[1, 0, 1], [0, 1, 1]], kind)
    y = mint.transpose(Tensor(x), 0, 1)
    assert (y.asnumpy() == x.T).all() and y.asnumpy().dtype == x.dtype, kind
x = Tensor(np.array([1.5, -2.0], np.float32), ms.bfloat16)
print((x + x).astype(ms.float32).asnumpy())
""") == "[ 3. -4.]\n"


def test_streams_and_events_order_their_work(program):
    assert program(START + """
x = Tensor(np.ones((256, 256), np.float32))
stream, event = ms.runtime.Stream(), ms.runtime.Event(enable_timing=True)
begin = ms.runtime.Event(enable_timing=True)
begin.record()
with ms.runtime.StreamCtx(stream):
    y = mint.matmul(x, x)
    event.record()
event.wait()
z = y + 1
ms.runtime.synchronize()
print(z.asnumpy()[0, 0], event.query(), begin.elapsed_time(event) >= 0)
""") == "257.0 True True\n"


def test_the_memory_pool_counts_what_is_used(program):
    assert program(START + """
before = ms.runtime.memory_allocated()
x = Tensor(np.ones((1 << 20,), np.float32)) + 1
ms.runtime.synchronize()
used = ms.runtime.memory_allocated() - before
x = None
print(used >= 4 << 20, ms.runtime.memory_reserved() >= used,
      ms.runtime.memory_allocated() - before < 4 << 20)
ms.runtime.empty_cache()
""") == "True True True\n"


def test_any_device_can_be_chosen(program):
    code = START.replace('"Ascend"', '"Ascend", 3') + """
x = Tensor(np.ones(4, np.float32))
print((x + x).asnumpy().sum(), ms.device_context.ascend.device_count() if False else
      ms.get_context("device_id"))
"""
    assert program(code) == "8.0 3\n"


def test_a_device_that_is_not_there_is_named(program):
    printed = program(START.replace('"Ascend"', '"Ascend", 99') + """
print((Tensor(np.ones(4, np.float32)) + 1).asnumpy())
""", ok=False)
    assert "99" in printed and "Error" in printed


def test_seeds_repeat_random_numbers(program):
    assert program(START + """
def draw():
    ms.manual_seed(5)
    return mint.rand((3, 4)).asnumpy()
first, second = draw(), draw()
print((first == second).all(), first.min() >= 0, first.max() < 1)
""") == "True True True\n"
