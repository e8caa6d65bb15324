# SPDX-License-Identifier: Apache-2.0
"""Habits of training programs: saving, checkpointing, loaders, graphs, random numbers."""
import io

import networks
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def test_a_model_is_saved_on_the_device_and_loaded_anywhere(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)).npu()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(5, 4, device="npu")).sum().backward()
    optimizer.step()
    path = tmp_path / "model.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    for place in ("cpu", "npu"):
        state = torch.load(path, map_location=place)
        assert state["model"]["0.weight"].device.type == place
        assert torch.equal(state["model"]["0.weight"].cpu(), model[0].weight.detach().cpu())
    buffer = io.BytesIO()
    torch.save(torch.arange(5, device="npu"), buffer)
    buffer.seek(0)
    assert torch.load(buffer).device.type == "npu"


def test_checkpointing_gives_the_same_gradients():
    layer = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16)).npu()
    x = torch.randn(3, 16, device="npu", requires_grad=True)
    layer(x).sum().backward()
    expected = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    for parameter, gradient in zip(layer.parameters(), expected):
        torch.testing.assert_close(parameter.grad, gradient)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((3,), float(index)), index * index


def test_a_loader_with_workers_and_pinned_memory_feeds_the_device():
    loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2, pin_memory=True)
    total = torch.zeros((), device="npu")
    for x, y in loader:
        assert x.is_pinned()
        x, y = x.npu(non_blocking=True), y.npu(non_blocking=True)
        total += (x[:, 0] * x[:, 1] - y).abs().sum() + x.sum()
    assert total.item() == 3 * sum(range(64))


def test_the_generator_of_the_device_is_seeded_saved_and_restored():
    torch.npu.manual_seed(7)
    state = torch.npu.get_rng_state()
    a = torch.rand(1000, device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(torch.rand(1000, device="npu"), a)
    assert not torch.equal(torch.rand(1000, device="npu"), a)
    assert 0 <= a.min() and a.max() < 1 and abs(a.mean().item() - 0.5) < 0.05
    x = torch.randn(20000, device="npu")
    assert abs(x.mean().item()) < 0.05 and abs(x.std().item() - 1) < 0.05


def test_dropout_keeps_the_mean_and_its_gradient_has_the_same_zeros():
    x = torch.ones(10000, device="npu", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    assert torch.equal(y != 0, x.grad != 0)
    assert abs((y != 0).float().mean().item() - 0.75) < 0.03
    assert torch.allclose(y[y != 0].cpu(), torch.tensor(1 / 0.75))


def test_a_graph_is_captured_and_replayed():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).npu().eval()
    x = torch.randn(5, 8, device="npu")
    with torch.no_grad():
        model(x)
        torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = model(x)
        for _ in range(3):
            fresh = torch.randn(5, 8, device="npu")
            x.copy_(fresh)
            graph.replay()
            torch.npu.synchronize()
            torch.testing.assert_close(y, model(fresh), rtol=1e-4, atol=1e-5)


def test_a_network_computes_the_same_in_evaluation():
    torch.manual_seed(0)
    model, data = networks.NETWORKS["resnet50"]()
    batch = data(torch.Generator().manual_seed(0))
    model.eval()
    expected = model(*batch).item()
    assert abs(model.npu()(*[t.npu() for t in batch]).item() - expected) < 1e-4


def test_an_lstm_computes_the_same_in_evaluation():
    torch.manual_seed(0)
    model, data = networks.NETWORKS["lstm"]()
    batch = data(torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = model.eval()(*batch).item()
        assert abs(model.npu()(*[t.npu() for t in batch]).item() - expected) < 1e-4


def test_deterministic_mode_and_anomaly_mode_work():
    torch.use_deterministic_algorithms(True)
    try:
        with torch.autograd.detect_anomaly(check_nan=True):
            x = torch.randn(4, 4, device="npu", requires_grad=True)
            (x @ x).relu().sum().backward()
        assert x.grad.isfinite().all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_recurrent_layers_learn_in_all_their_forms():
    x = torch.randn(7, 3, 6)
    for layer in (nn.LSTM(6, 5), nn.LSTM(6, 5, num_layers=2), nn.LSTM(6, 5, bidirectional=True),
                  nn.LSTM(6, 5, bias=False), nn.GRU(6, 5),
                  nn.GRU(6, 5, num_layers=2, bidirectional=True)):
        layer(x)[0].square().sum().backward()
        expected = [p.grad.clone() for p in layer.parameters()]
        layer.zero_grad()
        layer.npu()(x.npu())[0].square().sum().backward()
        for parameter, gradient in zip(layer.parameters(), expected):
            torch.testing.assert_close(parameter.grad.cpu(), gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make,steps", [(nn.LSTMCell, 4), (nn.GRUCell, 4), (nn.LSTMCell, 1)])
def test_cells_of_recurrent_networks_learn(make, steps):
    torch.manual_seed(3)
    cell, x = make(6, 5), torch.randn(steps, 3, 6)

    def gradients(cell, x):
        state, total = None, 0
        for at in x:
            state = cell(at, state)
            total = total + (state[0] if make is nn.LSTMCell else state).square().sum()
        cell.zero_grad()
        total.backward()
        return [p.grad.cpu() for p in cell.parameters()]
    expected = [g.clone() for g in gradients(cell, x)]
    for got, want in zip(gradients(cell.npu(), x.npu()), expected):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
