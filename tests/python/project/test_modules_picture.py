# SPDX-License-Identifier: Apache-2.0
"""docs/modules.svg shows this tree (tools/draw_modules.py), and an old picture is noticed."""
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from build_tree import ROOT

TOOL = os.path.join(ROOT, "tools", "draw_modules.py")
sys.path.insert(0, os.path.dirname(TOOL))
import draw_modules  # noqa: E402


def test_the_picture_is_of_this_tree():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def make_tree(folder, files):
    (folder / "src").mkdir()
    (folder / "src" / "modules.tsv").write_text(
        "folder\ttarget\texclude\tholds\nlow\tcore\t\tthe lowest\nmiddle\tcore\t\tx < y\n"
        "api/high\tdoor\t\tentry points\n")
    for name, text in files.items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return draw_modules.measure(str(folder))


FILES = {
    "low/a.h": "int a;\n", "low/a_test.cpp": '#include "middle/b.h"\n\n',
    "middle/b.h": '#include "low/a.h"\n',
    "api/high/c.cpp": '#include "low/a.h"\n#include "middle/b.h"\n#include "api/high/c.h"\n',
}


def test_sizes_and_arrows_are_those_of_the_files(tmp_path):
    modules = make_tree(tmp_path, FILES)
    assert [(m.folder, m.lines, m.test_lines) for m in modules.values()] == [
        ("low", 1, 2), ("middle", 1, 0), ("api/high", 3, 0)]
    assert draw_modules.arrows(modules) == [("middle", "low"), ("api/high", "middle")]
    picture = ElementTree.fromstring(draw_modules.draw(modules))  # well-formed
    assert len(picture.findall(".//{*}title")) == 3
    assert draw_modules.differences(draw_modules.draw(modules), modules) == []


@pytest.mark.parametrize("change, says", [
    ({"middle/b.h": "int b;\n"}, "arrow api/high -> low"),
    ({"low/a.h": "int a;\n" * 500}, "low has 500 lines, drawn are 1"),
    ({"low/a_test.cpp": "\n" * 500}, "low has 500 lines of tests, drawn are 2"),
])
def test_an_old_picture_is_noticed(tmp_path, change, says):
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    picture = draw_modules.draw(make_tree(tmp_path / "old", FILES))
    found = draw_modules.differences(picture, make_tree(tmp_path / "new", {**FILES, **change}))
    assert any(line.startswith(says) for line in found), found
