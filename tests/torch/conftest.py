# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest
import torch

# The networks are small; threads that wait in loops slow a busy machine down.
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "training"))
sys.path.insert(0, os.path.join(HERE, "op_db"))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def program():
    """Runs a program in a process of its own and returns what it prints."""
    def run(code, timeout=300, arguments=(), ok=True, **environment):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True,
                              text=True, timeout=timeout, env={**os.environ, **environment})
        if ok:
            assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout if ok else done.stdout + done.stderr
    return run
