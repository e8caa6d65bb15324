# SPDX-License-Identifier: Apache-2.0
"""The table of blocks in docs/ is the one that the marks in these tests give."""
import ast
import os
import subprocess
import sys

from build_tree import ROOT


def test_the_table_of_blocks_is_up_to_date():
    tool = os.path.join(ROOT, "tools", "gen_guide_blocks.py")
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr


def test_every_test_of_the_guide_names_its_block():
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in os.listdir(folder):
        if not name.startswith("test_") or name == os.path.basename(__file__):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for node in ast.parse(file.read()).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    assert any("block(" in ast.unparse(d) for d in node.decorator_list), node.name
