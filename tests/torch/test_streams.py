# SPDX-License-Identifier: Apache-2.0
"""Streams and events of torch.npu, and torch_npu's own queue in front of them."""
import pytest
import torch


def test_work_on_another_stream_is_seen_after_waiting():
    x = torch.ones(1 << 16, device="npu")
    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream
        y = x * 2
        y += 1
    torch.npu.current_stream().wait_stream(stream)
    assert (y.sum() / y.numel()).item() == 3


def test_events_order_streams_and_measure():
    a, b = torch.npu.Stream(), torch.npu.Stream()
    begin, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    x = torch.zeros(1 << 14, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(a):
        begin.record()
        for _ in range(10):
            x += 1
        end.record()
    with torch.npu.stream(b):
        b.wait_event(end)
        y = x + 1
    end.synchronize()
    assert end.query()
    assert begin.elapsed_time(end) >= 0
    b.synchronize()
    assert y[0].item() == 11


def test_a_tensor_can_be_recorded_on_a_stream():
    stream = torch.npu.Stream()
    x = torch.ones(1000, device="npu")
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x + 1
    x.record_stream(stream)
    del x
    stream.synchronize()
    assert y.sum().item() == 2000


def test_many_streams():
    streams = [torch.npu.Stream() for _ in range(40)]
    results = []
    x = torch.ones(100, device="npu")
    torch.npu.synchronize()
    for number, stream in enumerate(streams):
        with torch.npu.stream(stream):
            results.append(x * number)
    torch.npu.synchronize()
    assert [int(r[0].item()) for r in results] == list(range(40))


PROGRAM = """
import torch
torch.manual_seed(0)
a, b = torch.randn(32, 16), torch.randn(16, 8)
x, y = a.npu().requires_grad_(), b.npu()
loss = torch.relu(x @ y).sum()
loss.backward()
c = a.clone().requires_grad_()
torch.relu(c @ b).sum().backward()
torch.testing.assert_close(x.grad.cpu(), c.grad, rtol=1e-4, atol=1e-5)
print("same")
"""


@pytest.mark.parametrize("setting", [{"TASK_QUEUE_ENABLE": "0"}, {"TASK_QUEUE_ENABLE": "1"},
                                     {"TASK_QUEUE_ENABLE": "2"}, {"ASCEND_LAUNCH_BLOCKING": "1"},
                                     {"PER_STREAM_QUEUE": "1"}, {"ACL_OP_INIT_MODE": "1"},
                                     {"ANYNPU_SOC": "Ascend950PR_9599"}],
                         ids=lambda s: "=".join(*s.items()))
def test_switches_of_the_queue(program, setting):
    assert program(PROGRAM, **setting).split()[-1] == "same"


def test_wrong_shapes_are_errors_and_the_process_goes_on():
    x = torch.ones(2, 3, device="npu")
    with pytest.raises(RuntimeError):
        x @ torch.ones(4, 5, device="npu")
    with pytest.raises(RuntimeError):
        x + torch.ones(4, device="npu")
    with pytest.raises(RuntimeError):
        x + torch.ones(2, 3)
    assert (x + 1).sum().item() == 12
