# SPDX-License-Identifier: Apache-2.0
"""Benchmarks torch on the same GPU, as the baseline of the targets that are relative to it. Prints
JSON.

    tests/gpu/torch_peers.py

product_ms: matrix product of 8192 x 8192 x 8192 in bfloat16, one of ten back to back, because the
GPU lowers its clock under such a load. copy_gbs: copy of 1 GiB of pinned memory to the GPU.
resnet50_b*_ms: ResNet-50 in float16 with batch norm folded, cuDNN's fused convolutions and a CUDA
graph; _mib: the most memory it took. Needs torch and torchvision.
"""

import json

import torch
import torchvision
from torch.nn import functional

RUNS = 30
ROW = 10


def median_ms(work):
    for _ in range(5):
        work()
    times = []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[RUNS // 2]


def product_ms():
    a, b = (torch.rand(8192, 8192, device="cuda", dtype=torch.bfloat16) * 2 - 1 for _ in range(2))
    return median_ms(lambda: [torch.matmul(a, b) for _ in range(ROW)]) / ROW


def copy_gbs():
    host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
    gpu = torch.empty_like(host, device="cuda")
    return (1 << 30) / median_ms(lambda: gpu.copy_(host, non_blocking=True)) / 1e6


def folded(conv, norm):
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    weight = (conv.weight * scale[:, None, None,
                                  None]).half().contiguous(memory_format=torch.channels_last)
    return weight, (norm.bias - norm.running_mean * scale).half(), conv.stride, conv.padding


def resnet50():
    """The network as a function of channels-last images."""
    net = torchvision.models.resnet50(weights=None).eval().cuda()
    stem = folded(net.conv1, net.bn1)
    blocks = [(folded(b.conv1, b.bn1), folded(b.conv2, b.bn2), folded(b.conv3, b.bn3),
               folded(b.downsample[0], b.downsample[1]) if b.downsample else None)
              for layer in (net.layer1, net.layer2, net.layer3, net.layer4) for b in layer]
    weight, bias = net.fc.weight.half(), net.fc.bias.half()

    def relu(x, p):
        return torch.cudnn_convolution_relu(x, p[0], p[1], p[2], p[3], [1, 1], 1)

    def run(x):
        x = functional.max_pool2d(relu(x, stem), 3, 2, 1)
        for first, second, third, down in blocks:
            z = x if down is None else functional.conv2d(x, *down)
            x = torch.cudnn_convolution_add_relu(relu(relu(x, first), second), third[0], z, 1.0,
                                                 third[1], third[2], third[3], [1, 1], 1)
        return functional.linear(x.mean((2, 3)), weight, bias)

    return run


def graph_ms(run, batch):
    x = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half).contiguous(
        memory_format=torch.channels_last)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            run(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run(x)
    return median_ms(graph.replay)


def main():
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        found = {"product_ms": product_ms(), "copy_gbs": copy_gbs()}
        run = resnet50()
        for batch in (1, 32, 128):
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            found[f"resnet50_b{batch}_ms"] = graph_ms(run, batch)
            found[f"resnet50_b{batch}_mib"] = torch.cuda.max_memory_allocated() / 2 ** 20
    print(json.dumps(found))


if __name__ == "__main__":
    main()
