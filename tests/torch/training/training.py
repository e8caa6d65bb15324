# SPDX-License-Identifier: Apache-2.0
"""Trains a network for some steps and returns its losses; the same on every device."""
import networks
import torch

# Small steps: with large ones the first steps of a ResNet are chaotic, on the CPU with two numbers
# of threads as well.
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, weight_decay=1e-4, foreach=False),
    "sgd_foreach": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, weight_decay=1e-4,
                                             foreach=True),
    "sgd_fused": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-4, foreach=False),
    "adamw_foreach": lambda p: torch.optim.AdamW(p, lr=1e-4, foreach=True),
    "adamw_fused": lambda p: torch.optim.AdamW(p, lr=1e-4, fused=True),
}


def train(network, device, optimizer, steps=20, autocast=None, clip=None):
    """The losses. `autocast`: None, torch.float16 (with a GradScaler) or torch.bfloat16."""
    torch.manual_seed(0)
    model, data = networks.NETWORKS[network]()
    model = model.to(device).train()
    updates = OPTIMIZERS[optimizer](model.parameters())
    scaler = torch.amp.GradScaler(device, enabled=autocast is torch.float16, init_scale=1024.0)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(steps):
        batch = [tensor.to(device) for tensor in data(generator)]
        updates.zero_grad()
        with torch.autocast(device, dtype=autocast, enabled=autocast is not None):
            loss = model(*batch)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(updates)
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        scaler.step(updates)
        scaler.update()
        losses.append(loss.item())
    return losses
