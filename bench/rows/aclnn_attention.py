# SPDX-License-Identifier: Apache-2.0
"""One step of a decoder by aclnnFusedInferAttentionScoreV3 over a cache in blocks, against a copy
of as many bytes as the cache has: reading keys and values is the work. And a prompt, against
numpy's products of the same size in float32."""

import ctypes
import os
import sys
import time

import numpy as np
from harness import ratio_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

HEADS, KV_HEADS, SIZE, TOKENS, BLOCK = 32, 8, 128, 8192, 128
ROWS = 1024


class Attention:
    """One executor that is run again and again."""

    def __init__(self, nn, arguments):
        self.nn = nn
        self.size, self.executor = nn.prepare("aclnnFusedInferAttentionScoreV3", *arguments)
        nn.check("aclSetAclOpExecutorRepeatable",
                 nn.base.aclSetAclOpExecutorRepeatable(self.executor))
        self.work = ctypes.c_void_p(nn.malloc(self.size)) if self.size else None

    def __call__(self):
        nn = self.nn
        begin = time.perf_counter()
        nn.check("run", nn.ops.aclnnFusedInferAttentionScoreV3(self.work,
                                                               ctypes.c_uint64(self.size),
                                                               self.executor, nn.stream))
        nn.synchronize()
        return time.perf_counter() - begin


def arguments(nn, q, k, v, table, lengths, layout, kv_heads, block, mode):
    out = nn.empty(q.dtype, q.shape)
    return [nn.tensor(q), nn.tensors([nn.tensor(k)]), nn.tensors([nn.tensor(v)]), None, None, None,
            lengths,
            *[None] * 7, table, *[None] * 12, HEADS, SIZE ** -0.5, 2147483647, 0, layout, kv_heads,
            mode, 0, block, 0, False, 0, 0, out, nn.empty(np.float32, (1,))]


def rows(report):
    from aclnn import Session
    rng = np.random.default_rng(1)
    with Session() as nn:
        blocks = TOKENS // BLOCK
        k, v = (rng.standard_normal((blocks, BLOCK,
                                     KV_HEADS * SIZE)).astype(np.float16) for _ in range(2))
        q = rng.standard_normal((1, 1, HEADS * SIZE)).astype(np.float16)
        table = nn.tensor(rng.permutation(blocks).astype(np.int32).reshape(1, blocks))
        step = Attention(nn, arguments(nn, q, k, v, table, [TOKENS], "BSH", KV_HEADS, BLOCK, 0))
        bytes_ = np.concatenate([k, v]).view(np.uint8).ravel()
        to = np.empty_like(bytes_)

        def copy():
            begin = time.perf_counter()
            np.copyto(to, bytes_)
            return time.perf_counter() - begin
        step()
        ratio = ratio_of(step, copy)
        report.add(f"a decoder's step over {TOKENS} tokens ({bytes_.nbytes >> 20} MiB of cache): "
                   "time over a copy of it",
                   2.0, "x", ratio,
                   f"{HEADS} heads, {KV_HEADS} of keys, float16, blocks of {BLOCK}")
        q, k, v = (rng.standard_normal((1, HEADS, ROWS, SIZE)).astype(np.float32) for _ in range(3))
        prompt = Attention(nn, arguments(nn, q, k, v, None, None, "BNSD", HEADS, 0, 0))

        def products():
            begin = time.perf_counter()
            np.matmul(np.matmul(q, k.swapaxes(-1, -2)), v)
            return time.perf_counter() - begin
        prompt()
        report.add(f"attention of {ROWS} rows and keys, float32: time over numpy's two products",
                   1.0, "x", ratio_of(prompt, products, 11), f"{HEADS} heads of {SIZE}")
