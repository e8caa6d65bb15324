# SPDX-License-Identifier: Apache-2.0
"""Runs a program with an environment of its own: for what is read once per process, for signals and
for forks."""
import os
import subprocess
import sys
import textwrap


def run(text, **env):
    """What a program prints, as words. It has to end by itself with code 0 and write no errors;
    lines about calls that fail (ANYNPU_ERRORS) are off."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True,
                          text=True, timeout=300,
                          env={**os.environ, "ANYNPU_ERRORS": "off", **env})
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr == "", done.stderr
    return done.stdout.split()
