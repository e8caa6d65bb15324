# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


@pytest.fixture
def program(tmp_path):
    """Runs a program in a process of its own (a back end is chosen once a process) and returns what
    it prints."""
    def run(code, timeout=300, arguments=(), ok=True, errors=False, **environment):
        path = tmp_path / "program.py"
        path.write_text(code)
        # As set_env.sh has it: MindSpore finds the profiler's files from where msprof lies.
        home = os.path.join(os.environ["ASCEND_HOME_PATH"], "bin")
        environment = {"PATH": home + os.pathsep + os.environ["PATH"], **environment}
        done = subprocess.run([sys.executable, str(path), *arguments], capture_output=True,
                              text=True,
                              timeout=timeout, cwd=tmp_path, env={**os.environ, **environment})
        if ok:
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        else:
            assert done.returncode >= 0, (
                f"ended by signal {-done.returncode}: {done.stderr[-3000:]}")
        return done.stdout + done.stderr if errors or not ok else done.stdout
    return run
