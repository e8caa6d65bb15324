# SPDX-License-Identifier: Apache-2.0
"""Inference of .om models: the API in ais_bench.infer.interface, the benchmark in `python3 -m
ais_bench`."""

__version__ = "0.0.2"
