#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `anynpu check` costs: programs with and without it, in alternating pairs.

    bench/check_cost.py [--pairs 20]       run in the environment of a build (anynpu in the PATH)

Prints a table: the median of each, and the median ratio with its 95 % interval.
"""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

START = """
import sys, time
import numpy as np
import acl
acl.init(); acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
"""
PROGRAMS = {
    "2,000 small copies to the device and back": """
memory, _ = acl.rt.malloc(4096, 0)
host, _ = acl.rt.malloc_host(4096)
for _ in range(2000):
    acl.rt.memcpy(memory, 4096, host, 4096, 1)
    acl.rt.memcpy(host, 4096, memory, 4096, 2)
acl.rt.free(memory); acl.rt.free_host(host)
""",
    "500 queued copies of 64 KiB, each waited for": """
size = 65536
memory, _ = acl.rt.malloc(size, 0)
host, _ = acl.rt.malloc_host(size)
acl.rt.memset(memory, size, 1, size)
for _ in range(500):
    acl.rt.memcpy_async(host, size, memory, size, 2, stream)
    acl.rt.synchronize_stream(stream)
acl.rt.free(memory); acl.rt.free_host(host)
""",
    "1,000 allocations and their release": """
for _ in range(1000):
    memory, _ = acl.rt.malloc(65536, 0)
    acl.rt.memset(memory, 65536, 0, 65536)
    acl.rt.free(memory)
""",
    "100 copies and fills of 600 KB": """
size = 602112
memory, _ = acl.rt.malloc(size, 0)
image = np.ones(size, np.uint8)
for _ in range(100):
    acl.rt.memcpy(memory, size, acl.util.numpy_to_ptr(image), size, 1)
    acl.rt.memset_async(memory, size, 1, size, stream)
    acl.rt.synchronize_stream(stream)
acl.rt.free(memory)
""",
}
END = "\nacl.rt.destroy_stream(stream); acl.rt.reset_device(0); acl.finalize()\n"


def taken(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def interval(ratios):
    """The 95 % interval of the median, by resampling."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios)))
                     for _ in range(2000))
    return medians[50], medians[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20)
    pairs = parser.parse_args().pairs
    print("| program | plain s | checked s | ratio | 95 % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            path = os.path.join(folder, "app.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(START + text + END)
            plain, checked = [], []
            for _ in range(pairs):
                plain.append(taken([sys.executable, path]))
                checked.append(taken(["anynpu", "check", "--exit-code", "0", path]))
            ratios = [b / a for a, b in zip(plain, checked)]
            low, high = interval(ratios)
            print(f"| {name} | {statistics.median(plain):.2f} | {statistics.median(checked):.2f} | "
                  f"{statistics.median(ratios):.2f} | {low:.2f} to {high:.2f} |", flush=True)


if __name__ == "__main__":
    main()
