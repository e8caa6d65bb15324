# SPDX-License-Identifier: Apache-2.0
"""Operators of torch_npu's own (torch_npu.npu_...), as servers and trainers of language models call
them, against the same in double precision on the CPU."""
import math

import pytest
import torch
import torch_npu  # noqa: F401: the device


def close(got, want, tolerance=1e-5):
    torch.testing.assert_close(got.detach().cpu().double(), want.detach().double(), rtol=tolerance,
                               atol=tolerance)


def attend(q, k, v, scale, masked=None):
    groups = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(groups, 1) for x in (k, v))
    s = q.double() @ k.transpose(-1, -2) * scale
    if masked is not None:
        s = s.masked_fill(masked, -math.inf)
    return torch.softmax(s, -1) @ v


@pytest.fixture
def qkv():
    return torch.randn(2, 4, 5, 16).half(), torch.randn(2, 2, 7, 16).half(), torch.randn(2, 2, 7,
                                                                                         16).half()


HEADS = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD"}


def test_attention_of_prompts_and_steps(qkv):
    q, k, v = qkv
    given = [x.npu() for x in qkv]
    close(torch_npu.npu_prompt_flash_attention(*given, scale_value=0.25, **HEADS),
          attend(q, k, v, 0.25), 2e-3)
    y, log = torch_npu.npu_fused_infer_attention_score(*given, scale=0.25, softmax_lse_flag=True,
                                                       **HEADS)
    close(y, attend(q, k, v, 0.25), 2e-3)
    assert log.shape == (2, 4, 5, 1)
    last = q[:, :, :1]
    for length in (7, 3):
        y = torch_npu.npu_incre_flash_attention(last.npu(), *given[1:], scale_value=0.25,
                                                actual_seq_lengths=[length] * 2, **HEADS)
        close(y, attend(last, k[:, :, :length], v[:, :, :length], 0.25), 2e-3)


def test_a_cache_in_blocks(qkv):
    q, k, v = qkv
    pools, table = [torch.zeros(6, 4, 32).half() for _ in range(2)], torch.tensor([[0, 1], [3, 2]],
                                                                                  dtype=torch.int32)
    for pool, x in zip(pools, (k, v)):
        for b in range(2):
            for t in range(7):
                pool[table[b, t // 4], t % 4] = x[b, :, t].reshape(-1)
    y, _ = torch_npu.npu_fused_infer_attention_score(
        q[:, :, :1].reshape(2, 1, 64).npu(), *(p.npu() for p in pools), num_heads=4,
        num_key_value_heads=2,
        input_layout="BSH", scale=0.25, block_table=table.npu(), block_size=4,
        actual_seq_lengths_kv=[7, 6])
    hidden = torch.tensor([[False] * 7, [False] * 6 + [True]]).view(2, 1, 1, 7)
    close(y, attend(q[:, :, :1], k, v, 0.25, hidden).reshape(2, 1, 64), 2e-3)


def test_training_with_samples_behind_each_other():
    arrays = [torch.randn(9, 4, 16), torch.randn(12, 2, 16), torch.randn(12, 2, 16)]
    ours = [x.npu().requires_grad_() for x in arrays]
    y = torch_npu.npu_fusion_attention(*ours, 4, "TND", scale=0.25, actual_seq_qlen=[4, 9],
                                       actual_seq_kvlen=[5, 12])[0]
    y.square().sum().backward()
    theirs = [x.double().requires_grad_() for x in arrays]
    parts = [attend(*(x[a:b].transpose(0, 1)[None] for x, (a, b) in zip(theirs, spans)),
                    0.25)[0].transpose(0, 1)
             for spans in (((0, 4), (0, 5), (0, 5)), ((4, 9), (5, 12), (5, 12)))]
    want = torch.cat(parts)
    want.square().sum().backward()
    close(y, want)
    for a, b in zip(ours, theirs):
        close(a.grad, b.grad)


def test_experts():
    x, w = torch.randn(6, 8), torch.randn(8, 8, 5).half()
    y, experts, _ = torch_npu.npu_moe_gating_top_k(x.npu(), k=2, norm_type=1)
    top = torch.sigmoid(x).topk(2)
    close(y, top.values / top.values.sum(-1, keepdim=True))
    assert torch.equal(experts.cpu(), top.indices.int())
    sent, places = torch_npu.npu_moe_token_permute(x.half().npu(), experts)
    counts = torch.bincount(top.indices.flatten(), minlength=8)
    made = torch_npu.npu_grouped_matmul([sent], [w.npu()], group_list=counts.cumsum(0).npu(),
                                        split_item=3, group_type=0)[0]
    back = torch_npu.npu_moe_token_unpermute(made, places, probs=y.half())
    want = sum((x.half().double().unsqueeze(1) @ w.double()[top.indices[:, j]]).squeeze(1) *
               y.cpu().half().double()[:, j:j + 1] for j in range(2))
    close(back, want, 5e-3)


def test_quantised_products():
    a, b = torch.randint(-128, 128, (5, 32), dtype=torch.int8), torch.randint(-128, 128, (32, 16),
                                                                              dtype=torch.int8)
    scale = torch.rand(16) * 0.001
    want = (a.double() @ b.double()) * scale.double()
    close(torch_npu.npu_quant_matmul(a.npu(), b.npu(), scale.npu(), output_dtype=torch.float16),
          want, 2e-3)
    x = torch.randn(5, 32).half()
    close(torch_npu.npu_weight_quant_batchmatmul(x.npu(), b.npu(), scale.half().view(1, -1).npu()),
          x.double() @ (b.double() * scale.half().double()), 3e-3)
    q, s = torch_npu.npu_dynamic_quant(x.npu())
    close(q.cpu() * s.cpu().unsqueeze(-1), x.double(), 0.03)


@pytest.mark.parametrize("name", ["trunc", "frac", "ceil", "floor", "round"])
def test_rounding_of_lists(name):
    lists = [torch.randn(5) * 3 for _ in range(2)]
    function = getattr(torch, f"_foreach_{name}")
    for got, want in zip(function([a.npu() for a in lists]), function(lists)):
        assert torch.equal(got.cpu(), want)


def test_a_fused_step_of_sgd():
    start, steps = torch.randn(4, 4), []
    for device, options in (("cpu", {}), ("npu", {"fused": True})):
        p = torch.nn.Parameter(start.clone().to(device))
        optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01,
                                    **options)
        for _ in range(3):
            p.grad = p.detach() * 2 + 1
            optimizer.step()
        steps.append(p.detach().cpu())
    close(steps[1], steps[0])


def test_the_next_token():
    logits = torch.randn(2, 64)
    k, p = torch.tensor([3, 4], dtype=torch.int32), torch.tensor([1.0, 1.0])
    left = torch_npu.npu_top_k_top_p(logits.npu(), p.npu(), k.npu()).cpu()
    assert torch.isfinite(left).sum(-1).tolist() == [3, 4]
    token, _ = torch_npu.npu_top_k_top_p_sample(logits.half().npu(), k.npu(), p.half().npu())
    assert torch.equal(token.cpu(), logits.half().argmax(-1))
