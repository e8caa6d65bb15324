# SPDX-License-Identifier: Apache-2.0
"""One of two ranks that all_reduce through gloo; lines as in rank.c. Arguments: rank, port."""
import sys
import time

import torch
import torch.distributed as dist

rank, port = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
arrays = {}
for line in sys.stdin:
    size, times = map(int, line.split())
    if size not in arrays:
        arrays[size] = torch.zeros(size // 4)
    data = arrays[size]
    dist.barrier()
    start = time.perf_counter()
    for _ in range(times):
        dist.all_reduce(data)
    print((time.perf_counter() - start) / times, flush=True)
