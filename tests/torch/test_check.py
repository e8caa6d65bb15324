# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""anynpu check on programs of torch_npu: its allocator's blocks are no leaks, the program's mistakes are found."""
import json
import os
import subprocess
import sys

TRAINS = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).npu()
optimizer = torch.optim.AdamW(model.parameters())
kept = torch.ones(1 << 20, device="npu")
stream = torch.npu.Stream()
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(5, 8, device="npu")).sum().backward()
    optimizer.step()
with torch.npu.stream(stream):
    kept += 1
torch.npu.synchronize()
print(kept[0].item())
"""
LEAKS = TRAINS + """
import acl
pointer, code = acl.rt.malloc(4096, 0)
"""


def findings(tmp_path, code):
    program = tmp_path / "program.py"
    program.write_text(code)
    report = tmp_path / "report.json"
    anynpu = os.path.join(os.environ["ASCEND_HOME_PATH"], "bin", "anynpu")
    done = subprocess.run([anynpu, "check", "--json", "-o", str(report), sys.executable, str(program)],
                          capture_output=True, text=True, timeout=300)
    assert "2.0" in done.stdout, done.stdout + done.stderr
    return json.loads(report.read_text())["findings"]


def test_a_training_program_has_no_findings(tmp_path):
    assert findings(tmp_path, TRAINS) == []


def test_a_leak_of_the_program_itself_is_found(tmp_path):
    found = findings(tmp_path, LEAKS)
    assert [f["kind"] for f in found] == ["leak-device-memory"]
    assert found[0]["places"][0]["frames"][0]["file"].endswith("program.py")
