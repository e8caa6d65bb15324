# SPDX-License-Identifier: Apache-2.0
"""What torch_npu does only with a chip of the 950 family: recurrent layers without the older
operators, 8-bit floats, blocks that share a power of two. Shapes are those torch_npu allocates."""
CHIP = {"ANYNPU_SOC": "Ascend950PR_9599", "ASCEND_LAUNCH_BLOCKING": "1"}

RECURRENT = """
import torch
from torch import nn
torch.manual_seed(3)
x = torch.randn(7, 3, 6)
for layer in (nn.LSTM(6, 5), nn.LSTM(6, 5, bidirectional=True), nn.LSTM(6, 5, num_layers=2),
              nn.GRU(6, 5), nn.GRU(6, 5, num_layers=2, bidirectional=True)):
    layer(x)[0].square().sum().backward()
    expected = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer.npu()(x.npu())[0].square().sum().backward()
    for parameter, gradient in zip(layer.parameters(), expected):
        torch.testing.assert_close(parameter.grad.cpu(), gradient, rtol=1e-4, atol=1e-5)
print("same")
"""

BLOCKS = """
import torch, torch_npu
torch.manual_seed(0)
x = torch.randn(4, 128, dtype=torch.bfloat16)
e4m3 = torch.float8_e4m3fn
y, scale = torch_npu.npu_dynamic_mx_quant(x.npu(), dst_type=e4m3)
assert scale.shape == (4, 2, 2)
blocks = x.float().reshape(4, 4, 32)
exponent = torch.floor(torch.log2(blocks.abs().amax(-1))) - 8
assert torch.equal(scale.cpu().reshape(4, 4).int() - 127, exponent.int())
want = (blocks / 2 ** exponent[..., None]).clamp(-448, 448).to(e4m3).reshape(4, 128)
assert torch.equal(y.cpu().float(), want.float())
_, down = torch_npu.npu_dynamic_mx_quant(torch.randn(70, 8, dtype=torch.bfloat16).npu(), axis=0,
                                         dst_type=e4m3)
assert down.shape == (2, 8, 2)
_, grouped = torch_npu.npu_grouped_dynamic_mx_quant(
    torch.randn(128, 64, dtype=torch.bfloat16).npu(),
    torch.tensor([64, 128], dtype=torch.int32).npu(), dst_type=e4m3)
assert grouped.shape == (4, 64, 2)
y, scale = torch_npu.npu_dynamic_block_quant(x.npu(), dst_type=e4m3)
assert scale.shape == (4, 1)
torch.testing.assert_close(y.cpu().float() * scale.cpu(), x.float(), rtol=0.07, atol=1e-2)
print("same")
"""


def test_recurrent_layers_learn(program):
    assert program(RECURRENT, **CHIP).split()[-1] == "same"


def test_blocks_share_a_power_of_two(program):
    assert program(BLOCKS, **CHIP).split()[-1] == "same"
