# SPDX-License-Identifier: Apache-2.0
"""HCCL's Python side as frameworks look for it: its version. The operations are in libhccl.so."""
