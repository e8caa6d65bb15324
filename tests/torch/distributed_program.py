# SPDX-License-Identifier: Apache-2.0
"""One process of a group, started by test_distributed.py: prints its results as a line of JSON."""
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS, BATCH = 5, 8


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))


def train(rank, size, device):
    """Losses over the joint batch, each process with its share of it."""
    net = model().to(device)
    if size > 1:
        net = DistributedDataParallel(net, device_ids=[device.index])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(STEPS):
        x, y = (torch.randn(BATCH, n, generator=generator) for n in (6, 3))
        share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        loss = nn.functional.mse_loss(net(x[share].to(device)), y[share].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    losses = torch.stack(losses)
    if size > 1:
        dist.all_reduce(losses)
    return (losses / size).tolist()


def collectives(rank, size, device):
    found = {}
    x = torch.full((5,), float(rank + 1), device=device)
    dist.all_reduce(x)
    found["sum"] = x.tolist()
    x = torch.full((3,), float(rank + 1), device=device)
    dist.all_reduce(x, dist.ReduceOp.MAX)
    found["max"] = x.tolist()
    x = torch.full((2,), rank, device=device, dtype=torch.int64)
    dist.broadcast(x, size - 1)
    found["broadcast"] = x.tolist()
    parts = [torch.zeros(2, device=device) for _ in range(size)]
    dist.all_gather(parts, torch.full((2,), float(rank), device=device))
    found["gather"] = torch.cat(parts).tolist()
    out = torch.zeros(2, device=device)
    dist.reduce_scatter_tensor(out, torch.arange(2. * size, device=device))
    found["reduce_scatter"] = out.tolist()
    out = torch.zeros(size, device=device)
    dist.all_to_all_single(out, torch.arange(float(size), device=device) + 10 * rank)
    found["all_to_all"] = out.tolist()
    if rank == 0:
        dist.send(torch.arange(4., device=device), 1)
    elif rank == 1:
        x = torch.zeros(4, device=device)
        dist.recv(x, 0)
        found["received"] = x.tolist()
    dist.barrier()
    return found


def main():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("npu", rank)
    torch.npu.set_device(device)
    results = {"rank": rank}
    if size > 1:
        dist.init_process_group("hccl")
        results["collectives"] = collectives(rank, size, device)
    results["losses"] = train(rank, size, device)
    if size > 1:
        dist.destroy_process_group()
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
