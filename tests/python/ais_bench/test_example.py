# SPDX-License-Identifier: Apache-2.0
"""examples/ais_bench runs as its first lines say."""
import subprocess
import sys

from build_tree import ROOT


def test_the_example_names_the_shapes_and_every_way_gives_the_same_bytes():
    done = subprocess.run([sys.executable, f"{ROOT}/examples/ais_bench/classify.py"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(":") for line in done.stdout.splitlines() if ".jpg:" in line]
    assert len(rows) == 4 and all(name.split("_")[0] in answer for name, answer in rows), rows
    assert "one by one, pipeline and two devices: the same bytes" in done.stdout
