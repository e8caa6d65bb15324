# SPDX-License-Identifier: Apache-2.0
import functools
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def run_in(folder, code, timeout=300, arguments=(), ok=True, errors=False, **environment):
    """Runs a program in a process of its own (a back end is chosen once a process) and returns what
    it prints."""
    path = folder / "program.py"
    path.write_text(code)
    # As set_env.sh has it: MindSpore finds the profiler's files from where msprof lies.
    home = os.path.join(os.environ["ASCEND_HOME_PATH"], "bin")
    environment = {"PATH": home + os.pathsep + os.environ["PATH"], **environment}
    done = subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True,
                          timeout=timeout, cwd=folder, env={**os.environ, **environment})
    if ok:
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    else:
        assert done.returncode >= 0, f"ended by signal {-done.returncode}: {done.stderr[-3000:]}"
    return done.stdout + done.stderr if errors or not ok else done.stdout


@pytest.fixture
def program(tmp_path):
    return functools.partial(run_in, tmp_path)
