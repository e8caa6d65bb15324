# SPDX-License-Identifier: Apache-2.0
"""Counters of kernels; import hpe.profiler.api."""
