# SPDX-License-Identifier: Apache-2.0
"""The generated tables of docs/ are those of this tree; `make doc-pages` writes them anew."""
import re
import subprocess

import pytest
from build_tree import BUILD, ROOT


def page(name):
    with open(f"{ROOT}/{name}", encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("command, name", [("support", "ops.md"), ("names", "operator_names.md")])
def test_the_tables_of_operators_are_up_to_date(command, name):
    done = subprocess.run([f"{BUILD}/tools/benchop/benchop", command], capture_output=True,
                          text=True, timeout=300, check=True)
    assert page(f"docs/{name}") == done.stdout, "run make doc-pages"


def test_the_page_of_features_states_the_score_of_its_page():
    cases, passed = re.search(r"^\| all \| (\d+) \| (\d+) \|", page("docs/onnx_score.md"),
                              re.MULTILINE).groups()
    said = re.search(r"\(([\d,]+) of the ([\d,]+) cases of the onnx package",
                     page("docs/features.md"))
    assert [number.replace(",", "") for number in said.groups()] == [passed, cases]


def test_the_score_is_that_of_the_pinned_package():
    pinned = re.search(r"^onnx==(\S+)", page("requirements.txt"), re.MULTILINE)[1]
    assert f"those of the onnx package {pinned} " in page("docs/onnx_score.md")
